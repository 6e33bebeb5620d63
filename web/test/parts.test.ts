import { describe, expect, it } from "vitest";
import { plain, runs } from "../src/lib/ansi";
import { cardsOf, placeOf, rawOf } from "../src/lib/cards";
import { keeps, NO_FILTER, sorted } from "../src/lib/filter";
import { duration, headOf, meaning, money, near, shortly, sumOf, tokens } from "../src/lib/format";
import { candidates } from "../src/lib/index";
import { format, parse } from "../src/lib/route";
import { compressed, Recent, remembered, type Store } from "../src/lib/store";
import { fileLines } from "../src/lib/highlight";
import { everyCall, grouped, namesOf, ofReels, ofRows, overTime, totals, untimed } from "../src/lib/usage";
import type { GraphRow } from "../src/types.gen";

const row = (more: Partial<GraphRow>): GraphRow => ({ id: "r", title: "A title", kind: "prompt", root: 0, ...more });

describe("what was asked for", () => {
  it("is asked once, and again only if that failed", async () => {
    const known = new Recent<string, Promise<number>>(2);
    let asked = 0;
    const ask = (): Promise<number> => (asked++ ? Promise.resolve(asked) : Promise.reject(new Error("nobody is there")));
    await expect(remembered(known, "a", ask)).rejects.toThrow("nobody");
    expect(await remembered(known, "a", ask)).toBe(2);
    expect(await remembered(known, "a", ask)).toBe(2);
  });
});

describe("terminal output", () => {
  it("keeps colours and drops all else that steers a terminal", () => {
    expect(runs("\x1b[1;31mbad\x1b[0m ok\x1b[2J\x1b]0;title\x07")).toEqual([
      { text: "bad", style: "ansi-bold ansi-fg-red" },
      { text: " ok", style: "" },
    ]);
    expect(plain("a\x1b]8;;http://x\x07b\x1b[38;5;200mc\u202ed\x00")).toBe("abcd");
    expect(plain("10%\r20%\r100%\nnext")).toBe("100%\nnext");
    expect(plain("of Windows\r\nand the last\r")).toBe("of Windows\nand the last");
    expect(runs("a line of Windows\r")).toEqual([{ text: "a line of Windows", style: "" }]);
    expect(runs("\x1b[32m50%\r\x1b[K100%\x1b[0m\r")).toEqual([{ text: "100%", style: "ansi-fg-green" }]);
  });
});

describe("rows", () => {
  it("tell a file by the end of its path", () => {
    expect(near("read /Users/ada/code/shop/packages/web/src/cart.ts")).toBe("read …/web/src/cart.ts");
    expect(near("Edit C:\\Users\\ada\\git\\shop\\docs\\design\\plan.md +1 −2 · Read /home/ada/projects/shop/src/a/b.py")).toBe(
      "Edit …\\docs\\design\\plan.md +1 −2 · Read …/src/a/b.py",
    );
    expect(near("Read src/cart.ts · Read /home/ada/cart.ts")).toBe("Read src/cart.ts · Read /home/ada/cart.ts");
    expect(near("Bash cd /home/ada/projects/shop/packages/web && make")).toBe("Bash cd /home/ada/projects/shop/packages/web && make");
  });
  it("tell what is in an object that a text begins with", () => {
    expect(headOf('hook stop: {\n  "continue": true\n}\n')).toBe('hook stop: { "continue": true }');
    expect(headOf("**Plan**\nFirst of all")).toBe("Plan");
  });
  it("sum up what is known", () => {
    expect(sumOf([null, 1, undefined, 2])).toBe(3);
    expect(sumOf([null, undefined])).toBeNull();
  });
});

describe("numbers", () => {
  it("are human", () => {
    expect([0, 412, 999, 1000, 18_240, 412_000, 1_999_999].map(tokens)).toEqual(["0", "412", "999", "1.0k", "18.2k", "412k", "2.0M"]);
    expect([0, 0.00001, 0.0004, 0.041, 1.84, 1234].map((n) => money(n))).toEqual(["$0", "<$0.0001", "$0.0004", "$0.041", "$1.84", "$1,234"]);
    expect([money(1.84, true), money(1.84, false, true), money(1.84, true, true), money(0.00001, true)]).toEqual(["≥ $1.84", "~$1.84", "≥ ~$1.84", "≥ $0"]);
    expect([money(null, true, true), meaning(false, false)]).toEqual(["", undefined]);
    expect([12, 3100, 41_000, 600_000, 1e7, 1e9].map(duration)).toEqual(["12 ms", "3.1 s", "41 s", "10 min", "3 h", "12 d"]);
    expect(money(null)).toBe("");
  });
  it("models have short names", () => {
    expect(["claude-sonnet-4-5-20250929", "openai/gpt-5-mini", "gpt-4o-2024-08-06", "gemini-2.5-pro", "claude-opus-4@20250514"].map(shortly)).toEqual(["sonnet-4-5", "gpt-5-mini", "gpt-4o", "gemini-2.5-pro", "opus-4"]);
  });
});

describe("addresses", () => {
  it("come back as they were", () => {
    for (const what of ["c1", "a/b?c#d", "<img>", "%00", "ü"]) {
      const route = { reel: "abc", view: "graph" as const, what, diff: "x&y", at: null };
      expect(parse(format(route))).toEqual(route);
    }
    expect(parse("#/")).toMatchObject({ reel: null, view: "graph" });
    expect(parse("#/usage")).toMatchObject({ reel: null, view: "usage" });
    expect(parse("#/%E0%A4%A")).toMatchObject({ reel: "%E0%A4%A" });
  });
  it("name messages in short", () => {
    expect(compressed(["m1", "m2", "m3", "m9", "m10", "x"])).toBe("m1-m3,m9,m10,x");
    expect(placeOf("a/b/m3")).toEqual({ id: "a/b", at: 3, answer: false });
    expect(placeOf("c1/a0.2")).toEqual({ id: "c1", at: 0, answer: true });
    expect(placeOf("0123abc")).toBeNull();
  });
});

describe("filters", () => {
  it("want everything that was asked for", () => {
    const r = row({ model: "m", tools: ["Bash"], failed: true, does: "Bash pytest" });
    expect(keeps(NO_FILTER, r)).toBe(true);
    expect(keeps({ ...NO_FILTER, text: "TITLE pytest" }, r)).toBe(true);
    expect(keeps({ ...NO_FILTER, text: "title nothing" }, r)).toBe(false);
    expect(keeps({ ...NO_FILTER, tool: "Edit" }, r)).toBe(false);
    expect(keeps({ ...NO_FILTER, errors: true, model: "m" }, r)).toBe(true);
    expect(keeps({ ...NO_FILTER, missed: true }, r)).toBe(false);
  });
  it("order by cost, unknown ones last", () => {
    const rows = [row({ cost: 1 }), row({}), row({ cost: 3 })];
    expect(sorted(rows, [0, 1, 2], "cost")).toEqual([2, 0, 1]);
  });
});

describe("cards", () => {
  const call = { name: "Bash", id: "t1", kind: "execute" as const, does: "make", arguments: "{}" };
  it("join a call and its result", () => {
    const cards = cardsOf(
      [
        { message: { id: "m1", role: "tool_use", calls: [call] }, at: 0, answer: false },
        { message: { id: "m2", role: "tool_result", answers: "t1", text: "ok", lines: 1, is_error: true }, at: 1, answer: false },
      ],
      [],
      "c1",
    );
    expect(cards).toHaveLength(1);
    expect(cards[0]).toMatchObject({ kind: "call", result: "ok", failed: true, open: false });
  });
  it("leave out what says nothing beside something else", () => {
    const said = (id: string, role: string, text: string, at: number) => ({ message: { id, role, text }, at, answer: true });
    const blank = said("m1", "assistant", "\n\n", 0);
    expect(cardsOf([blank, said("m2", "thinking", "Hm.", 1)], [], "c1").map((c) => c.kind)).toEqual(["thinking"]);
    expect(cardsOf([blank], [], "c1").map((c) => c.kind)).toEqual(["said"]); // an answer, and it was empty
  });
  it("join a result to a call of the parent's", () => {
    const placed = [{ message: { id: "m2", role: "tool_result", answers: "t1", text: "ok" }, at: 4, answer: false }];
    expect(cardsOf(placed, [{ id: "m1", role: "tool_use", calls: [call] }], "c1")[0]).toMatchObject({ kind: "call", key: "c1/m4" });
    expect(cardsOf(placed, [], "c1")[0]).toMatchObject({ kind: "result", text: "ok" });
  });
});

describe("unknown blocks", () => {
  it("are told from text", () => {
    expect(rawOf('{"type":"server_thing","n":1}')).toMatchObject({ kind: "server_thing" });
    expect(rawOf('{"city":"Oslo"}')).toBeNull();
    expect(rawOf('{"type":')).toBeNull();
    expect(rawOf("Hello {x}")).toBeNull();
  });
});

describe("what was read of a file", () => {
  const told = (lines: string[]) => fileLines(lines, "python").map((l) => `${l.number}|${l.html.replace(/<[^>]*>/g, "")}`);
  it("has the numbers that the tool wrote", () => {
    expect(told(["     7→a", "     8→b", "     9\t10\tc", "<system-reminder>"])).toEqual(["7|a", "8|b", "9|10\tc", "|&#60;system-reminder&#62;"]);
  });
  it("has its own where there are none, or they are no numbers of lines", () => {
    expect(told(["a", "2\tb"])).toEqual(["1|a", "2|2\tb"]);
    expect(told(["9\ta", "3\tb"])).toEqual(["9|a", "|3\tb"]);
  });
  it("goes on in the colours of the line before", () => {
    const [first, second] = fileLines(['x = """a', 'b"""'], "python");
    expect(first!.html).toMatch(/hljs-string.*<\/span>$/);
    expect(second!.html).toMatch(/^<span class="hljs-string">b/);
  });
});

describe("usage", () => {
  const rows = [
    row({ model: "a", cost: 2, time: 1_772_000_000_000, usage: { input: 10, cache_read: 30, output: 5 }, tools: ["Bash", "Read"] }),
    row({ model: "b", time: 1_772_000_600_000, usage: { input: 60, output: 5 }, error: "x" }),
  ];
  const list = ofRows(rows, null);
  it("adds up, and says what has no price", () => {
    expect(totals(list)).toMatchObject({ cost: 2, unpriced: 1, errors: 1, hit: 0.3 });
    expect(totals(ofRows([...rows, row({ model: "a" }), row({ model: "a", uncounted: true })], null)).unpriced).toBe(2);
  });
  it("says which reels are not fully priced", () => {
    const reel = (more: object) => ({ id: "r", kind: "trace" as const, name: "r", usage: { input: 5 }, ...more });
    expect(totals(ofReels([reel({ cost: 2 }), reel({ cost: 1, priced: false }), reel({})]))).toMatchObject({ cost: 3, unpriced: 2 });
    expect(totals(ofReels([reel({ cost: 2, estimated: true })]))).toMatchObject({ cost: 2, unpriced: 0, estimated: 1 });
  });
  it("shares a call among its tools", () => {
    expect(grouped(list, (c) => c.tools).map((g) => [g.name, g.cost])).toEqual([["Bash", 1], ["Read", 1]]);
  });
  it("over time keeps the sum", () => {
    const { sums, names } = overTime(list, (c) => c.cost ?? 0, namesOf("model"));
    expect(names).toEqual(["a"]);
    expect(sums[0]!.reduce((x, y) => x + y, 0)).toBe(2);
    const tools = overTime(list, (c) => c.cost ?? 0, namesOf("tool"));
    expect(tools.names.slice().sort()).toEqual(["Bash", "Read"]);
    expect(tools.sums.flat().reduce((x, y) => x + y, 0)).toBe(2);
  });
  it("over time leaves out what a clock that was not set says, and says so", () => {
    const odd = [1_000_000, 9_999_999_999_999, null].map((time) => row({ model: "a", cost: 1, time }));
    const all = [...list, ...ofRows(odd, null)];
    const { times, step } = overTime(all, (c) => c.cost ?? 0, namesOf("model"));
    expect([step, times.length]).toEqual([60e3, 11]);
    expect(untimed(all)).toHaveLength(3);
  });
  it("counts every call of all reels, page by page, and goes on where one cannot be read", async () => {
    const graph = (reel: string, start: number) =>
      reel === "gone" ? Promise.reject(new Error("gone")) : Promise.resolve({ version: 1, total: 2, start, rows: rows.slice(start, start + 1) });
    const reel = (id: string) => ({ id, kind: "session" as const, name: id, project: "shop" });
    const told: number[] = [];
    const calls = await everyCall({ graph } as unknown as Store, [reel("a"), reel("gone"), reel("b")], (n) => told.push(n));
    expect(calls.map((c) => [c.reel, c.model, c.project])).toEqual([["a", "a", "shop"], ["a", "b", "shop"], ["b", "a", "shop"], ["b", "b", "shop"]]);
    expect(told).toEqual([1, 2, 3]);
  });
});

describe("the words of a site", () => {
  const index = { reels: ["a", "b", "c"], words: { "0": "apple tart", "0,1": "pear", "2": "straßenbahn", "1,2": "x".repeat(32) } };
  it("tell where something may stand", () => {
    expect([...candidates(index, "PEA")!]).toEqual(["a", "b"]);
    expect([...candidates(index, "pear & tart")!]).toEqual(["a"]);
    expect([...candidates(index, "pear straße")!]).toEqual([]);
    expect([...candidates(index, "x".repeat(90))!]).toEqual(["b", "c"]);
  });
  it("tell nothing of signs", () => {
    expect(candidates(index, "=> (")).toBeNull();
  });
});
