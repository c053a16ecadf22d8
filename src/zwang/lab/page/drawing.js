// The mechanism: its picture, handles on its points, arrows of forces, and the numbers of the state.

import { full, make, part, short, spoken, symbol, table } from "./elements.js";
import { Frame, paintArrow, paintScene, prepare, roundValue } from "./painter.js";
import { solidLayer } from "./solid.js";
import { palette } from "./systems.js";

const FRONT = [0.5, 0.51]; // azimuth and elevation from which space is seen at first

export const drawingPart = (view, transport, { carried, three = async () => null }) => {
  const own = part("drawing");
  const canvas = make("canvas", { role: "img", "aria-label": "the mechanism" });
  const handles = make("div", { class: "handles" });
  const glass = make("canvas", { class: "glass", "aria-hidden": "true", hidden: true });
  const orbit = make("button", { type: "button", "data-action": "turn", text: "Turn the view", hidden: true, "aria-label": "turn the view: arrow keys, or drag the picture; Enter turns it back" });
  const stage = make("div", { class: "stage" }, glass, canvas, handles);
  const fields = make("fieldset", { class: "state" }, make("legend", { text: "State" }));
  const details = make("details", {}, make("summary", { text: "Table of places" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "table of places" }));
  own.body.append(stage, make("p", { class: "row" }, orbit), fields, details);
  const inputs = new Map(), buttons = new Map();
  let scene = null, frame = null, live = null, ghost = null, forces = 0, dragging = null, box = null, colours = null, turn = [...FRONT], solid = null, loading = false;

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
    turn = [...FRONT];
    load();
    live = null;
    ghost = null;
    forces = 0;
    write();
    paint();
    list();
    own.shown(scene ? "" : "This model has no drawing; add [drawing] to it, and its points can be dragged.");
  };

  // Solids are drawn by a library that is loaded when the first mechanism in space is shown.
  const load = async () => {
    const spatial = Boolean(scene) && scene.dimension === 3;
    orbit.hidden = !spatial;
    canvas.classList.toggle("turns", spatial);
    if (!spatial) glass.hidden = true;
    if (!spatial || solid || loading) { if (spatial && solid) glass.hidden = false; return; }
    loading = true;
    try { solid = solidLayer(await three(), glass); } catch { solid = null; }
    own.element.dataset.solid = String(Boolean(solid));
    glass.hidden = !solid || !scene || scene.dimension !== 3;
    paint();
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
    frame = new Frame(box, width, height, 14, turn);
    for (const { ink, ...other } of ghost || []) paintScene(pen, frame, scene, { ...other, colours: ink ? { ...colours, quiet: ink, accent: ink } : colours, ghost: true });
    if (solid && frame.spatial) {
      glass.style.width = `${width}px`;
      glass.style.height = `${height}px`;
      solid.paint(frame, scene, { ...(live || {}), colours });
    } else paintScene(pen, frame, scene, { ...(live || {}), colours });
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
    if (live && live.struck && live.struck.length) struck(pen, width, height);
    if (live && live.forces) pushed(pen, width, height);
    else if (!live || live.arrows) arrows(pen, width, height);
    for (const [name, button] of buttons) {
      const at = where(name);
      if (!at) continue;
      const [x, y] = frame.at(at);
      button.style.transform = `translate(${x - 14}px, ${y - 14}px)`;
    }
  };

  // One scale for all arrows of a system and run; the key in the corner is a round value of it.
  const unitOf = (width, height) => {
    const most = 0.44 * Math.min(width, height);
    return { most, unit: most / 2 / forces, room: [width, height] };
  };
  const arrow = (pen, place, force, { most, unit, room }, { chosen = true, kind }) => {
    const from = frame.at(place), [x, y] = frame.plane(force);
    const label = chosen ? `${short(Math.hypot(...force))} N` : "";
    paintArrow(pen, from, [x * unit, -y * unit], { colour: chosen ? colours.problem : colours.quiet, open: kind === "tangential", most, label, room, paper: colours.paper });
  };
  const key = (pen, { unit }, height) => {
    const value = roundValue(forces);
    paintArrow(pen, [14, height - 14], [value * unit, 0], { colour: colours.quiet, label: `${short(value)} N`, paper: colours.paper });
  };
  // The forces of a motion at the instant that is played.
  const pushed = (pen, width, height) => {
    if (!forces) return;
    const scale = unitOf(width, height);
    for (const { kind, points, force } of live.forces) {
      if (!force.every(Number.isFinite)) continue;
      points.forEach((point, k) => { const at = where(point); if (at) arrow(pen, at, k ? force.map((part) => -part) : force, scale, { kind }); });
    }
    if (live.forces.length) key(pen, scale, height);
  };
  // Impulses of an impact: thick, on a scale of their own.
  const struck = (pen, width, height) => {
    const { most, room } = unitOf(width, height);
    for (const { kind, points, force, scale } of live.struck) {
      const size = Math.hypot(...force);
      if (!Number.isFinite(size) || !size || !scale) continue;
      points.forEach((point, k) => {
        const at = where(point), [x, y] = frame.plane(k ? force.map((part) => -part) : force), unit = most / 2 / scale;
        if (at) paintArrow(pen, frame.at(at), [x * unit, -y * unit], { colour: colours.accent, open: kind === "tangential", most, label: `${short(size)} N s`, room, wide: 5, paper: colours.paper });
      });
    }
  };
  const arrows = (pen, width, height) => {
    const told = view.told;
    if (!told || !told.solutions || !told.solutions.length) return;
    forces = Math.max(forces, largest(told));
    if (!forces) return;
    const scale = unitOf(width, height);
    told.solutions.forEach((solution, number) => {
      const chosen = number === view.chosen;
      pen.globalAlpha = chosen ? 1 : 0.25;
      for (const [name, acting] of Object.entries(told.arrows)) {
        for (const kind of ["normal", "tangential"]) {
          const sums = new Map(); // components of a force in space act at one point
          for (const { point, force, component } of acting[kind] || []) {
            const value = Array.isArray(solution[kind][name]) ? solution[kind][name][component] : solution[kind][name];
            if (typeof value !== "number" || !value || !where(point)) continue;
            if (chosen) wedge(pen, solution, name, kind, frame.plane(force), scale.unit, where(point), scale.most);
            sums.set(point, force.map((part, k) => part * value + (sums.get(point) || [0, 0, 0])[k]));
          }
          for (const [point, force] of sums) arrow(pen, where(point), force, scale, { chosen, kind });
        }
      }
    });
    pen.globalAlpha = 1;
    key(pen, scale, height);
  };

  // A range of undetermined forces is a band from the least to the greatest.
  const wedge = (pen, solution, name, kind, force, unit, at, most) => {
    const range = solution.ranges[name] && solution.ranges[name][kind];
    if (!Array.isArray(range) || typeof range[0] === "object") return;
    const [low, high] = range.map((value, i) => (value === null ? (i ? most / unit : -most / unit) : value));
    const size = Math.hypot(...force) * unit;
    if (!(high > low) || Math.max(Math.abs(low), Math.abs(high)) * size > 1.2 * most) return; // the arrow is cut there
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
    const sizes = told.solutions.flatMap((item) => [...Object.values(item.normal), ...Object.values(item.tangential)]).flat()
      .filter((value) => typeof value === "number").map(Math.abs).filter((value) => value > 0).sort((a, b) => a - b);
    return sizes.length ? sizes[Math.floor(0.95 * (sizes.length - 1))] : 0;
  };

  const list = () => {
    if (!scene) return;
    const places = live ? live.places : scene.places;
    details.lastChild.replaceChildren(table("Places of the points [m]", ["point", "x", "y", "z"].slice(0, 1 + (scene.dimension || 2)),
      scene.names.map((name, k) => [name, ...places[k].map(full)])));
    canvas.setAttribute("aria-label", `the mechanism: ${view.model.title}; ` + scene.names.slice(0, 8).map((name, k) =>
      `${name} at ${places[k].map(short).join(", ")}`).join("; "));
  };

  const send = (name, [x, y], follow) => {
    own.busy();
    transport.ask({ kind: "drag", ...view.whose(), handle: name, x, y, ...(frame.spatial ? { view: frame.view } : {}) }, (told) => {
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
    const size = (event.shiftKey ? 1.2 : 12) / frame.scale, [x, y] = frame.plane(at);
    send(name, [x + way[0] * size, y + way[1] * size], false);
  };

  // In space the picture itself can be taken and turned.
  const turned = (across, down) => {
    turn = [turn[0] - across, Math.min(Math.PI / 2, Math.max(-Math.PI / 2, turn[1] + down))];
    paint();
  };
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (!scene || scene.dimension !== 3 || event.button) return;
    held = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    turned((event.clientX - held[0]) / 180, (event.clientY - held[1]) / 180);
    held = [event.clientX, event.clientY];
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => { held = null; });
  orbit.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    turned(...way.map((part) => part * (event.shiftKey ? 0.01 : 0.1)));
  });
  orbit.addEventListener("click", () => { turn = [...FRONT]; paint(); });

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
        // The frame grows where it must, and stays while something is dragged.
        const old = box && box.length === scene.box.length ? box : scene.box;
        box = dragging ? joined(old, scene.box) : keep(old, scene.box);
      }
      live = null;
      write();
      paint();
      list();
    },
    // A frame of a motion: places of points and bodies.
    play(now, other) { live = now; ghost = other; paint(); },
    still() { live = null; paint(); },
    // The picture as one canvas, to be saved.
    whole() {
      if (!solid || !frame || !frame.spatial) return canvas;
      const both = make("canvas", { width: canvas.width, height: canvas.height }), pen = both.getContext("2d");
      paint();
      for (const layer of [glass, canvas]) pen.drawImage(layer, 0, 0, both.width, both.height);
      return both;
    },
    list, within(reach) { box = reach; }, scale(value) { if (value > 0) forces = value; },
    get scene() { return scene; }, get frame() { return frame; }, get live() { return live; },
  };
};

export const joined = (a, b) => a.map((value, k) => (k < a.length / 2 ? Math.min(value, b[k]) : Math.max(value, b[k])));

const keep = (old, now) => {
  const grow = joined(old, now), half = old.length / 2;
  const size = (box) => box.slice(0, half).reduce((product, low, k) => product * (box[k + half] - low), 1);
  return size(grow) > 6 * size(now) ? now : grow;
};
