// The configuration space as a curve, with its singular points; the torus of angles is unrolled.

import { full, make, part, short, symbol, table, written } from "./elements.js";
import { Frame, prepare } from "./painter.js";
import { nearest, paintSurface } from "./surface.js";
import { palette } from "./systems.js";

const TURN = 2 * Math.PI;
const SIGNS = { crossing: "×", tangency: "≍", cusp: "≺", isolated: "·", higher: "∗", cone: "⋈" };

const FRONT = [0.5, 0.51];
const linesOf = (answer) => (answer.lines || []).length;

export const spacePart = (view, transport) => {
  const own = part("space");
  const canvas = make("canvas", { role: "img", "aria-label": "the configuration space" });
  const points = make("div", { class: "handles" });
  const stage = make("div", { class: "stage" }, canvas, points);
  const turner = make("button", { type: "button", "data-action": "turn-space", text: "Turn the surface", hidden: true, "aria-label": "turn the surface: arrow keys, or drag the picture; Enter turns it back" });
  const choice = ["x", "y", "z"].map((axis) => make("select", { name: `space-${axis}`, "aria-label": `${{ x: "horizontal", y: "vertical", z: "third" }[axis]} axis of the configuration space` }));
  const detail = make("div", { "data-detail": "singular", "aria-live": "polite" });
  const rows = make("details", {}, make("summary", { text: "Table of arcs and points" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "arcs and singular points" }));
  own.body.append(stage, make("p", { class: "row" }, ...choice, turner), detail, rows);
  let told = null, arcs = [], frame = null, colours = null, mesh = null, layer = null, turn = [...FRONT];

  for (const select of choice) select.addEventListener("change", () => { layer = null; paint(); });

  const axes = () => choice.map((select) => Math.max(0, view.model.coordinates.indexOf(select.value)));
  const wrap = (value, angle) => (angle ? value - TURN * Math.round(value / TURN) : value);

  const build = () => {
    const names = view.model.coordinates;
    choice.forEach((select, k) => {
      select.replaceChildren(...names.map((name) => make("option", { value: name, text: name })));
      select.value = names[Math.min(k, names.length - 1)];
    });
    told = mesh = layer = null;
    arcs = [];
    turn = [...FRONT];
    choice[2].hidden = turner.hidden = true;
    canvas.classList.remove("turns");
    stage.hidden = choice[0].parentNode.hidden = false;
    points.replaceChildren();
    detail.replaceChildren();
    paint();
  };

  const reach = (k) => {
    if (view.model.angles[k]) return [-Math.PI, Math.PI];
    let low = Infinity, high = -Infinity;
    for (const arc of arcs) {
      for (let i = k; i < arc.data.length; i += arc.columns) { low = Math.min(low, arc.data[i]); high = Math.max(high, arc.data[i]); }
    }
    const here = view.state[view.model.coordinates[k]];
    low = Math.min(low, here);
    high = Math.max(high, here);
    // A curve that runs away is shown where the mechanism is.
    if (high - low > 20) { low = Math.max(low, here - 6); high = Math.min(high, here + 6); }
    const room = 0.08 * (high - low) || 1;
    return [low - room, high + room];
  };

  const paint = () => {
    const height = Math.round(Math.min(Math.max(220, stage.clientWidth * 0.8), 360));
    const { pen, width } = prepare(canvas, height);
    colours = colours || palette(own.element);
    if (!view.model) return;
    if (mesh) { paintMesh(pen, width, height); return; }
    const [a, b] = axes(), [x0, x1] = reach(a), [y0, y1] = reach(b), left = 50, low = 22;
    const X = (x) => left + (x - x0) / (x1 - x0) * (width - left - 8);
    const Y = (y) => height - low - (y - y0) / (y1 - y0) * (height - low - 8);
    frame = { a, b, back: (x, y) => [x0 + (x - left) / (width - left - 8) * (x1 - x0), y0 + (height - low - y) / (height - low - 8) * (y1 - y0)], X, Y };
    pen.strokeStyle = colours.fill;
    pen.fillStyle = colours.quiet;
    pen.font = "12px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.strokeRect(left, 8, width - left - 8, height - low - 8);
    for (const [range, angle, along] of [[[x0, x1], view.model.angles[a], true], [[y0, y1], view.model.angles[b], false]]) {
      const marks = angle ? [[-Math.PI, "−π"], [0, "0"], [Math.PI, "π"]] : [[range[0], short(range[0])], [range[1], short(range[1])]];
      for (const [value, text] of marks) {
        pen.textAlign = along ? (value === range[0] ? "left" : value === range[1] ? "right" : "center") : "right";
        if (along) pen.fillText(text, X(value), height - 6);
        else pen.fillText(text, left - 4, Math.min(Math.max(Y(value) + 4, 14), height - low));
      }
      const share = angle ? 0.25 : 0.5; // between the marks
      pen.textAlign = along ? "center" : "right";
      if (along) pen.fillText(written(view.model.coordinates[a]), left + share * (width - left - 8), height - 6);
      else pen.fillText(written(view.model.coordinates[b]), left - 6, height - low - share * (height - low - 8) + 4);
    }
    pen.save();
    pen.beginPath();
    pen.rect(left, 8, width - left - 8, height - low - 8);
    pen.clip();
    const turns = [view.model.angles[a], view.model.angles[b]];
    const count = told ? told.arcs.length : 0;
    arcs.forEach((arc, number) => {
      pen.strokeStyle = pen.fillStyle = colours.accent;
      pen.lineWidth = 2;
      if (number >= count) { // samples of a surface
        for (let i = 0; i < arc.rows; i += 1) {
          const x = wrap(arc.data[i * arc.columns + a], turns[0]), y = wrap(arc.data[i * arc.columns + b], turns[1]);
          pen.fillRect(X(x) - 1.5, Y(y) - 1.5, 3, 3);
        }
        return;
      }
      pen.beginPath();
      let before = null;
      for (let i = 0; i < arc.rows; i += 1) {
        const x = wrap(arc.data[i * arc.columns + a], turns[0]), y = wrap(arc.data[i * arc.columns + b], turns[1]);
        const jump = before && ((turns[0] && Math.abs(x - before[0]) > Math.PI) || (turns[1] && Math.abs(y - before[1]) > Math.PI));
        if (!before || jump) pen.moveTo(X(x), Y(y)); else pen.lineTo(X(x), Y(y));
        before = [x, y];
      }
      pen.stroke();
    });
    pen.restore();
    const here = [a, b].map((k, i) => wrap(view.live ? view.live[k] : view.state[view.model.coordinates[k]], turns[i]));
    pen.beginPath();
    pen.arc(X(here[0]), Y(here[1]), 6, 0, 7);
    pen.fillStyle = colours.problem;
    pen.strokeStyle = colours.paper;
    pen.lineWidth = 2;
    pen.fill();
    pen.stroke();
    place(turns, width, height);
  };

  // A surface over three coordinates, seen from a side; the state is a point of it.
  const paintMesh = (pen, width, height) => {
    const chosen = axes(), angles = chosen.map((k) => view.model.angles[k]), turns = angles;
    const spot = (values) => chosen.map((k, i) => wrap(values[k], angles[i]));
    if (!mesh.box || String(mesh.axes) !== String(chosen)) {
      const bounds = chosen.map((k, i) => (angles[i] ? [-Math.PI, Math.PI] : span(k)));
      mesh.box = [...bounds.map(([low]) => low), ...bounds.map(([, high]) => high)];
      mesh.axes = chosen;
    }
    // Axes are stretched to a cube: metres and radians have no common scale.
    const scaled = (place) => place.map((value, i) => 2 * (value - mesh.box[i]) / (mesh.box[i + 3] - mesh.box[i] || 1) - 1);
    const seen = new Frame([-1, -1, -1, 1, 1, 1], width, height, 16, turn);
    const size = [width, height, turn, chosen, colours.accent].join();
    if (!layer || layer.size !== size) {
      layer = { size, canvas: make("canvas", { width: canvas.width, height: canvas.height }) };
      const brush = layer.canvas.getContext("2d");
      brush.scale(canvas.width / width, canvas.height / height);
      paintSurface(brush, seen, mesh, { spot, scaled, angles, colours, names: choice.map((select) => select.value), box: mesh.box });
    }
    pen.drawImage(layer.canvas, 0, 0, width, height);
    const here = view.live || view.model.coordinates.map((name) => view.state[name]);
    const [x, y] = seen.at(scaled(spot(here)));
    pen.beginPath(); pen.arc(x, y, 6, 0, 7);
    pen.fillStyle = colours.problem; pen.strokeStyle = colours.paper; pen.lineWidth = 2; pen.fill(); pen.stroke();
    frame = { seen, spot, scaled, turns };
    [...points.children].forEach((button) => {
      const item = told.singular[Number(button.dataset.singular)], at = seen.at(scaled(spot(view.model.coordinates.map((name) => item.state[name]))));
      button.style.transform = `translate(${at[0] - 14}px, ${at[1] - 14}px)`;
    });
  };
  const span = (k) => {
    let low = Infinity, high = -Infinity;
    for (const { data, columns } of [mesh.points, ...mesh.lines]) {
      for (let i = k; i < data.length; i += columns) { low = Math.min(low, data[i]); high = Math.max(high, data[i]); }
    }
    return high > low ? [low, high] : [low - 1, low + 1];
  };
  const turned = (across, down) => {
    turn = [turn[0] - across, Math.min(Math.PI / 2, Math.max(-Math.PI / 2, turn[1] + down))];
    paint();
  };
  let held = null, moved = 0;
  canvas.addEventListener("pointerdown", (event) => { if (mesh && !event.button) { held = [event.clientX, event.clientY]; moved = 0; canvas.setPointerCapture(event.pointerId); } });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const step = [event.clientX - held[0], event.clientY - held[1]];
    moved += Math.hypot(...step);
    if (moved > 4) turned(step[0] / 140, step[1] / 140);
    held = [event.clientX, event.clientY];
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => { held = null; });
  turner.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    turned(...way.map((part) => part * (event.shiftKey ? 0.01 : 0.1)));
  });
  turner.addEventListener("click", () => { turn = [...FRONT]; paint(); });

  const place = (turns) => {
    if (!told) return;
    [...points.children].forEach((button) => {
      const item = told.singular[Number(button.dataset.singular)];
      const [x, y] = [frame.a, frame.b].map((k, i) => wrap(item.state[view.model.coordinates[k]], turns[i]));
      button.style.transform = `translate(${frame.X(x) - 14}px, ${frame.Y(y) - 14}px)`;
    });
  };

  const show = (answer, frames) => {
    if (!answer) { own.calm(); return; }
    if (answer.status === "error") { own.element.classList.add("stale"); own.shown(answer.message, true); return; }
    own.element.classList.remove("stale");
    told = answer;
    // Points and triangles of a surface come after arcs and samples, then the curves along which it is singular.
    const first = frames.length - linesOf(answer) - 2;
    arcs = answer.surface ? frames.slice(0, first) : frames;
    mesh = answer.surface ? { points: frames[first], triangles: frames[first + 1].data, lines: frames.slice(first + 2) } : null;
    layer = null;
    choice[2].hidden = turner.hidden = !mesh;
    canvas.classList.toggle("turns", Boolean(mesh));
    own.element.dataset.surface = String(Boolean(mesh));
    points.replaceChildren(...answer.singular.map((item, i) => make("button", { type: "button", class: "singular", "data-singular": String(i), "data-kind": item.kind,
      "aria-label": `singular point ${i + 1}: ${item.kind}`, title: item.kind, text: SIGNS[item.kind] || "∗", onclick: () => tell(item) })));
    rows.lastChild.replaceChildren(
      ...(answer.surface ? [table("Pieces", ["piece", "dimension", "Euler characteristic", "genus"], answer.pieces.map((item) => [item.sentence, full(item.dimension), full(item.euler), full(item.genus)]))] : []),
      ...(linesOf(answer) ? [table("Singular curves", ["curve", "kind", "closed"], answer.lines.map((line, i) => [String(i), line.kind, line.closed ? "yes" : "no"]))] : []),
      table("Arcs", ["arc", "length", "component", "closed"], answer.arcs.map((arc, i) => [String(i), full(arc.length), String(arc.component), arc.closed ? "yes" : "no"])),
      table("Singular points", ["point", "kind", ...view.model.coordinates], answer.singular.map((item, i) =>
        [String(i), item.kind, ...view.model.coordinates.map((name) => full(item.state[name]))])));
    canvas.setAttribute("aria-label", `the configuration space: ${answer.sentence}`);
    stage.hidden = choice[0].parentNode.hidden = !frames.length && !answer.points.length;
    paint();
    own.shown(answer.sentence);
  };

  const tell = (item) => {
    const lines = make("ul", {}, ...item.tangents.map((tangent) => make("li", { text: `tangent (${tangent.map(short).join(", ")})` })));
    const more = make("div", { text: "What the reactions do near it is being computed …" });
    const go = make("button", { type: "button", text: "Go there", onclick: () => view.setState(Object.fromEntries(view.model.coordinates.map((name) => [name, item.state[name]]))) });
    detail.replaceChildren(make("h3", { text: `${item.kind[0].toUpperCase()}${item.kind.slice(1)}` }),
      make("p", { text: `${item.curves} curve${item.curves === 1 ? "" : "s"}, ${item.ways} way${item.ways === 1 ? "" : "s"} out; the rank of the constraints falls from ${item.generic_rank} to ${item.rank}.` }),
      lines, go, make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "exponents near the point" }, more));
    const at = Object.fromEntries(view.model.coordinates.map((name) => [name, item.state[name]]));
    own.busy();
    transport.ask({ kind: "singular", ...view.whose(), at }, (answer) => {
      if (!answer) { own.calm(); return; }
      if (answer.status === "error") { more.textContent = answer.message; own.shown(told.sentence); return; }
      more.replaceChildren(make("p", { text: answer.sentence + (answer.threshold && answer.threshold !== "nan" ? ` The direction rule holds below a friction of ${answer.threshold}.` : "") }), table("How quantities grow near the point", ["approach", "quantity", "friction", "motion", "exponent", "predicted", "coefficient", "solutions by direction"],
        answer.rows.map((row) => [String(row.approach), String(row.quantity), row.friction === "without" ? "" : String(row.friction ?? ""), row.direction === "both" ? "" : String(row.direction ?? ""), typeof row.exponent === "number" ? short(row.exponent) : String(row.exponent ?? "–"), String(row.predicted ?? "–"), typeof row.coefficient === "number" ? short(row.coefficient) : String(row.coefficient ?? "–"), row.friction === "without" ? "" : String(row.solutions ?? "")])));
      own.shown(told.sentence);
    });
  };

  canvas.addEventListener("click", (event) => {
    if (!told || !(arcs.length || mesh) || !frame) return;
    const place = canvas.getBoundingClientRect(), at = [event.clientX - place.left, event.clientY - place.top];
    if (mesh) {
      const found = moved > 4 ? null : nearest(mesh, frame, at);
      if (found) view.setState(Object.fromEntries(view.model.coordinates.map((name, k) => [name, found[k]])));
      return;
    }
    let best = null, least = 30 ** 2;
    for (const arc of arcs) {
      for (let i = 0; i < arc.rows; i += 1) {
        const [x, y] = [frame.a, frame.b].map((k) => wrap(arc.data[i * arc.columns + k], view.model.angles[k]));
        const far = (frame.X(x) - at[0]) ** 2 + (frame.Y(y) - at[1]) ** 2;
        if (far < least) { least = far; best = [...arc.data.subarray(i * arc.columns, (i + 1) * arc.columns)]; }
      }
    }
    if (best) view.setState(Object.fromEntries(view.model.coordinates.map((name, k) => [name, best[k]])));
  });

  view.on("model", build);
  new ResizeObserver(() => paint()).observe(stage);
  return { ...own, paint, recolour() { colours = layer = null; paint(); },
    ask(follow) {
      own.busy();
      transport.after("reactions", { kind: "space", ...view.whose() }, show, { follow });
    } };
};
