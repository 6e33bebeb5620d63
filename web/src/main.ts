import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { ServerStore } from "./lib/server";
import { PageStore } from "./lib/page";
import { State } from "./lib/state.svelte";

const store = PageStore.inside(document) ?? new ServerStore();
const target = document.getElementById("app");
if (target) mount(App, { target, props: { app: new State(store) } });
