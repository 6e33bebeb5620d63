// Where the data comes from: a server, or the page itself.
import type {
  CacheReport,
  Card,
  Found,
  Graph,
  Grown,
  Home,
  MessageCard,
  Original,
  Picture,
  RequestPage,
  ToolPage,
  Transcript,
} from "../types.gen";

export type Place = { id: string; at: number; answer: boolean } | { card: string };

export interface Store {
  home(): Promise<Home>;
  graph(reel: string, start: number): Promise<Graph>;
  request(reel: string, id: string): Promise<RequestPage>;
  messages(reel: string, ids: string[]): Promise<MessageCard[]>;
  message(reel: string, id: string): Promise<MessageCard | null>;
  tools(reel: string, ids: string[]): Promise<ToolPage[]>;
  cache(reel: string, id: string): Promise<CacheReport | null>;
  original(reel: string, id: string): Promise<Original | null>;
  pictures(reel: string, place: Place): Promise<Picture[]>;
  transcript(reel: string, at: string | null, start: number, name?: string | null): Promise<Transcript>;
  card(reel: string, at: string | null, number: number): Promise<Card | null>;
  search(words: string, reel: string | null): Promise<Found>;
  forget(reel: string): void; // something of it changed
  live(grown: (g: Grown) => void, home: () => void, state: (connected: boolean) => void): void;
}

/** A map that holds no more than so many, the newest. */
export class Recent<K, V> {
  private map = new Map<K, V>();
  constructor(private most: number) {}
  get(key: K): V | undefined {
    return this.map.get(key);
  }
  set(key: K, value: V): V {
    this.map.delete(key);
    this.map.set(key, value);
    if (this.map.size > this.most) this.map.delete(this.map.keys().next().value as K);
    return value;
  }
  delete(key: K): void {
    this.map.delete(key);
  }
  clear(): void {
    this.map.clear();
  }
}

/** The answer that is known, or that comes. One that failed is forgotten: who asks again may have more luck. */
export function remembered<K, V>(known: Recent<K, Promise<V>>, key: K, ask: () => Promise<V>): Promise<V> {
  const before = known.get(key);
  if (before) return before;
  const asked = known.set(key, ask());
  asked.catch(() => known.delete(key));
  return asked;
}

/** m1 m2 m3 m9 → "m1-m3,m9" */
export function compressed(ids: string[]): string {
  const parts: string[] = [];
  for (let i = 0; i < ids.length; ) {
    const first = /^m(\d+)$/.exec(ids[i]!);
    let end = i;
    if (first) while (end + 1 < ids.length && ids[end + 1] === `m${Number(first[1]) + (end + 1 - i)}`) end++;
    parts.push(end - i > 1 ? `${ids[i]}-${ids[end]}` : ids.slice(i, end + 1).join(","));
    i = end + 1;
  }
  return parts.join(",");
}
