// Numbers and times as people read them; exact values go into titles.
import type { GraphRow, Usage } from "../types.gen";

export function tokens(n: number | null | undefined): string {
  if (n == null) return "";
  const sign = n < 0 ? "−" : "";
  const a = Math.abs(n);
  for (const [size, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (a >= size - size / 20_000) return `${sign}${(a / size).toFixed(a >= 100 * size ? 0 : 1)}${letter}`;
  }
  return sign + String(a);
}

/** An amount, with `≥` before a sum that leaves out what has no price, and `~` before an agent's own estimate. */
export function money(n: number | null | undefined, isPart = false, isEstimate = false): string {
  if (n == null) return "";
  const amount = isPart && n < 0.00005 ? "$0" : plain(n);
  return `${isPart ? "≥ " : ""}${isEstimate ? "~" : ""}${amount}`;
}

function plain(n: number): string {
  if (n === 0) return "$0";
  if (n >= 100) return `$${Math.round(n).toLocaleString("en")}`;
  if (n >= 0.095) return `$${n.toFixed(2)}`;
  return n < 0.00005 ? "<$0.0001" : `$${n.toFixed(n < 0.00095 ? 4 : 3)}`;
}

/** Whether a call used more than its cost tells: it has no price, or nobody counted its tokens. */
export const isUnpriced = (r: GraphRow): boolean => r.cost == null && (all(r.usage) > 0 || !!r.uncounted);
/** What the marks of an amount mean, for its title. */
export function meaning(isPart: boolean, isEstimate: boolean): string | undefined {
  const part = isPart ? "without calls that have no known price" : "";
  return [isEstimate ? "with the agent's own estimates" : "", part].filter(Boolean).join(", ") || undefined;
}

export function duration(ms: number | null | undefined): string {
  if (ms == null) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 100) return `${Math.round(s)} s`;
  const minutes = s / 60;
  if (minutes < 100) return `${Math.round(minutes)} min`;
  const hours = minutes / 60;
  return hours < 72 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} d`;
}

export function bytes(n: number): string {
  for (const [size, letter] of [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "KB"],
  ] as const) {
    if (n >= size) return `${(n / size).toFixed(n >= 10 * size ? 0 : 1)} ${letter}`;
  }
  return `${n} B`;
}

const DAY = 86_400_000;

export function when(ms: number | null | undefined, now = Date.now()): string {
  if (ms == null) return "";
  const d = new Date(ms);
  const clock = d.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (ms >= midnight && ms < midnight + DAY) return `today ${clock}`;
  if (ms >= midnight - DAY && ms < midnight) return `yesterday ${clock}`;
  const day = d.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(d.getFullYear() === new Date(now).getFullYear() ? {} : { year: "numeric" }),
  });
  return `${day} ${clock}`;
}

export function exactly(ms: number | null | undefined): string {
  return ms == null ? "" : new Date(ms).toLocaleString("en-GB", { timeZoneName: "short", hour12: false });
}

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** About how many lines a text takes on a screen: one of them may be very long. */
export function rowsOf(text: string, lines: number | null | undefined): number {
  return Math.max(lines ?? 1, Math.ceil(text.length / 110));
}

export function prompt(usage: Usage | null | undefined): number {
  return usage ? (usage.input ?? 0) + (usage.cache_read ?? 0) + (usage.cache_write ?? 0) : 0;
}

export function all(usage: Usage | null | undefined): number {
  return prompt(usage) + (usage?.output ?? 0);
}

export function add(a: Usage, b: Usage | null | undefined): Usage {
  if (!b) return a;
  return {
    input: (a.input ?? 0) + (b.input ?? 0),
    cache_read: (a.cache_read ?? 0) + (b.cache_read ?? 0),
    cache_write: (a.cache_write ?? 0) + (b.cache_write ?? 0),
    output: (a.output ?? 0) + (b.output ?? 0),
    reasoning: (a.reasoning ?? 0) + (b.reasoning ?? 0),
    cache_write_1h: (a.cache_write_1h ?? 0) + (b.cache_write_1h ?? 0),
  };
}

/** A tool and its file, as in a row: of a long path its end tells which file it is. */
export function near(title: string): string {
  return title.replace(/(^|· )(\S+) ((?:[A-Za-z]:|~)?[\\/]\S{30,})/g, (_all, before: string, tool: string, path: string) => {
    const parts = path.split(/[\\/]/);
    return `${before}${tool} ${parts.length > 4 ? ["…", ...parts.slice(-3)].join(path.includes("/") ? "/" : "\\") : path}`;
  });
}

/** The first line of a text; where that is only how a list or an object opens, what is in it too. */
export function headOf(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return (/[[{(]$/.test(line) ? text.trim().slice(0, 300).replace(/\s+/g, " ") : line).replace(/\*\*/g, "");
}

/** Nothing where nothing is known: that is not 0. */
export function sumOf(values: (number | null | undefined)[]): number | null {
  const known = values.filter((v): v is number => v != null);
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

const short = new Map<string, string>();

/** A model's name without its vendor and its date. There are few of them, and many rows: so each is worked out once. */
export function shortly(model: string): string {
  const known = short.get(model);
  if (known !== undefined) return known;
  const made = model.replace(/^.*\//, "").replace(/^claude-/, "").replace(/[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|preview)$/, "");
  short.set(model, made);
  return made;
}
