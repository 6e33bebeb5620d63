// What two requests have in common and what not: message by message, then word by word.
import { diffArrays, diffLines, diffWordsWithSpace } from "diff";

export type Change =
  | { kind: "same"; a: number; b: number; count: number } // places in both lists
  | { kind: "added"; b: number }
  | { kind: "removed"; a: number }
  | { kind: "changed"; a: number; b: number };

/** Aligned lists of ids. What was replaced in place, by something of the same role, is changed. */
export function align(a: string[], b: string[], roleOf: (id: string) => string = () => ""): Change[] {
  const changes: Change[] = [];
  let at = 0;
  let beside = 0;
  let removed: number[] = [];
  let added: number[] = [];
  const flush = (): void => {
    let k = 0;
    for (; k < removed.length && k < added.length; k++) {
      const [x, y] = [removed[k]!, added[k]!];
      if (roleOf(a[x]!) !== roleOf(b[y]!)) break;
      changes.push({ kind: "changed", a: x, b: y });
    }
    for (const x of removed.slice(k)) changes.push({ kind: "removed", a: x });
    for (const y of added.slice(k)) changes.push({ kind: "added", b: y });
    removed = [];
    added = [];
  };
  const same = (count: number): void => {
    if (!count) return;
    flush();
    changes.push({ kind: "same", a: at, b: beside, count });
    at += count;
    beside += count;
  };
  let lead = 0;
  while (lead < a.length && lead < b.length && a[lead] === b[lead]) lead++;
  let tail = 0;
  while (tail < a.length - lead && tail < b.length - lead && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  same(lead);
  for (const part of diffArrays(a.slice(lead, a.length - tail), b.slice(lead, b.length - tail))) {
    const count = part.value.length;
    if (part.added) for (let k = 0; k < count; k++) added.push(beside++);
    else if (part.removed) for (let k = 0; k < count; k++) removed.push(at++);
    else same(count);
  }
  flush();
  same(tail);
  return changes;
}

/** Places of `ids` that the parent neither sent nor got: what is new. */
export function fresh(parent: string[], ids: string[]): { added: number[]; removed: number[]; same: number } {
  const added: number[] = [];
  const removed: number[] = [];
  let same = 0;
  for (const change of align(parent, ids)) {
    if (change.kind === "same") same += change.count;
    if (change.kind === "added" || change.kind === "changed") added.push(change.b);
    if (change.kind === "removed") removed.push(change.a); // what was replaced shows in its new form
  }
  return { added, removed, same };
}

export interface Piece {
  text: string;
  state: "same" | "added" | "removed";
}

const PATIENCE = 250; // milliseconds

/** Word by word; line by line where that takes too long, and as a whole where that does too. */
export function words(a: string, b: string): Piece[] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  if (start < Math.max(a.length, b.length)) while (start > 0 && !/\s/.test(a[start - 1]!)) start--; // whole words
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  while (end > 0 && !/\s/.test(a[a.length - end]!)) end--;
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const parts = diffWordsWithSpace(x, y, { timeout: PATIENCE }) ?? diffLines(x, y, { timeout: PATIENCE }) ?? [
    { value: x, removed: true, added: false },
    { value: y, removed: false, added: true },
  ];
  const middle = parts.map((p): Piece => ({ text: p.value, state: p.added ? "added" : p.removed ? "removed" : "same" }));
  const pieces: Piece[] = [];
  for (const piece of [same(a.slice(0, start)), ...middle, same(a.slice(a.length - end))]) {
    const last = pieces.at(-1);
    if (piece.text && last?.state === piece.state) last.text += piece.text;
    else if (piece.text) pieces.push(piece);
  }
  return pieces;
}

const same = (text: string): Piece => ({ text, state: "same" });

export interface DiffLine {
  kind: "context" | "added" | "removed" | "head";
  text: string;
}

/** A diff as it comes from the server: lines that begin with a blank, `-`, `+` or `@@`. */
export function diffLinesOf(diff: string): DiffLine[] {
  return diff.split("\n").map((line) => {
    if (line.startsWith("@@")) return { kind: "head", text: line.slice(2).trim() };
    if (line.startsWith("+")) return { kind: "added", text: line.slice(1) };
    if (line.startsWith("-")) return { kind: "removed", text: line.slice(1) };
    return { kind: "context", text: line.startsWith(" ") ? line.slice(1) : line };
  });
}

export interface Pair {
  left: DiffLine | null;
  right: DiffLine | null;
}

/** The same side by side: removed lines beside those that took their place. */
export function paired(lines: DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = (): void => {
    for (let k = 0; k < Math.max(removed.length, added.length); k++) {
      pairs.push({ left: removed[k] ?? null, right: added[k] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      if (added.length) flush();
      removed.push(line);
    } else if (line.kind === "added") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}

/** "2 messages added, 1 system line changed, tool Edit changed" */
export function summary(messages: Change[], roleOf: (c: Change) => string, tools: string[], settings: string[]): string {
  const count = new Map<string, number>();
  for (const c of messages) {
    if (c.kind === "same") continue;
    const what = roleOf(c) === "system" ? "system prompt" : "message";
    const key = `${what} ${c.kind}`;
    count.set(key, (count.get(key) ?? 0) + 1);
  }
  const told = [...count].map(([key, n]) => {
    const [what, kind] = [key.slice(0, key.lastIndexOf(" ")), key.slice(key.lastIndexOf(" ") + 1)];
    return `${n} ${what}${n === 1 ? "" : "s"} ${kind}`;
  });
  told.push(...tools, ...settings);
  return told.length ? told.join(", ") : "Both requests are the same";
}
