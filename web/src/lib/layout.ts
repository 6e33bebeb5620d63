// The graph: which rows are shown, in which lane each stands, and which lines pass it.
//
//   ●      a chain keeps its lane as long as it goes on along main children
//   ├─╮    another child opens a lane of its own where it stands
//   │ ●
import type { GraphRow } from "../types.gen";

export type Item =
  | { kind: "head"; root: number; count: number }
  | { kind: "row"; row: number }
  | { kind: "fold"; row: number; rows: number[] };

export interface Lines {
  lane: number;
  top: boolean; // the own lane comes from above
  bottom: boolean; // and goes on below
  from: number | null; // the lane that this row branches off
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
  // Chains: consecutive items along main children.
  const chainAt: number[] = new Array(items.length).fill(-1);
  const starts: number[] = [];
  const ends: number[] = [];
  const fromChain: (number | null)[] = [];
  items.forEach((item, place) => {
    if (item.kind === "head") return;
    const parent = parentOf(item.row);
    const before = parent == null ? -1 : chainAt[at.get(parent)!]!;
    if (parent != null && before >= 0 && isMain(item.row) && at.get(parent)! < place) {
      chainAt[place] = before;
      ends[before] = Math.max(ends[before]!, place);
    } else {
      chainAt[place] = starts.length;
      starts.push(place);
      ends.push(place);
      const known = parent != null && before >= 0 && at.get(parent)! < place;
      fromChain.push(known ? before : null);
      if (known) ends[before] = Math.max(ends[before]!, place); // its lane is held until here
    }
  });
  // Lanes: the leftmost that is free, to the right of where it comes from.
  const laneOf: number[] = [];
  const freeFrom: number[] = [];
  starts.forEach((start, chain) => {
    let lane = fromChain[chain] == null ? 0 : laneOf[fromChain[chain]!]! + 1;
    while (freeFrom[lane] != null && freeFrom[lane]! >= start) lane++;
    laneOf[chain] = lane;
    freeFrom[lane] = ends[chain]!;
  });
  const lines: (Lines | null)[] = items.map(() => null);
  const active = new Set<number>();
  const beginning = new Map<number, number[]>();
  starts.forEach((start, chain) => beginning.set(start, [...(beginning.get(start) ?? []), chain]));
  items.forEach((item, place) => {
    for (const chain of beginning.get(place) ?? []) active.add(chain);
    if (item.kind !== "head") {
      const own = chainAt[place]!;
      const parent = fromChain[own] ?? null;
      const branches = starts[own] === place && parent != null;
      const through: number[] = [];
      for (const chain of active) {
        if (chain === own) continue;
        if (branches && chain === parent && ends[chain] === place) continue; // it turns into this row
        through.push(Math.min(laneOf[chain]!, MOST_LANES));
      }
      lines[place] = {
        lane: Math.min(laneOf[own]!, MOST_LANES),
        top: place > starts[own]!,
        bottom: place < ends[own]!,
        from: branches ? Math.min(laneOf[parent!]!, MOST_LANES) : null,
        through,
      };
    }
    for (const chain of [...active]) if (ends[chain]! <= place) active.delete(chain);
  });
  return { items, lines, at, lanes: Math.min(Math.max(0, ...laneOf.map((l) => l + 1)), MOST_LANES + 1) };
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
