// Tokens and cost, added up in different ways.
import type { GraphRow, ReelRow, Usage } from "../types.gen";
import { add, all, isUnpriced, prompt } from "./format";
import type { Store } from "./store";

export interface Counted {
  time: number | null;
  model: string;
  project: string;
  agent: string;
  tools: string[];
  usage: Usage;
  cost: number | null;
  /** More was used than the cost tells: it has no price, or nobody counted its tokens; of a session, some of it. */
  isPart: boolean;
  /** Some of the cost is an agent's own estimate. */
  isEstimate: boolean;
  error: boolean;
  calls: number;
  duration: number | null;
  label: string;
  reel: string;
  request: string | null;
}

export function ofRows(rows: GraphRow[], reel: ReelRow | null): Counted[] {
  return rows.map((r) => ({
    time: r.time ?? null,
    model: r.model ?? "unknown",
    project: reel?.project ?? "unknown",
    agent: r.agent ?? "unknown",
    tools: r.tools ?? [],
    usage: r.usage ?? {},
    cost: r.cost ?? null,
    isPart: isUnpriced(r),
    isEstimate: !!r.estimated,
    error: !!r.error || !!r.failed,
    calls: 1,
    duration: r.duration ?? null,
    label: r.title,
    reel: reel?.id ?? "",
    request: r.id,
  }));
}

export function ofReels(reels: ReelRow[]): Counted[] {
  return reels.filter((r) => all(r.usage) > 0).map((r) => ({
    time: r.end ?? r.start ?? null,
    model: r.model ?? "unknown",
    project: r.project ?? "unknown",
    agent: r.agent ?? "unknown",
    tools: [],
    usage: r.usage ?? {},
    cost: r.cost ?? null,
    isPart: r.cost == null || r.priced === false,
    isEstimate: !!r.estimated,
    error: false,
    calls: 1,
    duration: r.start != null && r.end != null ? r.end - r.start : null,
    label: r.name,
    reel: r.id,
    request: null,
  }));
}

export const WAYS = ["model", "project", "agent", "tool"] as const;
export type Way = (typeof WAYS)[number];
export const NO_TOOL = "no tool";

/** What a call counts as; one that uses several tools is shared among them. */
export function namesOf(by: Way): (c: Counted) => string[] {
  return by === "tool" ? (c) => (c.tools.length ? c.tools : [NO_TOOL]) : (c) => [c[by]];
}

/** Every call of all reels. Each of them is read for it, one after the other; one that cannot be read is left out. */
export async function everyCall(store: Store, reels: ReelRow[], told: (read: number) => void): Promise<Counted[]> {
  const calls: Counted[] = [];
  for (const [i, reel] of reels.entries()) {
    const rows: GraphRow[] = [];
    try {
      for (let total = 1; rows.length < total; ) {
        const page = await store.graph(reel.id, rows.length);
        total = page.rows.length ? page.total : 0;
        rows.push(...page.rows);
      }
    } catch {
      // gone since it was listed: the others are counted
    }
    calls.push(...ofRows(rows, reel));
    told(i + 1);
  }
  return calls;
}

export interface Group {
  name: string;
  calls: number;
  usage: Usage;
  cost: number | null;
  unpriced: number;
  estimated: number;
  errors: number;
}

/** By whatever `key` names; one with several keys is shared among them. */
export function grouped(list: Counted[], key: (c: Counted) => string[]): Group[] {
  const groups = new Map<string, Group>();
  for (const c of list) {
    const names = key(c);
    for (const name of names) {
      const g = groups.get(name) ?? { name, calls: 0, usage: {}, cost: null, unpriced: 0, estimated: 0, errors: 0 };
      g.calls += c.calls;
      g.usage = add(g.usage, scaled(c.usage, 1 / names.length));
      if (c.cost != null) g.cost = (g.cost ?? 0) + c.cost / names.length;
      if (c.isPart) g.unpriced++;
      if (c.isEstimate) g.estimated++;
      if (c.error) g.errors++;
      groups.set(name, g);
    }
  }
  return [...groups.values()].sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || all(b.usage) - all(a.usage));
}

function scaled(u: Usage, by: number): Usage {
  if (by === 1) return u;
  const part = (n: number | undefined): number => Math.round((n ?? 0) * by);
  return { input: part(u.input), cache_read: part(u.cache_read), cache_write: part(u.cache_write), output: part(u.output), reasoning: part(u.reasoning), cache_write_1h: part(u.cache_write_1h) };
}

export function totals(list: Counted[]): { usage: Usage; cost: number | null; unpriced: number; estimated: number; errors: number; hit: number | null } {
  const [one] = grouped(list, () => ["all"]);
  const usage = one?.usage ?? {};
  const whole = prompt(usage);
  return {
    usage,
    cost: one?.cost ?? null,
    unpriced: one?.unpriced ?? 0,
    estimated: one?.estimated ?? 0,
    errors: one?.errors ?? 0,
    hit: whole ? (usage.cache_read ?? 0) / whole : null,
  };
}

const MOST_NAMES = 8;
const DAWN = Date.UTC(2020, 0); // no model was called before: a clock that was not set would make one bar of all others
const hasTime = (c: Counted): boolean => c.time != null && c.time >= DAWN && c.time < Date.now() + 366 * 86400e3;
/** Those that stand in no place on an axis of time. */
export const untimed = (list: Counted[]): Counted[] => list.filter((c) => !hasTime(c));
const STEPS = [60e3, 5 * 60e3, 15 * 60e3, 3600e3, 4 * 3600e3, 86400e3, 7 * 86400e3, 30 * 86400e3];

/** Sums over time: about sixty steps of a round length, in local days where they are days. */
export function overTime(list: Counted[], value: (c: Counted) => number, key: (c: Counted) => string[]): { times: number[]; names: string[]; sums: number[][]; step: number } {
  const timed = list.filter(hasTime);
  if (!timed.length) return { times: [], names: [], sums: [], step: 0 };
  const first = timed.reduce((m, c) => Math.min(m, c.time!), Infinity);
  const last = timed.reduce((m, c) => Math.max(m, c.time!), -Infinity);
  const step = STEPS.find((s) => (last - first) / s <= 60) ?? STEPS[STEPS.length - 1]!;
  const shift = step >= 86400e3 ? new Date(first).getTimezoneOffset() * 60e3 : 0;
  const place = (time: number): number => Math.floor((time - shift) / step);
  const [from, to] = [place(first), place(last)];
  const times = Array.from({ length: to - from + 1 }, (_, i) => (from + i) * step + shift);
  const whole = new Map<string, number>();
  for (const c of timed) for (const name of key(c)) whole.set(name, (whole.get(name) ?? 0) + value(c) / key(c).length);
  const ranked = [...whole].sort((a, b) => b[1] - a[1]).filter(([, sum], i) => sum > 0 || i === 0).map(([name]) => name);
  const names = ranked.length > MOST_NAMES ? [...ranked.slice(0, MOST_NAMES - 1), "others"] : ranked;
  const sums = names.map(() => times.map(() => 0));
  for (const c of timed) {
    const at = place(c.time!) - from;
    const keys = key(c);
    for (const name of keys) {
      const row = sums[names.indexOf(name)] ?? (names.includes("others") ? sums[names.length - 1] : undefined);
      if (row) row[at] = (row[at] ?? 0) + value(c) / keys.length;
    }
  }
  return { times, names, sums, step };
}
