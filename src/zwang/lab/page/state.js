// What is shown: the system, its parameters and state, the motion and its time; and who wants to know of changes.

import { tableOf, tableText } from "./inputs.js";

// A model of one's own travels in the fragment of an address, which no server gets to see.
const MODEL = "#model=";
const MOST = 100000; // bytes of a model, and of what a foreign address may unfold to
const through = async (bytes, way) => {
  const parts = [];
  let size = 0;
  for (const reader = new Blob([bytes]).stream().pipeThrough(way).getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).arrayBuffer();
    parts.push(value);
    size += value.length;
    if (size > MOST) { reader.cancel(); throw new RangeError("longer than a model may be"); }
  }
};

export const fragmentOf = async (text) => {
  const bytes = new Uint8Array(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw")));
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return MODEL + letters.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
};

// The text in a fragment; null where there is none, or none that can be read.
export const modelIn = async (fragment) => {
  if (!fragment.startsWith(MODEL)) return null;
  try {
    const letters = atob(fragment.slice(MODEL.length).replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder().decode(await through(Uint8Array.from(letters, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw")));
  } catch { return null; }
};

export class View {
  constructor(systems, categories) {
    this.systems = new Map(systems.map((item) => [item.name, item]));
    this.categories = categories;
    this.model = null; // description of the shown system
    this.text = null; // of a model of one's own, else null
    this.params = {};
    this.state = {};
    this.was = {}; // the parameters at which the state was right
    this.inputs = {}; // tables that inputs follow; the others are held at their parameters
    this.until = 10;
    this.t = 0;
    this.path = []; // what was chosen where the motion stopped
    this.axes = null; // of the map
    this.mapping = "counts"; // what the map shows
    this.told = null; // the last reactions
    this.chosen = 0; // which solution is in colour
    this.listeners = new Map();
  }

  on(topic, listener) {
    this.listeners.set(topic, [...(this.listeners.get(topic) || []), listener]);
  }

  emit(topic, detail) {
    for (const listener of this.listeners.get(topic) || []) listener(detail);
  }

  // What every request about the shown system carries.
  whose() {
    const source = this.text === null ? { system: this.model.name } : { text: this.text };
    const tables = Object.keys(this.inputs).length ? { inputs: this.inputs } : {};
    return { ...source, params: this.params, state: this.state, was: this.was, ...tables };
  }

  show(model, text = null) {
    this.model = model;
    this.text = text;
    this.params = { ...model.params };
    this.state = { ...model.state };
    this.was = { ...model.params };
    this.inputs = {};
    this.until = model.until;
    this.t = 0;
    this.path = [];
    this.axes = null;
    this.told = null;
    this.chosen = 0;
    this.emit("model");
  }

  setParam(name, value, options = {}) {
    this.params = { ...this.params, [name]: value };
    this.path = [];
    this.emit("params", options);
  }

  // A table for an input, or null: held again.
  setInput(name, table) {
    const { [name]: before, ...others } = this.inputs;
    if (!before && !table) return;
    this.inputs = table ? { ...others, [name]: table } : others;
    this.path = [];
    this.emit("params", {});
  }

  setState(change, options = {}) {
    const state = { ...this.state, ...change };
    delete state.t;
    this.state = state;
    this.path = [];
    this.t = 0;
    this.emit("state", options);
  }

  reset() {
    this.params = { ...this.model.params };
    this.state = { ...this.model.state };
    this.was = { ...this.model.params };
    this.inputs = {};
    this.until = this.model.until;
    this.path = [];
    this.t = 0;
    this.emit("params", { reset: true });
  }

  // The address: only what differs from the gallery.
  query() {
    const found = new URLSearchParams();
    if (!this.model) return found;
    if (this.text === null) found.set("system", this.model.name);
    for (const [name, value] of Object.entries(this.params)) {
      if (value !== this.model.params[name]) found.set(`p.${name}`, String(value));
    }
    for (const [name, value] of Object.entries(this.state)) {
      if (name !== "t" && value !== this.model.state[name]) found.set(`s.${name}`, String(value));
    }
    for (const [name, table] of Object.entries(this.inputs)) found.set(`i.${name}`, tableText(table));
    if (this.t) found.set("t", String(Number(this.t.toPrecision(9))));
    if (this.until !== this.model.until) found.set("until", String(this.until));
    if (this.path.length) found.set("go", this.path.join(","));
    if (this.axes) found.set("map", this.axes.join(","));
    if (this.mapping !== "counts") found.set("mapping", this.mapping);
    return found;
  }

  restore(query) {
    const number = (text) => (text !== null && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : null);
    for (const [key, text] of query) {
      const value = number(text), name = key.slice(2), rows = key.startsWith("i.") ? tableOf(text) : null;
      if (rows && (this.model.inputs || []).includes(name)) this.inputs = { ...this.inputs, [name]: rows };
      if (value === null) continue;
      if (key.startsWith("p.") && name in this.params) this.params = { ...this.params, [name]: value };
      if (key.startsWith("s.") && name in this.state) this.state = { ...this.state, [name]: value };
    }
    // The link was made of a state that was right at these parameters.
    if ([...query.keys()].some((key) => key.startsWith("s."))) this.was = { ...this.params };
    const until = number(query.get("until"));
    if (until !== null && until > 0) this.until = until;
    const t = number(query.get("t"));
    if (t !== null && t >= 0) this.t = t;
    const go = query.get("go");
    if (go && /^\d+(,\d+)*$/.test(go)) this.path = go.split(",").map(Number);
    if (query.get("mapping") === "kinds") this.mapping = "kinds";
    const map = (query.get("map") || "").split(",");
    const known = { ...this.params, ...this.state };
    if (map.length === 2 && map.every((name) => name in known) && map[0] !== map[1]) this.axes = map;
  }

  plain() {
    return { system: this.model ? this.model.name : null, params: { ...this.params }, state: { ...this.state },
      t: this.t, until: this.until };
  }
}
