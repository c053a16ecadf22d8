// Sliders with typed values, tables for inputs; ticks where the configuration space changes.

import { make, part, short, spoken, symbol } from "./elements.js";
import { tableField } from "./inputs.js";

export const parametersPart = (view, transport, { changed }) => {
  const own = part("parameters");
  const rows = new Map();
  const fields = make("div", { class: "fields" });
  const reset = make("button", { type: "button", "data-action": "reset", text: "Reset", onclick: () => view.reset() });
  own.body.append(fields, make("p", { class: "row" }, reset));
  let asked = 0;

  const build = () => {
    rows.clear();
    fields.replaceChildren();
    const known = Object.keys(view.params), last = (name) => (view.model.inputs || []).includes(name);
    const names = [...known.filter((name) => !last(name)), ...known.filter(last)];
    if (!names.length) fields.append(make("p", { class: "quiet", text: "This system has no parameters." }));
    const inputs = view.model.inputs || [];
    for (const name of names) {
      if (name === inputs[0]) fields.append(make("p", { class: "quiet", text: inputs.length > 1 ? "Inputs: held at a value, or as tables" : "Input: held at a value, or as a table" }));
      const { low, high, scale } = view.model.ranges[name];
      const log = scale === "log";
      const ticks = make("datalist", { id: `ticks-${name}` });
      const range = make("input", { type: "range", name, list: `ticks-${name}`, min: low, max: high, step: "any",
        "data-scale": log ? "log" : null, "data-input": inputs.includes(name) ? "true" : null, "aria-label": log ? `${name}, decimal logarithm` : name });
      const number = make("input", { type: "number", name, step: "any", "aria-label": `${name}, value` });
      const told = make("span", { class: "ticks", "aria-hidden": "true" });
      range.addEventListener("input", () => set(name, log ? 10 ** Number(range.value) : Number(range.value), true));
      range.addEventListener("change", () => changed({ follow: false }));
      range.addEventListener("keydown", (event) => nudge(event, range));
      number.addEventListener("change", () => {
        if (number.value !== "" && Number.isFinite(Number(number.value))) set(name, Number(number.value), false);
        else write(name);
      });
      const held = (follows) => { range.disabled = number.disabled = follows; };
      const given = inputs.includes(name) ? tableField(view, name, held) : null;
      const row = make("div", { class: "field" }, make("span", { class: "name" }, symbol(name)),
        make("span", { class: "slide" }, range, told), number, ticks);
      rows.set(name, { range, number, ticks, told, log, given });
      fields.append(row);
      if (given) { given.drops(row); fields.append(given.element); }
    }
    for (const name of names) write(name);
    own.shown();
  };

  // With Shift a tenth of the step.
  const nudge = (event, range) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const step = (Number(range.max) - Number(range.min)) / 100 * (event.shiftKey ? 0.1 : 1);
    range.value = String(Math.min(Number(range.max), Math.max(Number(range.min), Number(range.value) + way * step)));
    range.dispatchEvent(new Event("input"));
  };

  const set = (name, value, follow) => {
    view.setParam(name, follow ? Number(value.toPrecision(6)) : value, { follow });
    write(name, follow);
  };

  const write = (name, sliding = false) => {
    const { range, number, log, given } = rows.get(name), value = view.params[name];
    if (given) given.write();
    const place = log ? Math.log10(Math.max(value, 1e-300)) : value;
    if (!sliding) {
      if (place < Number(range.min)) range.min = String(place);
      if (place > Number(range.max)) range.max = String(place);
      range.value = String(place);
    }
    if (document.activeElement !== number) { number.value = String(Number(value.toPrecision(7))); number.title = String(value); }
    range.setAttribute("aria-valuetext", `${spoken(name)} ${short(value)}`);
  };

  // One parameter after the other, when nothing else is asked.
  const critical = () => {
    const round = ++asked;
    const tied = view.model.constraints.some((item) => item.kind === "bilateral" && item.level === "position");
    const names = tied ? [...rows.keys()].filter((name) => view.model.ranges[name].scale !== "log" && !(name in view.inputs)) : [];
    const next = () => {
      const name = names.shift();
      if (!name || round !== asked) return;
      const { low, high } = view.model.ranges[name];
      transport.ask({ kind: "critical", ...view.whose(), vary: name, low, high }, (told) => {
        if (round !== asked) return;
        if (told && told.status === "done") tick(name, told.values);
        next();
      });
    };
    next();
  };

  const tick = (name, values) => {
    const { ticks, told, range } = rows.get(name);
    ticks.replaceChildren(...values.map((item) => make("option", { value: String(item.value), label: short(item.value) })));
    told.replaceChildren(...values.map((item) => {
      const mark = make("i", { title: item.sentence });
      mark.style.left = `${100 * (item.value - Number(range.min)) / (Number(range.max) - Number(range.min))}%`;
      return mark;
    }));
    if (values.length) own.shown();
  };

  view.on("model", build);
  view.on("restored", () => { for (const name of rows.keys()) write(name); });
  view.on("params", () => { for (const name of rows.keys()) write(name, document.activeElement === rows.get(name).range); own.shown(); });
  return { ...own, critical };
};
