// Where a key leads in the graph.
import type { Reel } from "./state.svelte";
import type { Shown } from "./layout";

export type Step = "next" | "previous" | "first" | "last" | "parent" | "child" | "main" | "error" | "error-before";

export function move(step: Step, from: number | null, shown: Shown, reel: Pick<Reel, "rows" | "children" | "main">): number | null {
  const places = shown.items.map((item) => (item.kind === "head" ? null : item.row));
  const rowsAt = places.filter((row): row is number => row != null);
  if (!rowsAt.length) return null;
  if (from == null) return step === "last" ? rowsAt[rowsAt.length - 1]! : rowsAt[0]!;
  const at = shown.at.get(from) ?? -1;
  const next = (way: 1 | -1, fits: (row: number) => boolean): number | null => {
    for (let i = at + way; i >= 0 && i < places.length; i += way) {
      const row = places[i];
      if (row != null && row !== from && fits(row)) return row;
    }
    return null;
  };
  const bad = (row: number): boolean => !!reel.rows[row]!.error || !!reel.rows[row]!.failed;
  switch (step) {
    case "next":
      return next(1, () => true);
    case "previous":
      return next(-1, () => true);
    case "first":
      return rowsAt[0]!;
    case "last":
      return rowsAt[rowsAt.length - 1]!;
    case "parent":
      return reel.rows[from]!.parent ?? null;
    case "child":
      return reel.children[from]![0] ?? null;
    case "main": {
      const child = reel.main[from]!;
      return child >= 0 ? child : null;
    }
    case "error":
      return next(1, bad);
    case "error-before":
      return next(-1, bad);
  }
}

/** By the views in which they do something. */
export const KEYS: [string, [string, string][]][] = [
  ["Everywhere", [
    ["/", "search everything"],
    ["g t u", "graph, transcript, usage"],
    ["y", "copy a link to this"],
    ["?", "these keys"],
    ["Esc", "close, or back to the list"],
  ]],
  ["List", [
    ["j k ↓ ↑ Home End", "next, previous, first, last"],
    ["f", "filter it"],
  ]],
  ["Graph and transcript", [
    ["j k", "next, previous request or prompt"],
    ["[ ]", "previous, next error"],
    ["e", "expand all"],
  ]],
  ["Graph", [
    ["↓ ↑ Home End", "next, previous, first, last"],
    ["f", "filter the list"],
    ["h l ← →", "parent, child"],
    ["space", "along the main branch"],
    ["Enter", "open, close a run of calls"],
    ["z", "fold, unfold the conversation"],
    ["d", "diff with the parent"],
    ["c", "what the cache did"],
  ]],
];
