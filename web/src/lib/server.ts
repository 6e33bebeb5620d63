// The data of a running `unspool view`.
import type { Card, Found, Graph, Grown, Home, MessageCard, Original, Picture, RequestPage, ToolPage, Transcript } from "../types.gen";
import type { CacheReport } from "../types.gen";
import { compressed, Recent, remembered, type Place, type Store } from "./store";

export class NotFound extends Error {}

async function get<T>(path: string, values: Record<string, string | number> = {}): Promise<T> {
  const query = new URLSearchParams(Object.entries(values).map(([k, v]) => [k, String(v)])).toString();
  const answer = await fetch(`api/${path}${query ? `?${query}` : ""}`).catch(() => {
    throw new Error("unspool does not run any more: start `unspool view` again");
  });
  if (answer.ok) return (await answer.json()) as T;
  const told = await answer.text();
  let reason = told;
  try {
    reason = (JSON.parse(told) as { error: string }).error;
  } catch {
    // no JSON: the text itself is the reason
  }
  throw answer.status === 404 ? new NotFound(reason) : new Error(reason);
}

const CHUNK = 200;

/** What one tab tells the others. */
type News = { kind: "grown"; grown: Grown } | { kind: "home" } | { kind: "state"; connected: boolean } | { kind: "who" };

export class ServerStore implements Store {
  private kept = new Map<string, { messages: Recent<string, MessageCard>; requests: Recent<string, Promise<RequestPage>> }>();

  private of(reel: string) {
    let kept = this.kept.get(reel);
    if (!kept) this.kept.set(reel, (kept = { messages: new Recent(2000), requests: new Recent(100) }));
    return kept;
  }
  forget(reel: string): void {
    this.kept.delete(reel); // the messages too: their ids are numbers, and a file that was replaced begins anew
  }
  home = (): Promise<Home> => get("home");
  graph = (reel: string, start: number): Promise<Graph> => get(`reels/${reel}/graph`, { start });
  request(reel: string, id: string): Promise<RequestPage> {
    const { requests } = this.of(reel);
    return remembered(requests, id, () => get(`reels/${reel}/request`, { id }));
  }
  async messages(reel: string, ids: string[]): Promise<MessageCard[]> {
    const { messages } = this.of(reel);
    const missing = [...new Set(ids.filter((id) => !messages.get(id)))];
    const got = new Map<string, MessageCard>();
    for (let i = 0; i < missing.length; i += CHUNK) {
      const part = compressed(missing.slice(i, i + CHUNK));
      for (const m of await get<MessageCard[]>(`reels/${reel}/messages`, { ids: part })) {
        got.set(m.id, m);
        messages.set(m.id, m);
      }
    }
    return ids.flatMap((id) => got.get(id) ?? messages.get(id) ?? []);
  }
  async message(reel: string, id: string): Promise<MessageCard | null> {
    return (await get<MessageCard[]>(`reels/${reel}/message`, { id }))[0] ?? null;
  }
  tools = (reel: string, ids: string[]): Promise<ToolPage[]> =>
    ids.length ? get(`reels/${reel}/tools`, { ids: ids.join(",") }) : Promise.resolve([]);
  cache = (reel: string, id: string): Promise<CacheReport> => get(`reels/${reel}/cache`, { id });
  async original(reel: string, id: string): Promise<Original | null> {
    try {
      return await get(`reels/${reel}/original`, { id });
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }
  pictures(reel: string, place: Place): Promise<Picture[]> {
    if ("card" in place) return get(`reels/${reel}/pictures`, { card: place.card });
    return get(`reels/${reel}/pictures`, { id: place.id, at: place.at, ...(place.answer ? { answer: 1 } : {}) });
  }
  transcript = (reel: string, at: string | null, start: number, name: string | null = null): Promise<Transcript> =>
    get(`reels/${reel}/transcript`, { at: at ?? "", start, name: name ?? "" });
  card = (reel: string, at: string | null, number: number): Promise<Card | null> =>
    get(`reels/${reel}/card`, { at: at ?? "", number });
  search = (q: string, reel: string | null): Promise<Found> => get("search", { q, reel: reel ?? "" });

  live(grown: (g: Grown) => void, home: () => void, state: (connected: boolean) => void): void {
    // A browser holds six connections to a server, so all tabs share one: whoever has the lock listens, and tells the others.
    const others = new BroadcastChannel("unspool-live");
    let connected: boolean | null = null; // of the one who listens
    const hear = (news: News): void => {
      if (news.kind === "grown") grown(news.grown);
      else if (news.kind === "home") home();
      else if (news.kind === "state") state(news.connected);
    };
    const tell = (news: News): void => {
      hear(news);
      others.postMessage(news);
    };
    others.addEventListener("message", (e: MessageEvent<News>) => {
      if (e.data.kind !== "who") hear(e.data);
      else if (connected !== null) others.postMessage({ kind: "state", connected } satisfies News);
    });
    others.postMessage({ kind: "who" } satisfies News);
    const listen = (): void => {
      const source = new EventSource("api/live");
      const told = (now: boolean): void => tell({ kind: "state", connected: (connected = now) });
      source.addEventListener("open", () => told(true));
      source.addEventListener("error", () => told(false));
      source.addEventListener("grown", (e) => tell({ kind: "grown", grown: JSON.parse((e as MessageEvent<string>).data) as Grown }));
      source.addEventListener("home", () => tell({ kind: "home" }));
    };
    void navigator.locks.request("unspool-live", () => {
      listen();
      return new Promise<void>(() => {}); // until the tab is closed
    });
  }
}
