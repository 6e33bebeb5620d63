// The data of a page that `unspool export html` wrote: inside the page, or in files beside it.
import type {
  CacheReport,
  Card,
  Found,
  Graph,
  Hit,
  Home,
  MessageCard,
  Original,
  Picture,
  ReelRow,
  RequestPage,
  ToolPage,
  Transcript,
} from "../types.gen";
import { candidates, type Index } from "./index";
import type { Place, Store } from "./store";

export interface Kept {
  graph: Graph;
  requests: Record<string, RequestPage & { base?: string | null; keep?: [number, number][] }>;
  messages: Record<string, MessageCard>;
  tools: Record<string, ToolPage>;
  cache: Record<string, CacheReport>;
  transcripts: Record<string, { cards: Card[]; turns: Transcript["turns"] }>;
  pictures: Record<string, Picture[]>;
  originals: Record<string, KeptOriginal>;
}

/** What is new, and the pieces of another's that the rest is put together from; (n, 0) stands for the n-th new one. */
interface Pieces {
  new: string[];
  keep: [number, number][];
}

interface KeptOriginal {
  settings: string;
  raw: Pieces;
  curl: Pieces;
  size: number;
  cut?: number;
  base?: string | null;
}

declare global {
  interface Window {
    unspoolReel?: (id: string, data: string) => void;
  }
}

const AROUND = 60;
const MOST = 100;

async function unpacked<T>(base64: string): Promise<T> {
  const bytes = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as T;
}

export class PageStore implements Store {
  private reels = new Map<string, Promise<Kept>>();
  private waiting = new Map<string, (data: string) => void>(); // for files beside the page

  private constructor(
    private document: Document,
    private packed: string,
  ) {}

  static inside(document: Document): PageStore | null {
    const data = document.getElementById("unspool-home")?.textContent;
    return data ? new PageStore(document, data) : null;
  }
  private list: Promise<Home> | undefined;
  home = (): Promise<Home> => (this.list ??= unpacked<Home>(this.packed));

  private reel(id: string): Promise<Kept> {
    let kept = this.reels.get(id);
    if (!kept) {
      const inside = this.document.getElementById(`unspool-reel-${id}`)?.textContent;
      kept = (inside ? Promise.resolve(inside) : this.fetched(id)).then((data) => unpacked<Kept>(data));
      this.reels.set(id, kept);
    }
    return kept;
  }
  private index: Promise<Index> | undefined;
  /** Where something may be found: null for everywhere. */
  private async places(words: string): Promise<Set<string> | null> {
    if (this.document.querySelector("[id^=unspool-reel-]")) return null; // all data is in the page
    this.index ??= this.fetched("search").then((data) => unpacked<Index>(data));
    return candidates(await this.index, words);
  }
  /** A script, because a page from disk may load no other file. */
  private fetched(id: string): Promise<string> {
    if (!/^(?:[0-9a-f]+|search)$/.test(id)) return Promise.reject(new Error("no such session in this page"));
    return new Promise((resolve, reject) => {
      this.waiting.set(id, resolve);
      window.unspoolReel = (name, data) => this.waiting.get(name)?.(data);
      const script = this.document.createElement("script");
      script.src = `data/${id}.js`;
      script.onerror = () => reject(new Error("no such session beside this page"));
      this.document.head.append(script);
    });
  }
  forget(): void {} // nothing here changes
  live(): void {} // nor grows

  graph = async (reel: string, start: number): Promise<Graph> => {
    const { graph } = await this.reel(reel);
    return start ? { ...graph, start, rows: graph.rows.slice(start) } : graph;
  };
  /** Lists of messages are kept as what they share with the parent's. */
  request = async (reel: string, id: string): Promise<RequestPage> => {
    const { requests } = await this.reel(reel);
    const chain: string[] = [];
    for (let at: string | null | undefined = id; at != null && requests[at]; at = requests[at]!.base) {
      chain.push(at);
      if (!requests[at]!.keep) break;
    }
    let before: RequestPage | null = null;
    for (const name of chain.reverse()) {
      const page: Kept["requests"][string] = requests[name]!;
      if (page.keep && before) {
        const all: string[] = [...before.messages, ...before.answer];
        before = { ...page, messages: joined(all, page.messages, page.keep) };
      } else before = page;
    }
    if (!before) throw new Error("no such request in this page");
    return before;
  };
  messages = async (reel: string, ids: string[]): Promise<MessageCard[]> => {
    const { messages } = await this.reel(reel);
    return ids.flatMap((id) => messages[id] ?? []);
  };
  message = async (reel: string, id: string): Promise<MessageCard | null> => (await this.reel(reel)).messages[id] ?? null;
  tools = async (reel: string, ids: string[]): Promise<ToolPage[]> => {
    const { tools } = await this.reel(reel);
    return ids.flatMap((id) => tools[id] ?? []);
  };
  cache = async (reel: string, id: string): Promise<CacheReport | null> => (await this.reel(reel)).cache[id] ?? null;
  original = async (reel: string, id: string): Promise<Original | null> => {
    const { originals } = await this.reel(reel);
    const chain: KeptOriginal[] = [];
    for (let at = originals[id]; at; at = at.base == null ? undefined : originals[at.base]) chain.push(at);
    if (!chain.length) return null;
    let [raw, curl]: [string[], string[]] = [[], []];
    for (const one of chain.reverse()) {
      raw = joined(raw, one.raw.new, one.raw.keep);
      curl = joined(curl, one.curl.new, one.curl.keep);
    }
    const { settings, size, cut = 0 } = originals[id]!;
    return { settings, size, cut, raw: raw.join(""), curl: curl.join("") };
  };
  pictures = async (reel: string, place: Place): Promise<Picture[]> => {
    const key = "card" in place ? place.card : `${place.id}/${place.answer ? "a" : "m"}${place.at}`;
    return (await this.reel(reel)).pictures[key] ?? [];
  };
  private told = async (reel: string, at: string | null): Promise<{ cards: Card[]; turns: Transcript["turns"] }> => {
    const kept = await this.reel(reel);
    const row = kept.graph.rows.find((r) => r.id === at) ?? kept.graph.rows[0];
    return kept.transcripts[""] ?? kept.transcripts[String(row?.root ?? 0)] ?? { cards: [], turns: [] };
  };
  transcript = async (reel: string, at: string | null, _start: number, name: string | null = null): Promise<Transcript> => {
    const { cards, turns } = await this.told(reel, at);
    const agents = cards.flatMap((c, i): [number, number][] => (c.kind === "agent" ? [[i, c.count ?? 0]] : []));
    const errors = cards.flatMap((c, i) => (c.failed || c.level === "error" ? [i] : []));
    const found = name ? cards.findIndex((c) => c.key === name || c.request === name) : -1;
    return { version: 1, total: cards.length, start: 0, cards, turns: turns ?? [], agents, errors, found: found < 0 ? null : found };
  };
  card = async (reel: string, at: string | null, number: number): Promise<Card | null> =>
    (await this.told(reel, at)).cards[number] ?? null;

  search = async (words: string, reel: string | null): Promise<Found> => {
    const wanted = words.trim().toLowerCase();
    if (!wanted) return { hits: [] };
    const rows = (await this.home()).reels.filter((row) => !reel || row.id === reel);
    const hits: Hit[] = [];
    for (const row of reel ? [] : rows) {
      const told = hit(row.id, "title", `${row.name} ${row.project ?? ""}`, wanted);
      if (told) hits.push({ ...told, title: row.name, time: row.end });
    }
    const places = reel ? null : await this.places(wanted);
    for (const row of rows) {
      if (hits.length >= MOST) return { hits: hits.slice(0, MOST), more: true };
      if (!places || places.has(row.id)) {
        const kept = await this.reel(row.id);
        const session = kept.transcripts[""];
        hits.push(...(session ? inSession(row, session.cards, wanted) : inReel(row.id, kept, wanted)));
      }
    }
    return { hits: hits.slice(0, MOST), more: hits.length > MOST };
  };
}

function joined(before: string[], added: string[], keep: [number, number][]): string[] {
  const whole: string[] = [];
  for (const [from, to] of keep) {
    if (to > 0) for (let i = from; i < to; i++) whole.push(before[i]!);
    else whole.push(added[from]!);
  }
  return whole;
}

const PLACES: Record<string, string> = { prompt: "user", said: "assistant", notice: "note", tool_use: "tool", tool_result: "result" };

/** Card by card: there a hit leads to. */
function inSession(reel: ReelRow, cards: Card[], wanted: string): Hit[] {
  const hits: Hit[] = [];
  let title = reel.name;
  for (const card of cards) {
    if (card.kind === "prompt" && !card.depth) title = (card.text ?? "").slice(0, 300);
    const texts = [[PLACES[card.kind] ?? card.kind, card.text], ["tool", card.call && `${card.call.name} ${card.call.arguments}`], ["result", card.result]] as const;
    for (const [where, text] of texts) {
      const found = hit(reel.id, where, text ?? "", wanted);
      if (!found) continue;
      hits.push({ ...found, title, request: card.key, time: card.time ?? null });
      break;
    }
    if (hits.length >= MOST) break;
  }
  return hits;
}

function inReel(id: string, kept: Kept, wanted: string): Hit[] {
  const hits: Hit[] = [];
  const seen = new Set<string>();
  for (const row of kept.graph.rows) {
    const page = kept.requests[row.id];
    for (const name of page ? [...page.messages, ...page.answer] : []) {
      if (seen.has(name)) continue;
      seen.add(name);
      const m = kept.messages[name];
      if (!m) continue;
      const texts = [m.text ?? "", ...(m.calls ?? []).map((c) => `${c.name} ${c.arguments}`)];
      for (const text of texts) {
        const found = hit(id, PLACES[m.role] ?? m.role, text, wanted);
        if (!found) continue;
        hits.push({ ...found, title: row.title, request: row.id, time: row.time ?? null });
        break;
      }
      if (hits.length >= MOST) return hits;
    }
  }
  return hits;
}

function hit(reel: string, where: string, text: string, wanted: string): Hit | null {
  const at = text.toLowerCase().indexOf(wanted);
  if (at < 0) return null;
  const end = at + wanted.length;
  return { reel, where, before: text.slice(Math.max(0, at - AROUND), at), match: text.slice(at, end), after: text.slice(end, end + 2 * AROUND) };
}
