// The page: puts the parts together and keeps them in step. The same module is the widget of a notebook.

import { drawingPart } from "./drawing.js";
import { make } from "./elements.js";
import { keySheet } from "./keys.js";
import { mapPart } from "./map.js";
import { motionParts } from "./motion.js";
import { papersPart } from "./papers.js";
import { parametersPart } from "./parameters.js";
import { reactionsPart } from "./reactions.js";
import { realizePart } from "./realize.js";
import { spacePart } from "./space.js";
import { fragmentOf, modelIn, View } from "./state.js";
import { modelPart, systemsPart } from "./systems.js";
import { takePart } from "./take.js";
import { recordedWire, socketWire, Transport, widgetWire } from "./transport.js";

const TOUR = [
  ["Choose a system", "Each is a place where the equations of Lagrange stop giving one answer.", "systems"],
  ["Drag it", "Take a point of the mechanism and pull; it moves along its configuration space.", "drawing"],
  ["Ask it", "The cards list every motion that the laws allow right here.", "reactions"],
  ["Let it move", "Press Space. Where the motion stops, choose how it goes on.", "motion"],
  ["Take it away", "What you see is also a script, a model file, a film or a link.", "take"],
];

export class FrameStats {
  constructor() { this.frames = 0; this.longest = 0; this.last = null; }
  start(stamp) { this.last = stamp; }
  frame(stamp) {
    this.frames += 1;
    if (this.last !== null) this.longest = Math.max(this.longest, stamp - this.last);
    this.last = stamp;
  }
  take() {
    const found = { frames: this.frames, longest_gap_ms: this.longest };
    this.frames = 0;
    this.longest = 0;
    return found;
  }
}

// first: {systems, categories}; start: {system} or {text}; query: what an address restores.
export const mount = (root, wire, first, start, { query = new URLSearchParams(), address = null, tour = false, alone = false, three = async () => null } = {}) => {
  const view = new View(first.systems, first.categories), transport = new Transport(wire), stats = new FrameStats();
  root.classList.add("lab");
  root.classList.toggle("alone", alone); // one system, in the column of a notebook
  const choose = (name) => {
    const model = view.systems.get(name);
    if (model) { awaited = null; view.show(model); opened(); }
  };

  // --- what happens when something changes ---
  const opened = () => {
    transport.ask({ kind: "open", ...source() }, (told) => {
      if (told && told.status === "done") model.show(told);
      else if (told) model.shown(told.message, true);
    });
    everything({ follow: false });
    parameters.critical();
    changedAddress();
  };
  const source = () => (view.text === null ? { system: view.model.name } : { text: view.text });
  const everything = ({ follow }) => {
    reactions.ask({ follow });
    motion.ask(follow);
    space.ask(follow);
    map.ask(follow);
    take.script();
  };
  const settled = (told, { time = null } = {}) => {
    view.told = told;
    if (time === null) {
      const { t, ...state } = told.state;
      view.state = state;
      view.was = { ...told.params };
      drawing.settle(told);
      drawing.shown(told.carried || "");
      space.paint();
      map.paint();
      changedAddress();
    }
    reactions.show(told);
    drawing.paint();
  };
  const carried = (told, { follow }) => {
    settled(told);
    motion.ask(true);
    if (!follow) take.script();
  };
  let timer = 0, fragment = "", awaited = null; // awaited: what an address restores once its model is there
  const changedAddress = () => { // at most a few times a second: browsers limit it
    clearTimeout(timer);
    timer = setTimeout(() => { if (address) address(view.query(), fragment); }, 120);
  };
  view.on("model", () => {
    const { text } = view;
    fragment = "";
    if (text !== null) fragmentOf(text).then((found) => { if (view.text === text) { fragment = found; changedAddress(); } }, () => { /* an old browser */ });
  });
  const restore = (given) => {
    view.restore(given);
    view.emit("restored");
    motion.until(view.until);
    map.restored();
  };

  // --- the parts ---
  const systems = systemsPart(view, choose);
  const model = modelPart(view, transport, (found, text, rows) => { view.show(found, text); model.equations(rows); if (awaited) restore(awaited); awaited = null; everything({ follow: false }); parameters.critical(); changedAddress(); });
  const parameters = parametersPart(view, transport, { changed: () => take.script() });
  const drawing = drawingPart(view, transport, { carried, three });
  const space = spacePart(view, transport);
  const reactions = reactionsPart(view, transport, { settled });
  const map = mapPart(view, transport);
  const motion = motionParts(view, transport, drawing, { stats, instant: (time) => { if (time > 0) reactions.ask({ follow: true, time }); else reactions.ask({ follow: true }); } });
  const realize = realizePart(view, transport);
  const papers = papersPart(view, transport, choose);
  const link = () => `${location.origin}${location.pathname}?${view.query()}${fragment}`;
  const take = takePart(view, transport, drawing, { address: link });

  view.on("params", ({ follow = false } = {}) => { everything({ follow }); changedAddress(); });
  view.on("state", () => { everything({ follow: false }); changedAddress(); });
  view.on("problem", (message) => { drawing.shown(message, true); });
  view.on("released", () => { motion.ask(false); take.script(); });
  view.on("moved", () => space.paint());
  for (const topic of ["time", "until", "axes", "path"]) view.on(topic, changedAddress);
  for (const topic of ["until", "path"]) view.on(topic, () => take.script());

  const sheet = keySheet(root, { toggle: motion.toggle, frames: motion.frames, jump: motion.jump, faster: motion.faster, seek: motion.seek, compare: motion.compare, reset: () => view.reset(), solution: reactions.choose });
  const title = make("p", { class: "shown", "aria-live": "polite" });
  const keys = make("button", { type: "button", text: "Keys", onclick: sheet.show });
  const column = (name, ...parts) => make("div", { class: `column ${name}` }, ...parts.map((item) => item.element));
  root.append(
    // In a notebook banner and main part are the notebook's own.
    make(alone ? "div" : "header", { class: "top" }, make(alone ? "h2" : "h1", { class: "name", text: "zwang lab" }), title, keys),
    ...(tour ? [tourStrip(root)] : []),
    make(alone ? "div" : "main", { class: "main" },
      column("left", systems, parameters, model),
      column("middle", drawing, motion.motion, realize),
      column("right", reactions, space, map, motion.events),
      column("below", take, papers)));
  view.on("model", () => { title.textContent = `${view.model.title}. ${view.model.source}.`; });

  // --- the first view ---
  const name = query.get("system");
  if (start.text !== undefined && first.systems.length === 1) {
    view.show(first.systems[0], start.text);
    opened();
  } else if (start.text !== undefined && !name) {
    view.show(view.systems.get(first.systems.some((item) => item.name === "painleve_rod") ? "painleve_rod" : first.systems[0].name));
    awaited = query;
    model.open(start.text);
  } else {
    view.show(view.systems.get(name) || view.systems.get(start.system) || first.systems[0]);
    restore(query);
    drawing.paint();
    opened();
  }
  systems.paint();
  const recolour = () => { systems.paint(); for (const item of [drawing, space, map, motion.motion]) item.recolour(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  if (!alone) setTimeout(papers.ask, 1500);
  return { view, transport, stats, sheet, recolour };
};

const tourStrip = (root) => {
  let number = 0;
  const words = make("p", { "aria-live": "polite" });
  const strip = make("aside", { class: "tour", "aria-label": "tour" }, words);
  const end = () => { strip.remove(); try { localStorage.setItem("zwang-tour", "seen"); } catch { /* a private window */ } };
  const next = make("button", { type: "button", text: "Next", onclick: () => { number += 1; if (number >= TOUR.length) end(); else show(); } });
  const show = () => {
    const [title, sentence, name] = TOUR[number];
    words.replaceChildren(make("b", { text: `${number + 1} of ${TOUR.length}: ${title}. ` }), sentence);
    next.textContent = number === TOUR.length - 1 ? "Done" : "Next";
    if (number) root.querySelector(`[data-part=${name}]`).scrollIntoView({ block: "nearest" });
  };
  strip.append(next, make("button", { type: "button", text: "Skip", onclick: end }));
  show();
  return strip;
};

const ready = (lab) => {
  globalThis.zwang = {
    stats: () => ({ ...lab.stats.take(), pending: lab.transport.pending, superseded: lab.transport.superseded }),
    view: () => lab.view.plain(),
  };
  document.addEventListener("keydown", (event) => { if (event.target === document.body) lab.sheet.handle(event); });
  performance.mark("zwang-first-view");
  document.body.dataset.ready = "true";
};

// As a page of the server.
export const page = async () => {
  const [first, start] = await Promise.all(["first_view.json", "start.json"].map(async (name) => (await fetch(name)).json()));
  const wire = socketWire(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  const own = await modelIn(location.hash);
  let seen = false;
  try { seen = localStorage.getItem("zwang-tour") === "seen"; } catch { /* a private window */ }
  ready(mount(document.querySelector("#lab"), wire, first, own === null ? start : { text: own }, {
    query: new URLSearchParams(location.search), tour: !seen, three: () => import("./three.js"),
    address: (query, fragment) => history.replaceState(null, "", (query.size ? `?${query}` : location.pathname) + fragment),
  }));
};

// Where everything is one script, the library for solids is in it if the shown system needs it.
const packed = async () => globalThis.ZWANG_THREE || null;

// As a page without Python: everything was recorded.
export const film = (recorded) => {
  ready(mount(document.querySelector("#lab"), recordedWire(recorded.answers), recorded.first, recorded.start, { three: packed }));
};

// As a widget: the kernel answers.
export const widget = ({ model, el }) => {
  const root = document.createElement("div");
  el.append(root);
  root.setAttribute("data-lm-suppress-shortcuts", "true"); // else JupyterLab takes Enter, Space and letters for itself
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const lab = mount(root, widgetWire(model), model.get("first"), model.get("start"), { alone: true, three: packed });
  return () => { lab.transport.closed("The view was closed."); };
};

if (document.querySelector("#lab") && !globalThis.ZWANG_RECORDED && location.protocol.startsWith("http")) page();
