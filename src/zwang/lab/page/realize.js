// A constraint made of a spring or of friction, beside the ideal one.

import { make, part, short, table, written } from "./elements.js";
import { plot } from "./plots.js";

export const realizePart = (view, transport) => {
  const own = part("realize");
  const constraint = make("select", { name: "constraint", "aria-label": "constraint to realize" });
  const by = make("select", { name: "by", "aria-label": "realized by" }, make("option", { value: "stiffness", text: "a stiff spring" }), make("option", { value: "viscosity", text: "strong friction" }));
  const strength = make("input", { type: "range", name: "strength", min: "1", max: "7", step: "0.1", value: "3", "data-scale": "log", "aria-label": "strength, decimal logarithm" });
  const clock = make("output", { text: "N = 1000" });
  const orders = make("button", { type: "button", "data-action": "orders", text: "Measure the orders", onclick: () => ask(false, true) });
  const plots = make("div", { class: "plots" });
  const rows = make("details", {}, make("summary", { text: "Table" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "orders of the limit" }));
  own.body.append(make("div", { class: "row controls" }, make("label", {}, "make ", constraint), make("label", {}, " of ", by)),
    make("div", { class: "row" }, strength, clock), make("p", { class: "row" }, orders), plots, rows);
  let charts = [];

  const build = () => {
    const names = view.model.constraints.filter((item) => item.kind !== "friction").map((item) => item.name);
    constraint.replaceChildren(...names.map((name) => make("option", { value: name, text: name })));
    for (const item of [constraint, by, strength, orders]) item.disabled = !names.length;
    by.value = view.model.constraints.some((item) => item.level === "position") ? "stiffness" : "viscosity";
    for (const item of charts) item.destroy();
    charts = [];
    plots.replaceChildren();
    rows.lastChild.replaceChildren(table("Differences", ["quantity", "value"], []));
    own.shown(names.length ? "" : "This system has no constraint to realize.");
    label();
  };
  const label = () => {
    clock.textContent = `${by.value === "stiffness" ? "N" : "ρ"} = ${short(10 ** Number(strength.value))}`;
    strength.setAttribute("aria-valuetext", clock.textContent);
  };
  const ask = (follow, full = false) => {
    if (constraint.disabled || !constraint.value) return;
    label();
    own.busy();
    transport.ask({ kind: "realize", ...view.whose(), constraint: constraint.value, by: by.value, strength: Number(strength.value), until: Math.min(view.until, 2), orders: full }, show, { follow });
  };
  const column = (frame, k) => Array.from({ length: frame.rows }, (_, i) => { const value = frame.data[i * frame.columns + k]; return Number.isFinite(value) ? value : null; });
  const show = (told, frames) => {
    if (!told) { own.calm(); return; }
    if (told.status === "error") { own.element.classList.add("stale"); own.shown(told.message, true); return; }
    own.element.classList.remove("stale");
    for (const item of charts) item.destroy();
    charts = [];
    plots.replaceChildren();
    const frame = frames[0], x = column(frame, 0).map((t) => t + told.t0), names = view.model.coordinates;
    const put = (options) => { const holder = make("div", { class: "plot" }); plots.append(holder); charts.push(plot(holder, options)); };
    put({ title: "Ideal and realized (dashed)", x, lines: names.map((name, k) => ({ label: written(name), values: column(frame, 1 + k), other: column(frame, 1 + names.length + k) })) });
    if (frame.columns > 1 + 2 * names.length) put({ title: "Force, and its weak limit", unit: "N", x, lines: [{ label: "limit", values: column(frame, frame.columns - 2) }, { label: "realized", values: column(frame, frame.columns - 1) }] });
    if (told.orders.length && frames[1]) put({ title: "Errors, decimal logarithms", x: column(frames[1], 0), xLabel: "log N", lines: told.orders.map((item, k) => ({ label: item.quantity, values: column(frames[1], 1 + k), points: true })) });
    rows.lastChild.replaceChildren(table("Differences", ["quantity", "value"], [["largest difference of a coordinate", told.difference], ...told.orders.map((item) => [`order of ${item.quantity}`, `${short(item.order)} ± ${short(item.uncertainty)}`])]));
    own.shown([told.sentence, ...told.notes, told.verdict || ""].join(" ").trim());
    if (told.status === "part") own.busy();
  };
  constraint.addEventListener("change", () => ask(false));
  by.addEventListener("change", () => ask(false));
  strength.addEventListener("input", () => ask(true));
  view.on("model", build);
  new ResizeObserver(() => { for (const item of charts) item.resize(); }).observe(plots);
  return { ...own, ask };
};
