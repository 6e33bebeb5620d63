import { describe, expect, it } from "vitest";
import { align, diffLinesOf, fresh, paired, summary, words } from "../src/lib/delta";

describe("align", () => {
  it("tells what was added, removed and changed", () => {
    const role = (id: string): string => id[0]!;
    expect(align(["s1", "u1", "u2"], ["s2", "u1", "u3", "a1"], role)).toEqual([
      { kind: "changed", a: 0, b: 0 },
      { kind: "same", a: 1, b: 1, count: 1 },
      { kind: "changed", a: 2, b: 2 },
      { kind: "added", b: 3 },
    ]);
  });
  it("covers both lists, whatever they are", () => {
    const lists = [[], ["a"], ["a", "b", "c"], ["c", "b", "a"], ["a", "a", "b", "a"], ["x", "a", "y", "b", "z"]];
    for (const a of lists) {
      for (const b of lists) {
        const [left, right]: [string[], string[]] = [[], []];
        for (const c of align(a, b)) {
          if (c.kind === "same") {
            left.push(...a.slice(c.a, c.a + c.count));
            right.push(...b.slice(c.b, c.b + c.count));
            expect(a.slice(c.a, c.a + c.count)).toEqual(b.slice(c.b, c.b + c.count));
          }
          if (c.kind === "removed" || c.kind === "changed") left.push(a[c.a]!);
          if (c.kind === "added" || c.kind === "changed") right.push(b[c.b]!);
        }
        expect(left).toEqual(a);
        expect(right).toEqual(b);
      }
    }
  });
  it("says what is new against the parent", () => {
    expect(fresh(["s1", "u1", "a1"], ["s2", "u1", "a1", "u2"])).toEqual({ added: [0, 3], removed: [], same: 2 });
    expect(fresh([], ["a"])).toEqual({ added: [0], removed: [], same: 0 });
  });
  it("is quick on long lists", () => {
    const a = Array.from({ length: 5000 }, (_, i) => `m${i}`);
    const b = [...a.slice(0, 4000), "x", ...a.slice(4001), "y"];
    expect(align(a, b).filter((c) => c.kind !== "same").length).toBe(2);
  });
});

describe("words", () => {
  it("finds one word in a very long text, and gives up on what has nothing in common", () => {
    const text = Array.from({ length: 200_000 }, (_, i) => `w${i}`).join(" ");
    const pieces = words(`${text} one ${text}`, `${text} two ${text}`);
    expect(pieces.filter((p) => p.state !== "same")).toEqual([
      { text: "one", state: "removed" },
      { text: "two", state: "added" },
    ]);
    const other = Array.from({ length: 200_000 }, (_, i) => `v${i % 977}`).join(" ");
    const whole = (state: string): string => words(text, other).filter((p) => p.state === "same" || p.state === state).map((p) => p.text).join("");
    expect([whole("removed"), whole("added")]).toEqual([text, other]);
    expect(words("a b", "a b")).toEqual([{ text: "a b", state: "same" }]);
    expect(words("", "b")).toEqual([{ text: "b", state: "added" }]);
  });
  it("is word by word, and gives both texts back", () => {
    const pieces = words("the old path is imported", "the new path is imported here");
    const of = (state: string): string => pieces.filter((p) => p.state === "same" || p.state === state).map((p) => p.text).join("");
    expect(of("removed")).toBe("the old path is imported");
    expect(of("added")).toBe("the new path is imported here");
  });
});

describe("edits", () => {
  it("stand side by side", () => {
    const lines = diffLinesOf("@@ f\n same\n-old\n-older\n+new\n+");
    expect(lines.map((l) => l.kind)).toEqual(["head", "context", "removed", "removed", "added", "added"]);
    expect(paired(lines).map((p) => [p.left?.text ?? null, p.right?.text ?? null])).toEqual([["f", "f"], ["same", "same"], ["old", "new"], ["older", ""]]);
  });
});

describe("summary", () => {
  it("is a sentence", () => {
    const changes = align(["s1", "u1"], ["s2", "u1", "u2", "u3"], (id) => id[0]!);
    const roles = ["system", "", "user", "user"];
    expect(summary(changes, (c) => roles[changes.indexOf(c)] ?? "", ["tool Edit changed"], [])).toBe("1 system prompt changed, 2 messages added, tool Edit changed");
    expect(summary([], () => "", [], [])).toBe("Both requests are the same");
  });
});
