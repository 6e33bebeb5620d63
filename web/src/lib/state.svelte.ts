// What the whole page knows: where we are, what was read, how it is to look.
import { flushSync } from "svelte";
import type { Graph, GraphRow, Grown, Home, Note, ReelRow } from "../types.gen";
import { NO_FILTER, type Filter, type Sort } from "./filter";
import { childrenOf, mainChildren } from "./layout";
import { format, parse, type Route, type View } from "./route";
import type { Store } from "./store";

export type Theme = "system" | "light" | "dark";

export interface Reel {
  id: string;
  version: number;
  rows: GraphRow[];
  children: number[][];
  main: number[];
  numbers: Map<string, number>;
  notes: Note[];
  noteCount: number;
  uncached: string[]; // models of which no call ever used a cache
}

export class State {
  store: Store;
  route = $state<Route>(parse(location.hash));
  home = $state.raw<Home | null>(null);
  reel = $state.raw<Reel | null>(null);
  loading = $state(false);
  failure = $state<string | null>(null);
  connected = $state(false);
  news = $state(0); // rows that came while somebody looked
  theme = $state<Theme>("system");
  filter = $state<Filter>({ ...NO_FILTER });
  sort = $state<Sort>("time");
  wanted = $state({ text: "", agent: "" }); // of the first page's list
  last: string | null = null; // the reel that was open last: there one goes on in that list
  drawer = $state(false); // narrow screens: the list is open
  searching = $state(false);
  helping = $state(false);
  opened = $state<Record<string, boolean>>({}); // cards and sections, by key
  expandAll = $state(false);
  unfolded = $state<Record<number, boolean>>({}); // runs of rows, by the first
  closed = $state<Record<number, boolean>>({}); // conversations, by root
  printing = $state(false); // then lists are whole: there is no window to scroll
  said = $state(""); // for screen readers, and as a short notice

  constructor(store: Store) {
    this.store = store;
    const kept = read("unspool-theme");
    if (kept === "light" || kept === "dark") this.theme = kept;
    addEventListener("hashchange", () => this.arrive());
    const print = (on: boolean): void => {
      this.printing = on;
      flushSync(); // the page is laid out right after
    };
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    matchMedia("print").addEventListener("change", (e) => print(e.matches));
  }

  get row(): ReelRow | null {
    return this.home?.reels.find((r) => r.id === this.route.reel) ?? null;
  }
  get selected(): number | null {
    return this.route.what == null || !this.reel ? null : (this.reel.numbers.get(this.route.what) ?? null);
  }

  async start(): Promise<void> {
    try {
      this.home = await this.store.home();
    } catch (error) {
      this.failure = String(error instanceof Error ? error.message : error);
      return;
    }
    if (this.home.live) {
      this.store.live(
        (g) => this.follow(g),
        () => void this.store.home().then((h) => (this.home = h), this.tell),
        (c) => {
          if (c && !this.connected) void this.catchUp().catch(this.tell);
          this.connected = c;
        },
      );
    }
    const only = this.home.reels.length === 1 ? this.home.reels[0] : undefined;
    if (only && !this.route.reel && this.route.view === "graph") {
      this.go({ reel: only.id, view: only.kind === "session" ? "transcript" : "graph", what: only.at ?? null }, true);
    }
    this.arrive();
  }

  /** What went wrong beside what is shown: the viewer ended, mostly. What was read stays. */
  private tell = (error: unknown): void => this.say(String(error instanceof Error ? error.message : error));

  go(route: Partial<Route>, instead = false): void {
    const hash = format(route);
    if (instead) history.replaceState(null, "", hash);
    else if (location.hash !== hash) history.pushState(null, "", hash);
    this.arrive();
  }
  view(view: View): void {
    const { reel, what, at, view: before } = this.route;
    const request = before === "graph" ? what : at;
    this.go(view === "graph" ? { reel, view, what: request } : view === "transcript" ? { reel, view, at: request } : { reel, view });
  }
  select(row: number, instead = false): void {
    const id = this.reel?.rows[row]?.id;
    if (id != null) this.go({ reel: this.route.reel, view: "graph", what: id }, instead);
  }

  private arrive(): void {
    const before = this.route;
    this.route = parse(location.hash);
    const id = this.route.reel;
    if (before.reel !== id || before.view !== this.route.view) this.drawer = false;
    this.last = id ?? this.last;
    if (this.home && this.reel?.id !== id) this.failure = null; // what could not be read was left
    if (id === null) {
      this.reel = null;
      [this.opening, this.loading] = [null, false];
    } else if (this.reel?.id !== id && this.opening !== id) void this.open(id);
  }

  private opening: string | null = null;

  private async open(id: string): Promise<void> {
    this.opening = id;
    this.loading = true;
    this.failure = null;
    this.reel = null;
    this.news = 0;
    Object.assign(this, { filter: { ...NO_FILTER }, sort: "time", unfolded: {}, closed: {}, opened: {}, expandAll: false });
    try {
      const first = await this.store.graph(id, 0);
      if (this.route.reel !== id) return;
      await this.fill(id, first, []);
      const told = this.newest.get(id) ?? 0;
      if (told > first.version) this.follow({ reel: id, version: told, kept: 0, total: first.total }); // it grew meanwhile
      this.home = await this.store.home(); // what was read has sums now
    } catch (error) {
      if (this.route.reel === id) this.failure = String(error instanceof Error ? error.message : error);
    } finally {
      if (this.opening === id) [this.opening, this.loading] = [null, false];
    }
  }

  /** The first rows at once, the others as they come. */
  private async fill(id: string, first: Graph, kept: GraphRow[]): Promise<void> {
    const rows = [...kept, ...first.rows];
    const notes = first.start === 0 ? (first.notes ?? []) : (this.reel?.notes ?? []);
    if (!kept.length || rows.length >= first.total) this.show(id, first, rows, notes);
    if (rows.length >= first.total || !first.rows.length) return;
    const starts: number[] = [];
    for (let at = rows.length; at < first.total; at += first.rows.length) starts.push(at);
    const pages = await Promise.all(starts.map((start) => this.store.graph(id, start)));
    if (this.route.reel === id) this.show(id, first, [...rows, ...pages.flatMap((p) => p.rows)], notes);
  }

  private show(id: string, page: Graph, rows: GraphRow[], notes: Note[]): void {
    const children = childrenOf(rows);
    this.reel = {
      id,
      version: page.version,
      rows,
      children,
      main: mainChildren(rows, children),
      numbers: new Map(rows.map((row, i) => [row.id, i])),
      notes,
      noteCount: page.note_count ?? 0,
      uncached: page.uncached ?? [],
    };
  }

  private newest = new Map<string, number>(); // versions of reels that were told of
  private following = Promise.resolve();
  /** One after the other: what is kept of the rows holds for those that the one before left. */
  private follow(g: Grown): void {
    this.newest.set(g.reel, g.version);
    this.following = this.following.then(() => this.grew(g)).catch(this.tell);
  }

  /** What nobody heard of, as nobody listened. */
  private async catchUp(): Promise<void> {
    const { id, rows, version } = this.reel ?? { id: null, rows: [], version: 0 };
    if (id === null) {
      this.home = await this.store.home();
      return;
    }
    const { total, version: now } = await this.store.graph(id, rows.length);
    if (now > version) this.follow({ reel: id, version: now, kept: 0, total });
  }

  private async grew(g: Grown): Promise<void> {
    if (this.reel?.id !== g.reel || this.reel.version >= g.version) return;
    const before = this.reel.rows;
    this.store.forget(g.reel);
    const kept = before.slice(0, Math.min(g.kept, before.length));
    const page = await this.store.graph(g.reel, kept.length);
    if (this.reel?.id !== g.reel) return;
    await this.fill(g.reel, { ...page, version: g.version }, kept); // what is newer still is told of next
    this.news += Math.max(0, (this.reel?.rows.length ?? 0) - before.length);
    this.home = await this.store.home();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    try {
      localStorage.setItem("unspool-theme", theme);
    } catch {
      // a page from disk may have no storage: the choice lasts as long as the page
    }
  }
  say(text: string): void {
    this.said = text;
    setTimeout(() => {
      if (this.said === text) this.said = "";
    }, 2000);
  }
  async copy(text: string, what: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say(`${what} copied`);
    } catch {
      this.say("the browser does not let us copy");
    }
  }
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
