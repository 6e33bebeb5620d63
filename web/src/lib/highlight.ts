// Code in colours. What comes out is escaped text in spans with classes.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

for (const [name, language] of Object.entries({
  bash, c, cpp, css, diff, go, ini, java, javascript, json, markdown, python, ruby, rust, sql, typescript, xml, yaml,
})) {
  hljs.registerLanguage(name, language);
}
hljs.registerAliases(["svelte", "vue"], { languageName: "xml" });

const LONGEST = 60_000;
const ENDINGS: Record<string, string> = {
  py: "python", pyi: "python", js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript",
  ts: "typescript", tsx: "typescript", sh: "bash", bash: "bash", zsh: "bash", json: "json", jsonl: "json",
  md: "markdown", html: "xml", svg: "xml", xml: "xml", svelte: "xml", vue: "xml", css: "css", scss: "css", sql: "sql",
  go: "go", rs: "rust", rb: "ruby", java: "java", kt: "java", c: "c", h: "c", cc: "cpp", cpp: "cpp", hpp: "cpp",
  yml: "yaml", yaml: "yaml", toml: "ini", ini: "ini", cfg: "ini", diff: "diff", patch: "diff",
};

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export function languageOf(path: string | null | undefined): string {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path ?? "")?.[1]?.toLowerCase() ?? "";
  return ENDINGS[ending] ?? "";
}

/** A line each, with the colours that go on from the one before. */
function linesOf(html: string): string[] {
  const open: string[] = [];
  return html.split("\n").map((line) => {
    const before = open.join("");
    for (const tag of line.match(/<span[^>]*>|<\/span>/g) ?? []) tag === "</span>" ? open.pop() : open.push(tag);
    return before + line + "</span>".repeat(open.length);
  });
}

const NUMBERED = /^ *(\d+)(?:→|\t)(.*)$/s;

/** What a tool read of a file, in its colours. Numbers that the tool wrote before its lines are those of the file. */
export function fileLines(lines: string[], language: string): { number: string; html: string }[] {
  const own: { number: string; text: string }[] = [];
  for (const line of lines) {
    const [, number, text] = NUMBERED.exec(line) ?? [];
    if (number === undefined || (own.length && Number(number) !== Number(own[own.length - 1]!.number) + 1)) break;
    own.push({ number, text: text! });
  }
  const told = own.length ? own : lines.map((text, i) => ({ number: String(i + 1), text }));
  const code = linesOf(highlighted(told.map((line) => line.text).join("\n"), language));
  const after = lines.slice(told.length).map((line) => ({ number: "", html: escaped(line) })); // said about the file
  return [...told.map(({ number }, i) => ({ number, html: code[i]! })), ...after];
}

export function highlighted(code: string, language: string): string {
  const name = language.toLowerCase();
  const known = hljs.getLanguage(name) ? name : (ENDINGS[name] ?? "");
  if (!known || code.length > LONGEST) return escaped(code);
  return hljs.highlight(code, { language: known, ignoreIllegals: true }).value;
}
