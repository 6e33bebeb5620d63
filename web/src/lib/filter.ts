// Which requests are shown, and in which order.
import type { GraphRow } from "../types.gen";
import { all } from "./format";

export type Sort = "time" | "newest" | "cost" | "duration" | "tokens";

export interface Filter {
  text: string;
  model: string;
  agent: string;
  tool: string;
  errors: boolean;
  missed: boolean;
}

export const NO_FILTER: Filter = { text: "", model: "", agent: "", tool: "", errors: false, missed: false };

export function isActive(f: Filter): boolean {
  return !!(f.text.trim() || f.model || f.agent || f.tool || f.errors || f.missed);
}

export function keeps(f: Filter, row: GraphRow): boolean {
  if (f.model && row.model !== f.model) return false;
  if (f.agent && (row.agent ?? "") !== f.agent) return false;
  if (f.tool && !(row.tools ?? []).includes(f.tool)) return false;
  if (f.errors && !row.error && !row.failed) return false;
  if (f.missed && !row.missed) return false;
  const text = f.text.trim().toLowerCase();
  if (!text) return true;
  const told = `${row.title} ${row.does ?? ""} ${row.id} ${row.error ?? ""} ${row.label ?? ""} ${(row.tools ?? []).join(" ")}`;
  const lower = told.toLowerCase();
  return text.split(/\s+/).every((word) => lower.includes(word));
}

export function sorted(rows: GraphRow[], kept: number[], sort: Sort): number[] {
  if (sort === "time") return kept;
  if (sort === "newest") return [...kept].reverse();
  const value = (i: number): number => {
    const row = rows[i]!;
    if (sort === "cost") return row.cost ?? -1;
    if (sort === "duration") return row.duration ?? -1;
    return all(row.usage);
  };
  return [...kept].sort((a, b) => value(b) - value(a) || a - b);
}

export function options(rows: GraphRow[]): { models: string[]; agents: string[]; tools: string[] } {
  const models = new Set<string>();
  const agents = new Set<string>();
  const tools = new Set<string>();
  for (const row of rows) {
    if (row.model) models.add(row.model);
    if (row.agent) agents.add(row.agent);
    for (const tool of row.tools ?? []) tools.add(tool);
  }
  const list = (set: Set<string>): string[] => [...set].sort((a, b) => a.localeCompare(b));
  return { models: list(models), agents: list(agents), tools: list(tools) };
}
