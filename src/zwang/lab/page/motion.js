// The motion: played from its tables by this page alone, with linked plots, events and the ways on where it stops.

import { full, make, part, short, table } from "./elements.js";
import { plot } from "./plots.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const motionParts = (view, transport, drawing, { instant, stats }) => {
  const own = part("motion"), list = part("events");
  const button = (action, text, press) => make("button", { type: "button", "data-action": action, text, onclick: press });
  const play = make("button", { type: "button", "data-action": "play", "aria-pressed": "false", text: "Play", onclick: () => toggle() });
  const step = button("step", "Step", () => frames(1));
  const next = button("next-event", "Next event", () => jump(1));
  const compare = make("button", { type: "button", "data-action": "compare", "aria-pressed": "false", text: "Compare", onclick: () => setCompare(!other) });
  const time = make("input", { type: "range", name: "time", min: "0", max: "1", step: "any", value: "0", "aria-label": "time" });
  const marks = make("span", { class: "ticks", "aria-hidden": "true" });
  const clock = make("output", { class: "clock", text: "t = 0 s" });
  const until = make("input", { type: "number", name: "until", min: "0", step: "any", "aria-label": "end of the motion in seconds" });
  const speed = make("select", { name: "speed", "aria-label": "speed" }, ...SPEEDS.map((value) => make("option", { value: String(value), text: `${value}×` })));
  speed.value = "1";
  const answer = make("p", { class: "answer", "aria-live": "polite" });
  const ways = make("div", { class: "ways" });
  const plots = make("div", { class: "plots" });
  const rows = make("details", {}, make("summary", { text: "Table of the motion" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "rows of the motion" }));
  own.body.append(make("div", { class: "row controls" }, play, step, next, compare, make("label", {}, "speed ", speed), make("label", {}, "until ", until, " s")),
    make("div", { class: "row" }, make("span", { class: "slide" }, time, marks), clock), answer, ways, plots, rows);
  const found = make("ol", { class: "eventlist", tabindex: "0", "aria-label": "events" });
  const eventRows = make("details", {}, make("summary", { text: "Table of events" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "table of events" }));
  list.body.append(found, eventRows);

  let told = null, numbers = null, drawn = null, pushed = null, other = null, charts = [], playing = false, now = 0, before = 0, wanted = null, pace = 1;

  // --- reading the tables ---
  const spot = (run, t) => {
    const { data, columns, rows: count } = run.numbers;
    let low = 0, high = count - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (data[middle * columns] <= t) low = middle; else high = middle; }
    const a = data[low * columns], b = data[high * columns];
    return [low, high, b > a ? Math.min(1, Math.max(0, (t - a) / (b - a))) : 0];
  };
  const pose = (run, t) => {
    const [low, high, share] = spot(run, t), { data, columns } = run.drawn, scene = run.told.scene;
    if (!scene) return null;
    const value = (k) => { const a = data[low * columns + k], b = data[high * columns + k]; return a + share * (b - a); };
    const wide = scene.dimension, some = (start, count) => Array.from({ length: count }, (_, i) => value(start + i));
    const places = scene.names.map((_, k) => some(wide * k, wide));
    const bodiesAt = scene.bodies.map((body) => body.at || null);
    run.told.placed.forEach((body, i) => { bodiesAt[body] = some(wide * scene.names.length + (wide + 1) * i, wide + 1); });
    return { places, bodiesAt, low, forces: forcesAt(run, low, high, share) };
  };
  const forcesAt = (run, low, high, share) => {
    if (!run.pushed) return [];
    const { data, columns } = run.pushed, wide = run.told.scene.dimension;
    return run.told.arrows.map((item, i) => ({ ...item, force: Array.from({ length: wide }, (_, k) => {
      const a = data[low * columns + wide * i + k], b = data[high * columns + wide * i + k];
      return Number.isFinite(b) ? a + share * (b - a) : a;
    }) }));
  };
  const trails = (run, low) => {
    const scene = run.told.scene, { data, columns } = run.drawn;
    const points = scene.traces || (scene.names.length <= 8 ? scene.names.map((_, k) => k).filter((k) => !scene.ground.includes(k)) : []);
    const stride = Math.max(1, Math.floor(low / 400)), wide = scene.dimension;
    return points.map((k) => { const trail = []; for (let i = 0; i <= low; i += stride) trail.push([...data.subarray(i * columns + wide * k, i * columns + wide * (k + 1))]); return trail; });
  };

  const draw = () => {
    if (!told) return;
    view.t = now;
    const here = pose({ told, numbers, drawn, pushed }, now);
    if (here) {
      const ghost = other && other.told.scene && other.told.scene.names.length === told.scene.names.length ? pose(other, now) : null;
      here.trails = trails({ told, drawn }, here.low);
      if (now === 0) { here.arrows = true; here.forces = null; } // there all solutions are known
      drawing.play(here, ghost && { places: ghost.places, bodiesAt: ghost.bodiesAt });
    }
    const [low, high, share] = spot({ numbers }, now);
    view.live = view.model.coordinates.map((_, k) => { const a = numbers.data[low * numbers.columns + 1 + k], b = numbers.data[high * numbers.columns + 1 + k]; return a + share * (b - a); });
    if (!playing || !(stats.frames % 3)) view.emit("moved");
    time.value = String(now);
    clock.textContent = `t = ${(told.t0 + now).toFixed(told.length < 1 ? 4 : 2)} s`;
    time.setAttribute("aria-valuetext", clock.textContent);
    for (const chart of charts) chart.cursor(told.t0 + now);
  };

  // --- playing ---
  const tick = (stamp) => {
    if (!playing) return;
    stats.frame(stamp);
    now += Math.min(stamp - before, 100) / 1000 * pace * Number(speed.value);
    before = stamp;
    if (now >= told.length) { now = told.length; stop(); draw(); return; }
    draw();
    requestAnimationFrame(tick);
  };
  const stop = () => {
    if (!playing) return;
    playing = false;
    play.setAttribute("aria-pressed", "false");
    play.textContent = "Play";
    seek(now);
  };
  const toggle = () => {
    if (playing) { stop(); return; }
    if (!told) { wanted = "play"; ask(false); return; }
    if (now >= told.length) now = 0;
    if (still()) { jump(1); return; } // from event to event, nothing moves by itself
    playing = true;
    play.setAttribute("aria-pressed", "true");
    play.textContent = "Pause";
    before = performance.now();
    stats.start(before);
    requestAnimationFrame(tick);
  };
  const seek = (t) => {
    if (!told) return;
    now = Math.min(Math.max(t, 0), told.length);
    view.t = now;
    view.emit("time");
    draw();
    drawing.list();
    if (!playing) instant(now);
  };
  const frames = (count) => { if (playing) stop(); seek(now + count / 60 * pace); };
  const jump = (way) => {
    if (!told) return;
    if (playing) stop();
    const times = [...new Set([0, ...told.events.map((item) => item.time - told.t0), told.length])].sort((a, b) => a - b);
    const target = way > 0 ? times.find((t) => t > now + 1e-9) : times.filter((t) => t < now - 1e-9).pop();
    if (target !== undefined) seek(target);
  };
  time.addEventListener("input", () => { if (playing) stop(); seek(Number(time.value)); });
  until.addEventListener("change", () => {
    const value = Number(until.value);
    if (!(value > 0)) { until.value = String(view.until); return; }
    view.until = Math.min(value, 1e5);
    view.path = [];
    view.emit("until");
    ask(false);
  });

  // --- showing an answer ---
  const column = (run, name) => {
    const k = run.told.columns.indexOf(name), { data, columns, rows: count } = run.numbers;
    return k < 0 ? null : Array.from({ length: count }, (_, i) => { const value = data[i * columns + k]; return Number.isFinite(value) ? value : null; });
  };
  const like = (run, names) => names.map((name) => ({ label: name.replace(/^(reaction|friction) of /, (_, word) => `${word} `), values: column(run, name) }));
  const chart = () => {
    for (const item of charts) item.destroy();
    charts = [];
    plots.replaceChildren();
    if (numbers.rows < 2 || !(told.length > 0)) return;
    const mine = { told, numbers }, x = column(mine, "t").map((t) => t + told.t0);
    const groups = [["Coordinates", "", view.model.coordinates], ["Energy", "J", ["kinetic energy", "potential energy", "energy"]],
      ["Forces", "N", told.columns.filter((name) => /^(reaction|friction) of /.test(name))]];
    for (const [title, unit, names] of groups) {
      // Forces that the laws leave open have no values to draw; the cards show their ranges.
      const known = names.filter((name) => column(mine, name).some((value) => value !== null));
      if (!known.length) continue;
      const holder = make("div", { class: "plot" });
      plots.append(holder);
      const lines = like(mine, known);
      if (other) lines.forEach((line, k) => { line.other = resampled(other, known[k], x); });
      charts.push(plot(holder, { title, unit, x, lines, seek: (t) => seek(t - told.t0) }));
    }
  };
  const resampled = (run, name, x) => {
    const values = column(run, name);
    if (!values) return null;
    return x.map((t) => { const local = t - run.told.t0; if (local > run.told.length + 1e-9) return null; const [low, high, share] = spot(run, local); return values[low] === null || values[high] === null ? null : values[low] + share * (values[high] - values[low]); });
  };
  const show = (reply, tables) => {
    if (!reply) { own.calm(); list.calm(); return; }
    if (reply.status === "error") {
      own.element.classList.add("stale");
      own.shown(reply.message, true);
      list.shown("", true);
      return;
    }
    own.element.classList.remove("stale");
    told = reply;
    [numbers, drawn, pushed] = tables;
    pace = told.length > 0 && (told.length < 2 || told.length > 20) ? told.length / 8 : 1;
    if (told.scene) drawing.within(told.scene.box);
    drawing.scale(told.force_scale);
    time.max = String(told.length || 1);
    marks.replaceChildren(...told.events.slice(0, 80).map((item) => { const mark = make("i", { title: item.sentence }); mark.style.left = `${told.length > 0 ? 100 * (item.time - told.t0) / told.length : 0}%`; return mark; }));
    answer.textContent = told.sentence;
    ways.replaceChildren(...told.continuations.map((words, i) => make("button", { type: "button", class: "card", "data-continuation": String(i), text: words, onclick: () => { view.path = [...view.path, i]; view.t = told.length; wanted = "stay"; ask(false); } })));
    events();
    rowsOf();
    chart();
    now = Math.min(view.t, told.length);
    if (!now) { drawing.still(); for (const item of charts) item.cursor(told.t0); time.value = "0"; clock.textContent = `t = ${told.t0.toFixed(2)} s`; drawing.paint(); view.live = null; view.emit("moved"); } else { draw(); instant(now); }
    own.shown(told.carried || "");
    list.shown();
    const start = wanted;
    wanted = null;
    if (start === "play") toggle();
  };
  const events = () => {
    found.replaceChildren(...(told.events.length ? told.events.map((item, i) => make("li", {}, make("button", { type: "button", "data-event": String(i), "data-kind": item.kind, "data-time": String(item.time),
      onclick: () => { if (playing) stop(); seek(item.time - told.t0); } }, make("b", { text: item.kind }), ` ${item.constraint || ""} `, make("span", { class: "quiet", text: `${short(item.time)} s` })))) : [make("li", { class: "quiet", text: "Nothing happens on the way." })]));
    if (told.events_total > told.events.length) found.append(make("li", { class: "quiet", text: `and ${told.events_total - told.events.length} more` }));
    eventRows.lastChild.replaceChildren(table("Events", ["kind", "constraint", "time"], told.events.map((item) => [item.kind, item.constraint || "", full(item.time)])));
  };
  const rowsOf = () => {
    const stride = Math.max(1, Math.floor(numbers.rows / 60)), body = [];
    for (let i = 0; i < numbers.rows; i += stride) body.push(Array.from({ length: numbers.columns }, (_, k) => short(numbers.data[i * numbers.columns + k] + (k ? 0 : told.t0))));
    rows.lastChild.replaceChildren(table("Rows of the motion", told.columns, body));
  };
  const setCompare = (on) => {
    other = on && told ? { told, numbers, drawn } : null;
    compare.setAttribute("aria-pressed", String(Boolean(other)));
    compare.textContent = other ? "Comparing" : "Compare";
    own.shown(other ? "This run is kept: change a parameter, and both are shown." : "");
    if (told) { chart(); draw(); }
  };

  const ask = (follow) => {
    own.busy();
    list.busy();
    transport.ask({ kind: "motion", ...view.whose(), until: view.until, continue: view.path }, show, { follow });
  };

  view.on("model", () => {
    if (playing) { playing = false; play.setAttribute("aria-pressed", "false"); play.textContent = "Play"; }
    told = numbers = drawn = pushed = other = null;
    now = 0;
    compare.setAttribute("aria-pressed", "false");
    compare.textContent = "Compare";
    until.value = String(view.until);
    answer.textContent = "";
    ways.replaceChildren();
    plots.replaceChildren();
    found.replaceChildren();
    marks.replaceChildren();
    for (const item of charts) item.destroy();
    charts = [];
  });
  view.on("params", () => { until.value = String(view.until); });
  view.on("grab", () => { if (playing) stop(); now = 0; view.t = 0; });
  new ResizeObserver(() => { for (const item of charts) item.resize(); }).observe(plots);
  return { motion: { ...own, recolour() { if (told) { chart(); draw(); } } }, events: list, ask, toggle, frames, jump, seek, compare: () => setCompare(!other),
    faster(way) { const k = Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(Number(speed.value)) + way)); speed.value = String(SPEEDS[k]); },
    until(value) { until.value = String(value); }, get told() { return told; }, get numbers() { return numbers; } };
};
