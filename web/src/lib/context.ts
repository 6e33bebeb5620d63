import { getContext, setContext } from "svelte";
import type { State } from "./state.svelte";

const KEY = Symbol("state");
export const provide = (state: State): State => setContext(KEY, state);
export const use = (): State => getContext<State>(KEY);
