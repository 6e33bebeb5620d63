// Made by scripts/web_types.py from unspool.jobs.view.pages. Do not edit.

export interface CacheMiss {
  reason: string;
  tokens?: number | null;
}

export interface CacheReport {
  state: "first" | "hit" | "missed" | "off" | "unknown";
  words: string[];
  expected?: number;
  read?: number;
  missed?: number;
  cost?: number | null;
  provider?: CacheMiss | null;
  lifetimes?: number[];
  before?: string;
  after?: string;
}

export interface Call {
  name: string;
  id: string | null;
  kind: "agent" | "ask" | "execute" | "file_delete" | "file_edit" | "file_move" | "file_read" | "file_write" | "generic" | "mcp" | "plan" | "search" | "web";
  does: string;
  arguments: string;
  diff?: string;
  path?: string | null;
  added?: number | null;
  removed?: number | null;
  cut?: number;
}

export interface Card {
  kind: string;
  key: string;
  depth?: number;
  text?: string;
  cut?: number;
  lines?: number;
  level?: string;
  call?: Call | null;
  result?: string | null;
  result_cut?: number;
  result_lines?: number;
  failed?: boolean;
  open?: boolean;
  seconds?: number | null;
  time?: number | null;
  request?: string | null;
  count?: number;
  message?: string | null;
  pictures?: boolean;
  place?: string | null;
}

export interface Cost {
  input?: number;
  cache_read?: number;
  cache_write?: number;
  output?: number;
}

export interface Found {
  hits: Hit[];
  more?: boolean;
}

export interface Graph {
  version: number;
  total: number;
  start: number;
  rows: GraphRow[];
  notes?: Note[];
  note_count?: number;
  uncached?: string[];
}

export interface GraphRow {
  id: string;
  title: string;
  kind: "answer" | "empty" | "error" | "prompt" | "tools";
  root: number;
  parent?: number | null;
  reason?: "agent" | "compaction" | "continues" | "edit" | "retry" | "switch" | null;
  label?: string;
  call?: string | null;
  retry_of?: number | null;
  does?: string;
  model?: string | null;
  agent?: string | null;
  time?: number | null;
  duration?: number | null;
  usage?: Usage | null;
  cost?: number | null;
  estimated?: boolean;
  uncounted?: boolean;
  added?: number | null;
  missed?: number;
  tools?: string[];
  failed?: boolean;
  error?: string | null;
  stop?: string | null;
  messages?: number;
}

export interface Grown {
  reel: string;
  version: number;
  kept: number;
  total: number;
}

export interface Hit {
  reel: string;
  where: string;
  before: string;
  match: string;
  after: string;
  title?: string;
  request?: string | null;
  time?: number | null;
}

export interface Home {
  reels: ReelRow[];
  version: string;
  live: boolean;
  redacted?: Record<string, number> | null;
}

export interface MessageCard {
  id: string;
  role: string;
  text?: string;
  cut?: number;
  lines?: number;
  calls?: Call[];
  answers?: string | null;
  is_error?: boolean | null;
  pictures?: boolean;
  aside?: boolean;
}

export interface Note {
  kind: "internal" | "odd" | "repaired" | "skipped" | "unknown" | "unreadable";
  reason: string;
  origin: Origin;
}

export interface Origin {
  file: string;
  line: number;
  offset: number;
  size: number;
}

export interface Original {
  settings: string;
  raw: string;
  curl: string;
  size: number;
  cut?: number;
}

export interface Picture {
  medium: string;
  media_type: string | null;
  data: string | null;
  name: string;
}

export interface ReelRow {
  id: string;
  kind: "session" | "thread" | "trace";
  name: string;
  agent?: string | null;
  project?: string | null;
  start?: number | null;
  end?: number | null;
  model?: string | null;
  requests?: number | null;
  turns?: number;
  tools?: number;
  usage?: Usage;
  cost?: number | null;
  priced?: boolean;
  estimated?: boolean;
  size?: number;
  session?: string | null;
  at?: string | null;
}

export interface RequestPage {
  id: string;
  number: number;
  messages: string[];
  answer: string[];
  tools: string[];
  alternatives?: string[][];
  children?: number[];
  format?: string;
  status?: number | null;
  stream?: boolean;
  interrupted?: boolean;
  stop_reason?: string | null;
  raw_stop_reason?: string | null;
  response_id?: string | null;
  response_model?: string | null;
  usage?: Usage | null;
  cost?: Cost | null;
  first_byte?: number | null;
  error?: unknown;
  origin?: Origin | null;
  notes?: Note[];
  event?: string | null;
}

export interface ToolPage {
  id: string;
  name: string;
  description: string;
  parameters: string;
  is_server_side?: boolean;
}

export interface Transcript {
  version: number;
  total: number;
  start: number;
  cards: Card[];
  turns?: TurnRow[];
  agents?: [number, number][];
  asides?: [number, number][];
  errors?: number[];
  found?: number | null;
}

export interface TurnRow {
  at: number;
  prompt: string;
  outcome?: string;
  tools?: Record<string, number>;
  failed?: number;
  usage?: Usage;
  cost?: number | null;
  priced?: boolean;
  estimated?: boolean;
  time?: number | null;
}

export interface Usage {
  input?: number;
  cache_read?: number;
  cache_write?: number;
  output?: number;
  reasoning?: number;
  cache_write_1h?: number;
  input_audio?: number;
  output_audio?: number;
  raw?: Record<string, unknown> | null;
}
