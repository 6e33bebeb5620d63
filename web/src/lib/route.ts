// Addresses: #/<reel>/<view>/<what>?more. Every request and every message has one.

export type View = "graph" | "transcript" | "usage";

export interface Route {
  reel: string | null; // null: the list
  view: View;
  what: string | null; // a request's id, or a card's key
  diff: string | null; // the other request
  at: string | null; // a request that the transcript goes through
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  const values = new URLSearchParams(query);
  const isView = (name: string | undefined): name is View => name === "graph" || name === "transcript" || name === "usage";
  const reel = isView(parts[0]) ? null : (parts[0] ?? null);
  const rest = reel === null ? parts : parts.slice(1);
  return {
    reel,
    view: isView(rest[0]) ? rest[0] : "graph",
    what: rest[1] ?? null,
    diff: values.get("diff"),
    at: values.get("at"),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand
  }
}

export function format(route: Partial<Route>): string {
  const parts = [route.reel, route.reel || route.view === "usage" ? (route.view ?? "graph") : null, route.what];
  const path = parts.filter((part): part is string => !!part).map(encodeURIComponent);
  const values = new URLSearchParams();
  if (route.diff) values.set("diff", route.diff);
  if (route.at) values.set("at", route.at);
  const query = values.toString();
  return `#/${path.join("/")}${query ? `?${query}` : ""}`;
}
