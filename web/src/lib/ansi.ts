// Terminal output as text: colours kept, everything else that steers a terminal dropped.

export interface Run {
  text: string;
  style: string; // names of classes
}

const ESCAPES = /\x1b(?:\[([0-9;:?<=>]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-~])/g;
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]/g;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

export function plain(text: string): string {
  if (!/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(text)) return text;
  return overwritten(text.replace(ESCAPES, "")).replace(CONTROLS, "");
}

/** A carriage return alone begins the line anew: progress bars. At the end of a line it is only that: Windows. */
function overwritten(text: string): string {
  return text.includes("\r") ? text.split("\n").map(settled).join("\n") : text;
}

/** What is left of a line: its last writing, in the colours that hold by then. */
function settled(line: string): string {
  const writings = line.split("\r");
  const last = writings.findLastIndex((writing) => writing.replace(ESCAPES, "") !== "");
  return writings.map((writing, i) => (i < last ? (writing.match(ESCAPES) ?? []).join("") : writing)).join("");
}

export function runs(text: string): Run[] {
  if (!text.includes("\x1b")) return [{ text: plain(text), style: "" }];
  const found: Run[] = [];
  let style = "";
  let at = 0;
  text = overwritten(text);
  const put = (piece: string): void => {
    const clean = piece.replace(CONTROLS, "");
    if (clean) found.push({ text: clean, style });
  };
  for (const match of text.matchAll(ESCAPES)) {
    put(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") style = styled(style, match[1] ?? "");
  }
  put(text.slice(at));
  return found;
}

function styled(before: string, codes: string): string {
  const classes = new Set(before.split(" ").filter(Boolean));
  const colour = (name: string): void => {
    for (const c of classes) if (c.startsWith("ansi-fg")) classes.delete(c);
    if (name) classes.add(`ansi-fg-${name}`);
  };
  const list = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < list.length; i++) {
    const code = list[i]!;
    if (code === 0) classes.clear();
    else if (code === 1) classes.add("ansi-bold");
    else if (code === 2) classes.add("ansi-dim");
    else if (code === 22) ["ansi-bold", "ansi-dim"].forEach((c) => classes.delete(c));
    else if (code >= 30 && code <= 37) colour(COLOURS[code - 30]!);
    else if (code >= 90 && code <= 97) colour(COLOURS[code - 90]!);
    else if (code === 39) colour("");
    else if (code === 38 || code === 48) i += list[i + 1] === 5 ? 2 : 4; // more colours than we have
  }
  return [...classes].join(" ");
}
