// The graph: which rows are shown, in which lane each stands, and which lines pass it.
//
//   ●      a chain keeps its lane as long as it goes on along main children
//   ├─╮    another child has a lane of its own, which leaves where its parent stands
//   ● │
//     ●
import type { GraphRow } from "../types.gen";

export type Item =
  | { kind: "head"; root: number; count: number }
  | { kind: "row"; row: number }
  | { kind: "fold"; row: number; rows: number[] };

export interface Lines {
  lane: number;
  top: boolean; // the own lane comes from above
  bottom: boolean; // and goes on below
  out: { lane: number; agent: boolean }[]; // lanes that branch off here
  through: number[]; // other lanes that pass
}

export interface Shown {
  items: Item[];
  lines: (Lines | null)[];
  at: Map<number, number>; // row → its place among the items
  lanes: number;
}

export interface Options {
  visible: (row: number) => boolean;
  folded: (firstRow: number, count: number) => boolean;
  closed: (root: number) => boolean;
}

const SHORTEST_RUN = 3;
export const MOST_LANES = 14;

/** Of each row its children, in order. */
export function childrenOf(rows: GraphRow[]): number[][] {
  const children: number[][] = rows.map(() => []);
  rows.forEach((row, i) => {
    if (row.parent != null) children[row.parent]?.push(i);
  });
  return children;
}

/** Of each row the child with which its conversation went on, or -1. */
export function mainChildren(rows: GraphRow[], children: number[][]): number[] {
  const size = rows.map(() => 1);
  for (let i = rows.length - 1; i >= 0; i--) {
    const parent = rows[i]!.parent;
    if (parent != null && parent < i) size[parent] = size[parent]! + size[i]!;
  }
  return rows.map((_, i) => {
    const retried = new Set(children[i]!.map((c) => rows[c]!.retry_of));
    let best = -1;
    for (const c of children[i]!) {
      if (rows[c]!.reason === "agent" || retried.has(c)) continue;
      if (best < 0 || size[c]! >= size[best]!) best = c;
    }
    return best;
  });
}

/** Rows by conversation, in the order of their beginnings. */
export function byConversation(rows: GraphRow[]): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  rows.forEach((row, i) => {
    const group = groups.get(row.root);
    if (group) group.push(i);
    else groups.set(row.root, [i]);
  });
  return groups;
}

function foldable(row: GraphRow): boolean {
  return (
    row.kind === "tools" && !row.failed && !row.error && !row.missed && (row.reason === "continues" || row.reason == null)
  );
}

/** What is shown: heads of conversations, rows, and runs of tool calls as one. */
export function itemsOf(rows: GraphRow[], children: number[][], options: Options): Item[] {
  const items: Item[] = [];
  const groups = byConversation(rows);
  for (const [root, group] of groups) {
    const visible = group.filter(options.visible);
    if (!visible.length) continue;
    if (groups.size > 1 && group.length > 1) items.push({ kind: "head", root, count: group.length });
    if (options.closed(root)) continue;
    for (let at = 0; at < visible.length; ) {
      const run = [visible[at]!];
      while (at + run.length < visible.length) {
        const last = run[run.length - 1]!;
        const next = visible[at + run.length]!;
        if (!foldable(rows[last]!) || !foldable(rows[next]!)) break;
        if (rows[next]!.parent !== last || children[last]!.length !== 1) break;
        run.push(next);
      }
      if (run.length >= SHORTEST_RUN && options.folded(run[0]!, run.length)) {
        items.push({ kind: "fold", row: run[0]!, rows: run });
      } else {
        for (const row of run) items.push({ kind: "row", row });
      }
      at += run.length;
    }
  }
  return items;
}

/** Lanes and lines of the items. */
export function layout(rows: GraphRow[], main: number[], items: Item[]): Shown {
  const at = new Map<number, number>();
  items.forEach((item, place) => {
    if (item.kind === "row") at.set(item.row, place);
    else if (item.kind === "fold") for (const row of item.rows) at.set(row, place);
  });
  const parentOf = (row: number): number | null => {
    // the nearest ancestor that is shown
    let parent = rows[row]!.parent ?? null;
    for (let steps = 0; parent != null && !at.has(parent) && steps < rows.length; steps++) {
      parent = rows[parent]!.parent ?? null;
    }
    return parent != null && at.has(parent) ? parent : null;
  };
  const isMain = (row: number): boolean => {
    let child = row;
    let parent = rows[row]!.parent ?? null;
    while (parent != null) {
      if (main[parent] !== child) return false;
      if (at.has(parent)) return true;
      child = parent;
      parent = rows[parent]!.parent ?? null;
    }
    return false;
  };
  // Chains: consecutive items along main children. Each leaves its parent's chain somewhere, or begins by itself.
  const chainAt: number[] = new Array(items.length).fill(-1);
  const chains: Chain[] = [];
  items.forEach((item, place) => {
    if (item.kind === "head") return;
    const parent = parentOf(item.row);
    const above = parent == null ? undefined : at.get(parent);
    const before = above === undefined || above >= place ? -1 : chainAt[above]!;
    if (before >= 0 && isMain(item.row)) {
      chainAt[place] = before;
      chains[before]!.end = place;
      return;
    }
    chainAt[place] = chains.length;
    const leaves = before >= 0 ? above! : place;
    chains.push({ from: before >= 0 ? before : null, leaves, start: place, end: place, agent: rows[item.row]!.reason === "agent", lane: 0 });
  });
  placeLanes(chains);
  const leaving = grouped(chains.filter((c) => c.from != null), (c) => c.leaves);
  const begin = grouped(chains, (c) => c.leaves + 1);
  const over = grouped(chains, (c) => c.end);
  const passing: number[] = new Array(MOST_LANES + 1).fill(0); // of each lane, how many chains pass the row
  const lines: (Lines | null)[] = items.map((item, place) => {
    for (const c of begin.get(place) ?? []) if (c.end >= place) passing[c.lane]!++;
    for (const c of over.get(place) ?? []) if (c.leaves < place) passing[c.lane]!--;
    if (item.kind === "head") return null;
    const own = chains[chainAt[place]!]!;
    const inside = own.leaves < place && place < own.end ? 1 : 0;
    const through = passing.flatMap((n, lane) => (n - (lane === own.lane ? inside : 0) > 0 ? [lane] : []));
    const out = (leaving.get(place) ?? []).map((c) => ({ lane: c.lane, agent: c.agent }));
    return { lane: own.lane, top: place > own.leaves, bottom: place < own.end, out, through };
  });
  return { items, lines, at, lanes: chains.reduce((most, c) => Math.max(most, c.lane + 1), 0) };
}

interface Chain {
  from: number | null; // the chain that it leaves
  leaves: number; // the place where it does
  start: number; // that of its first row
  end: number; // and of its last
  agent: boolean;
  lane: number;
}

function grouped(chains: Chain[], place: (chain: Chain) => number): Map<number, Chain[]> {
  const groups = new Map<number, Chain[]>();
  for (const chain of chains) {
    const group = groups.get(place(chain));
    if (group) group.push(chain);
    else groups.set(place(chain), [chain]);
  }
  return groups;
}

/** Of each the leftmost lane that is free from where it leaves, to the right of the one that it leaves. */
function placeLanes(chains: Chain[]): void {
  const freeFrom: number[] = [];
  for (const chain of [...chains].sort((a, b) => a.leaves - b.leaves || a.start - b.start)) {
    let lane = chain.from == null ? 0 : chains[chain.from]!.lane + 1;
    while (lane < MOST_LANES && freeFrom[lane] != null && freeFrom[lane]! >= chain.leaves + (chain.from == null ? 0 : 1)) lane++;
    chain.lane = Math.min(lane, MOST_LANES);
    freeFrom[chain.lane] = Math.max(freeFrom[chain.lane] ?? 0, chain.end);
  }
}

/** What a folded run holds, in words: "Read ×4, Bash ×3". */
export function runWords(rows: GraphRow[], run: number[]): string {
  const counts = new Map<string, number>();
  for (const i of run) for (const tool of rows[i]!.tools ?? []) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([tool, n]) => (n > 1 ? `${tool} ×${n}` : tool))
    .join(", ");
}
