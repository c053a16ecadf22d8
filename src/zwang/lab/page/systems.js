// The list of systems, by category, each with its picture; and the model's text.

import { colour, make, part } from "./elements.js";
import { Frame, paintScene, prepare } from "./painter.js";

export const palette = (element) => ({
  ink: colour("ink", element), quiet: colour("quiet", element), accent: colour("accent", element),
  fill: colour("fill", element), paper: colour("paper", element), problem: colour("problem", element),
});

export const systemsPart = (view, choose) => {
  const own = part("systems");
  const buttons = new Map();
  const search = make("input", { type: "search", name: "search", placeholder: "Search", "aria-label": "search systems",
    oninput: () => filter() });
  const list = make("div", { class: "list", tabindex: "0", role: "group", "aria-label": "systems of the gallery" });
  own.body.append(search, list);
  const groups = [];
  for (const [category, title] of Object.entries(view.categories)) {
    const members = [...view.systems.values()].filter((item) => item.category === category);
    if (!members.length) continue;
    const group = make("div", { "data-category": category, role: "group", "aria-label": title },
      make("h3", { text: title }));
    for (const item of members) {
      const canvas = make("canvas", { class: "thumb", "aria-hidden": "true" });
      const button = make("button", { type: "button", "data-system": item.name, class: "system", onclick: () => choose(item.name) },
        canvas, make("span", {}, make("b", { text: item.name.replace(/_/g, " ") }), make("small", { text: item.title })));
      buttons.set(item.name, { button, canvas, item });
      group.append(button);
    }
    groups.push(group);
    list.append(group);
  }
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { button, item } of buttons.values()) {
      const text = `${item.name} ${item.title} ${item.source}`.toLowerCase();
      button.hidden = !words.every((word) => text.includes(word));
    }
    for (const group of groups) group.hidden = ![...group.querySelectorAll("button")].some((button) => !button.hidden);
  };
  const thumbs = () => {
    const colours = palette(own.element);
    for (const { canvas, item } of buttons.values()) {
      if (!item.scene) continue;
      const { pen, width, height } = prepare(canvas, 36);
      paintScene(pen, new Frame(item.scene.box, width, height, 2), item.scene, { colours, small: true });
    }
  };
  view.on("model", () => {
    for (const [name, { button }] of buttons) {
      if (view.text === null && name === view.model.name) {
        button.setAttribute("aria-current", "true");
        if (button.offsetTop) list.scrollTop = Math.max(0, button.offsetTop - list.offsetTop - 120);
      }
      else button.removeAttribute("aria-current");
    }
    own.shown();
  });
  return { ...own, paint: thumbs };
};

const ALLOWED = new Set("math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msup msub msubsup mover munder munderover mtable mtr mtd".split(" "));
const KEPT = new Set("alttext display stretchy form lspace rspace separator accent width".split(" "));

// MathML of the server, element by element: nothing that is no formula gets in.
export const formula = (text) => {
  const parsed = new DOMParser().parseFromString(text.replace("<math", '<math xmlns="http://www.w3.org/1998/Math/MathML"'), "application/xml");
  const copy = (node) => {
    if (node.nodeType === 3) return document.createTextNode(node.data);
    if (node.nodeType !== 1 || !ALLOWED.has(node.localName)) return document.createTextNode("");
    const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", node.localName);
    for (const { name, value } of node.attributes) if (KEPT.has(name)) made.setAttribute(name, value);
    made.append(...[...node.childNodes].map(copy));
    return made;
  };
  return copy(parsed.documentElement);
};

export const modelPart = (view, transport, showText) => {
  const own = part("model");
  const area = make("textarea", { name: "model", spellcheck: "false", rows: "10", wrap: "off", "aria-label": "text of the model",
    "aria-describedby": "model-problem" });
  const problem = make("p", { class: "problem", id: "model-problem", role: "status", hidden: true });
  const file = make("input", { type: "file", accept: ".toml,text/plain", "aria-label": "open a model file" });
  const equations = make("dl", {});
  const marks = make("div", { class: "marks", "aria-hidden": "true" });
  own.body.append(
    make("div", { class: "equations", tabindex: "0", role: "group", "aria-label": "equations" }, equations),
    make("details", {}, make("summary", { text: "Text of the model" }),
      make("div", { class: "editor" }, marks, area), problem,
      make("label", { class: "file" }, "Open a model file ", file)));
  let timer = 0;
  const read = (text, { apply }) => {
    own.busy();
    transport.ask({ kind: "parse", text }, (told) => {
      if (!told) { own.calm(); return; }
      if (told.status === "error") {
        mark(told.line || 1, told.message);
        own.shown("", true);
        return;
      }
      mark(0, "");
      if (apply && text === area.value) showText(told.model, text, told.equations);
      own.shown(told.model.missing.length ? `No value is given for ${told.model.missing.join(", ")}: 1 stands in.` : "");
    });
  };
  const mark = (number, message) => {
    marks.replaceChildren();
    problem.hidden = !message;
    problem.textContent = message ? `Line ${number}: ${message}` : "";
    area.setAttribute("aria-invalid", message ? "true" : "false");
    if (!number) return;
    const bar = make("span", { "data-error-line": String(number) });
    bar.style.top = `${(number - 1) * 20 + 8 - area.scrollTop}px`;
    marks.append(bar);
  };
  area.addEventListener("scroll", () => {
    const bar = marks.firstChild;
    if (bar) bar.style.top = `${(Number(bar.dataset.errorLine) - 1) * 20 + 8 - area.scrollTop}px`;
  });
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => read(area.value, { apply: true }), 250);
  });
  const take = async (blob) => {
    if (blob.size > 100000) { mark(1, "The lab takes models of at most 100,000 bytes."); own.shown("", true); return; }
    area.value = await blob.text();
    area.closest("details").open = true;
    read(area.value, { apply: true });
  };
  file.addEventListener("change", () => { if (file.files.length) take(file.files[0]); });
  for (const kind of ["dragover", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (![...(event.dataTransfer?.types || [])].includes("Files")) return;
      event.preventDefault();
      if (kind === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
    });
  }
  const show = (rows) => {
    equations.replaceChildren(...(rows || []).flatMap((row) => {
      const cell = make("dd");
      try { cell.append(formula(row.mathml)); } catch { cell.textContent = row.text; }
      return [make("dt", { text: row.what }), cell];
    }));
  };
  return { ...own, show(told) {
    if (document.activeElement !== area) area.value = told.text;
    mark(0, "");
    show(told.equations);
    own.shown();
  }, equations: show, open: (text) => { area.value = text; read(text, { apply: true }); } };
};
