import { describe, expect, it } from "vitest";
import { childrenOf, itemsOf, layout, mainChildren, runWords, type Item, type Options, type Shown } from "../src/lib/layout";
import type { GraphRow } from "../src/types.gen";

/** Rows in short: "parent" numbers; more by hand. */
function rowsOf(...parents: (number | null)[]): GraphRow[] {
  const rows: GraphRow[] = [];
  parents.forEach((parent, i) => {
    rows.push({ id: `r${i}`, title: `row ${i}`, kind: "prompt", root: parent == null ? i : rows[parent]!.root, parent, reason: parent == null ? null : "continues" });
  });
  return rows;
}
const everything: Options = { visible: () => true, folded: () => false, closed: () => false };
function drawn(rows: GraphRow[], options: Partial<Options> = {}): Shown {
  const children = childrenOf(rows);
  return layout(rows, mainChildren(rows, children), itemsOf(rows, children, { ...everything, ...options }));
}
const lanes = (s: Shown): (number | null)[] => s.lines.map((l) => l?.lane ?? null);

describe("lanes", () => {
  it("keeps a conversation in one lane", () => {
    const s = drawn(rowsOf(null, 0, 1, 2));
    expect(lanes(s)).toEqual([0, 0, 0, 0]);
    expect(s.lines.map((l) => [l!.top, l!.bottom])).toEqual([[false, true], [true, true], [true, true], [true, false]]);
  });
  it("opens a lane for a fork where its parent stands, and the larger branch stays", () => {
    //   0 ─ 1 ─ 3 ─ 4
    //     ╰ 2
    const s = drawn(rowsOf(null, 0, 0, 1, 3));
    expect(lanes(s)).toEqual([0, 0, 1, 0, 0]);
    expect(s.lines[0]!.out).toEqual([{ lane: 1, agent: false }]);
    expect(s.lines[1]).toMatchObject({ out: [], through: [1] });
    expect(s.lines[2]).toMatchObject({ top: true, bottom: false, through: [0], out: [] });
    expect(s.lines[3]).toMatchObject({ through: [] });
  });
  it("tells a late fork from what stands above it", () => {
    //   0 ─ 1 ─ 2 ─ 3
    //     ╰───────── 4   a fork of the first
    const s = drawn(rowsOf(null, 0, 1, 2, 0));
    expect(lanes(s)).toEqual([0, 0, 0, 0, 1]);
    expect(s.lines.map((l) => l!.through)).toEqual([[], [1], [1], [1], []]);
    expect(s.lines[3]!.bottom).toBe(false);
  });
  it("keeps the main branch in its lane when a shorter one comes first", () => {
    //   0 ─ 1
    //     ╰ 2 ─ 3   the main one
    const s = drawn(rowsOf(null, 0, 0, 2));
    expect(lanes(s)).toEqual([0, 1, 0, 0]);
    expect(s.lines[0]!.out).toEqual([{ lane: 1, agent: false }]);
    expect(s.lines[1]!.through).toEqual([0]);
  });
  it("names no lane twice, however many there are", () => {
    const s = drawn(rowsOf(null, ...new Array<number>(40).fill(0)));
    for (const line of s.lines) expect(new Set(line!.through).size).toBe(line!.through.length);
    expect(s.lanes).toBeLessThanOrEqual(15);
  });
  it("uses a lane again when it is free", () => {
    const s = drawn(rowsOf(null, 0, 0, 1, 3, 3, 4));
    expect(Math.max(...(lanes(s) as number[]))).toBe(1);
  });
  it("puts sub-agents and retried attempts aside", () => {
    const rows = rowsOf(null, 0, 0, 0);
    rows[1]!.reason = "agent";
    rows[3]!.retry_of = 2;
    expect(lanes(drawn(rows))).toEqual([0, 1, 2, 0]);
  });
  it("leaves out what is filtered, and joins what is left", () => {
    const rows = rowsOf(null, 0, 1, 2);
    const s = drawn(rows, { visible: (i) => i !== 1 && i !== 2 });
    expect(s.items.length).toBe(2);
    expect(lanes(s)).toEqual([0, 0]);
    expect(s.lines[0]!.bottom).toBe(true);
  });
  it("survives a parent that comes later", () => {
    const rows = rowsOf(null, 0);
    rows[0]!.parent = 1;
    expect(() => drawn(rows)).not.toThrow();
  });
  it("draws ten thousand rows", () => {
    const parents: (number | null)[] = [null];
    for (let i = 1; i < 10_000; i++) parents.push(i % 7 === 0 ? i - 3 : i - 1);
    expect(drawn(rowsOf(...parents)).items.length).toBe(10_000);
  });
});

describe("items", () => {
  const tools = (...parents: (number | null)[]): GraphRow[] => rowsOf(...parents).map((r, i) => ({ ...r, kind: i === 0 ? "prompt" : "tools", tools: ["Read"] }));
  it("folds a run of tool calls to one", () => {
    const s = drawn(tools(null, 0, 1, 2, 3), { folded: () => true });
    expect(s.items.map((i) => i.kind)).toEqual(["row", "fold"]);
    expect(s.at.get(3)).toBe(1);
  });
  it("folds no run that branches, failed or is short", () => {
    const forked = tools(null, 0, 1, 2, 2);
    expect(itemsOf(forked, childrenOf(forked), { ...everything, folded: () => true }).every((i) => i.kind === "row")).toBe(true);
    const failed = tools(null, 0, 1, 2);
    failed[2]!.failed = true;
    expect(itemsOf(failed, childrenOf(failed), { ...everything, folded: () => true }).every((i) => i.kind === "row")).toBe(true);
  });
  it("heads conversations where there are several", () => {
    const items: Item[] = drawn(rowsOf(null, 0, null, 2), { closed: () => false }).items;
    expect(items.map((i) => i.kind)).toEqual(["head", "row", "row", "head", "row", "row"]);
    expect(drawn(rowsOf(null, null, 1)).items.map((i) => i.kind)).toEqual(["row", "head", "row", "row"]);
  });
  it("says what a run holds", () => {
    const rows = tools(null, 0, 1);
    rows[2]!.tools = ["Bash"];
    rows[0]!.tools = ["Read"];
    expect(runWords(rows, [0, 1, 2])).toBe("Read ×2, Bash");
  });
});
