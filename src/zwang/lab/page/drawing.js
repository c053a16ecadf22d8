// The mechanism: its picture, handles on its points, arrows of forces, and the numbers of the state.

import { full, make, part, short, spoken, symbol, table } from "./elements.js";
import { Frame, paintArrow, paintScene, prepare, roundValue } from "./painter.js";
import { palette } from "./systems.js";

export const drawingPart = (view, transport, { carried }) => {
  const own = part("drawing");
  const canvas = make("canvas", { role: "img", "aria-label": "the mechanism" });
  const handles = make("div", { class: "handles" });
  const stage = make("div", { class: "stage" }, canvas, handles);
  const fields = make("fieldset", { class: "state" }, make("legend", { text: "State" }));
  const details = make("details", {}, make("summary", { text: "Table of places" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "table of places" }));
  own.body.append(stage, fields, details);
  const inputs = new Map(), buttons = new Map();
  let scene = null, frame = null, live = null, ghost = null, forces = 0, dragging = null, box = null, colours = null;

  const build = () => {
    inputs.clear();
    buttons.clear();
    fields.replaceChildren(make("legend", { text: "State" }));
    for (const name of [...view.model.coordinates, ...view.model.velocities]) {
      const field = make("input", { type: "number", name, step: "any", "aria-label": spoken(name) });
      field.addEventListener("change", () => {
        if (field.value !== "" && Number.isFinite(Number(field.value))) view.setState({ [name]: Number(field.value) });
        else write();
      });
      inputs.set(name, field);
      fields.append(make("label", {}, symbol(name), field));
    }
    handles.replaceChildren(...view.model.handles.map((name) => {
      const button = make("button", { type: "button", "data-handle": name, class: "handle", "aria-label": `drag ${name}; arrow keys move it` });
      button.addEventListener("pointerdown", (event) => grab(event, name));
      button.addEventListener("pointermove", (event) => pull(event, name));
      for (const kind of ["pointerup", "pointercancel"]) button.addEventListener(kind, () => release(name));
      button.addEventListener("keydown", (event) => step(event, name));
      buttons.set(name, button);
      return button;
    }));
    scene = view.model.scene;
    box = scene && scene.box;
    live = null;
    ghost = null;
    forces = 0;
    write();
    paint();
    list();
    own.shown(scene ? "" : "This model has no drawing; add [drawing] to it, and its points can be dragged.");
  };

  const write = () => {
    for (const [name, field] of inputs) {
      if (document.activeElement !== field) field.value = String(Number(view.state[name].toPrecision(8)));
    }
  };

  const where = (name) => {
    if (!scene) return null;
    const k = scene.names.indexOf(name);
    if (k >= 0) return (live ? live.places : scene.places)[k];
    const body = scene.bodies.findIndex((item) => item.name === name);
    return body >= 0 ? (live && live.bodiesAt[body] ? live.bodiesAt[body] : scene.bodies[body].at) : null;
  };

  const paint = () => {
    const height = Math.round(Math.min(Math.max(280, stage.clientWidth * 0.62), 0.62 * innerHeight, 560));
    const { pen, width } = prepare(canvas, height);
    colours = colours || palette(own.element);
    if (!scene) return;
    frame = new Frame(box, width, height, 14);
    if (ghost) paintScene(pen, frame, scene, { ...ghost, colours, ghost: true });
    paintScene(pen, frame, scene, { ...(live || {}), colours });
    if (live && live.trails) {
      pen.strokeStyle = colours.accent;
      pen.globalAlpha = 0.4;
      pen.lineWidth = 1;
      for (const trail of live.trails) {
        pen.beginPath();
        trail.forEach((point, i) => (i ? pen.lineTo(...frame.at(point)) : pen.moveTo(...frame.at(point))));
        pen.stroke();
      }
      pen.globalAlpha = 1;
    }
    if (!live || live.arrows) arrows(pen, width, height);
    for (const [name, button] of buttons) {
      const at = where(name);
      if (!at) continue;
      const [x, y] = frame.at(at);
      button.style.transform = `translate(${x - 14}px, ${y - 14}px)`;
    }
  };

  // One scale for all arrows of a system and run; the key in the corner is a round value of it.
  const arrows = (pen, width, height) => {
    const told = view.told;
    if (!told || !told.solutions || !told.solutions.length) return;
    const most = Math.min(width, height) / 2;
    if (!forces) forces = largest(told);
    if (!forces) return;
    const unit = most / 2 / forces;
    told.solutions.forEach((solution, number) => {
      const chosen = number === view.chosen;
      pen.globalAlpha = chosen ? 1 : 0.25;
      for (const [name, acting] of Object.entries(told.arrows)) {
        for (const kind of ["normal", "tangential"]) {
          const value = solution[kind][name];
          if (typeof value !== "number" || !acting[kind] || !value) continue;
          for (const { point, force } of acting[kind]) {
            const at = where(point);
            if (!at) continue;
            const step = [force[0] * value * unit, -force[1] * value * unit];
            const label = chosen ? `${short(Math.hypot(force[0], force[1]) * Math.abs(value))} N` : "";
            wedge(pen, solution, name, kind, force, unit, at, most);
            paintArrow(pen, frame.at(at), step, { colour: chosen ? colours.problem : colours.quiet, open: kind === "tangential", most, label });
          }
        }
      }
    });
    pen.globalAlpha = 1;
    const key = roundValue(forces);
    paintArrow(pen, [14, height - 14], [key * unit, 0], { colour: colours.quiet, label: `${short(key)} N` });
  };

  // A range of undetermined forces is a band from the least to the greatest.
  const wedge = (pen, solution, name, kind, force, unit, at, most) => {
    const range = solution.ranges[name] && solution.ranges[name][kind];
    if (!Array.isArray(range) || typeof range[0] === "object") return;
    const [low, high] = range.map((value, i) => (value === null ? (i ? most / unit : -most / unit) : value));
    if (!(high > low)) return;
    const from = frame.at(at);
    pen.save();
    pen.globalAlpha *= 0.3;
    pen.strokeStyle = colours.problem;
    pen.lineWidth = 8;
    pen.lineCap = "butt";
    pen.beginPath();
    pen.moveTo(from[0] + force[0] * low * unit, from[1] - force[1] * low * unit);
    pen.lineTo(from[0] + force[0] * high * unit, from[1] - force[1] * high * unit);
    pen.stroke();
    pen.restore();
  };

  const largest = (told) => {
    const sizes = told.solutions.flatMap((item) => [...Object.values(item.normal), ...Object.values(item.tangential)])
      .filter((value) => typeof value === "number").map(Math.abs).filter((value) => value > 0).sort((a, b) => a - b);
    return sizes.length ? sizes[Math.floor(0.95 * (sizes.length - 1))] : 0;
  };

  const list = () => {
    if (!scene) return;
    const places = live ? live.places : scene.places;
    details.lastChild.replaceChildren(table("Places of the points [m]", ["point", "x", "y"],
      scene.names.map((name, k) => [name, full(places[k][0]), full(places[k][1])])));
    canvas.setAttribute("aria-label", `the mechanism: ${view.model.title}; ` + scene.names.slice(0, 8).map((name, k) =>
      `${name} at ${short(places[k][0])}, ${short(places[k][1])}`).join("; "));
  };

  const send = (name, [x, y], follow) => {
    own.busy();
    transport.ask({ kind: "drag", ...view.whose(), handle: name, x, y }, (told) => {
      if (!told) { own.calm(); return; }
      if (told.status === "error") { own.shown(told.message, true); return; }
      carried(told, { dragged: true, follow });
    }, { follow });
  };

  const grab = (event, name) => {
    if (event.button) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    dragging = name;
    view.emit("grab");
  };

  const pull = (event, name) => {
    if (dragging !== name || !frame) return;
    const place = canvas.getBoundingClientRect();
    send(name, frame.back([event.clientX - place.left, event.clientY - place.top]), true);
  };

  const release = () => {
    if (!dragging) return;
    dragging = null;
    view.emit("released");
  };

  const step = (event, name) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const at = where(name);
    if (!way || !at || !frame) return;
    event.preventDefault();
    view.emit("grab");
    const size = (event.shiftKey ? 1.2 : 12) / frame.scale;
    send(name, [at[0] + way[0] * size, at[1] + way[1] * size], false);
  };

  view.on("model", build);
  view.on("params", write);
  view.on("restored", write);
  view.on("state", write);
  view.on("chosen", () => paint());
  new ResizeObserver(() => paint()).observe(stage);
  return {
    ...own, paint, canvas,
    recolour() { colours = null; paint(); },
    // The drawing at the state of an answer.
    settle(told) {
      if (told.scene) {
        scene = told.scene;
        const [a, b, c, d] = box || told.scene.box, [e, f, g, h] = told.scene.box;
        // The frame grows where it must, and stays while something is dragged.
        box = dragging ? [Math.min(a, e), Math.min(b, f), Math.max(c, g), Math.max(d, h)] : keep([a, b, c, d], [e, f, g, h]);
      }
      live = null;
      write();
      paint();
      list();
    },
    // A frame of a motion: places of points and bodies.
    play(now, other) { live = now; ghost = other; paint(); },
    still() { live = null; paint(); },
    list, within(reach) { box = reach; }, scale(value) { if (value > 0) forces = value; },
    get scene() { return scene; }, get frame() { return frame; }, get live() { return live; },
  };
};

const keep = (old, now) => {
  const grow = [Math.min(old[0], now[0]), Math.min(old[1], now[1]), Math.max(old[2], now[2]), Math.max(old[3], now[3])];
  const area = (b) => (b[2] - b[0]) * (b[3] - b[1]);
  return area(grow) > 6 * area(now) ? now : grow;
};
