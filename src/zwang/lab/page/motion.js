// The motion: played from its tables by this page alone, with linked plots, events and the ways on where it stops.

import { colour, full, make, part, short, table, written } from "./elements.js";
import { prepare } from "./painter.js";
import { joined } from "./drawing.js";
import { plot } from "./plots.js";

const STRUCK = 0.3; // seconds for which an impulse stays in the picture
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
  const bands = make("canvas", { class: "bands", role: "img", "aria-label": "what each contact does" });
  const bandKey = make("ul", { class: "key" });
  const clock = make("output", { class: "clock", text: "t = 0 s" });
  const until = make("input", { type: "number", name: "until", min: "0", step: "any", "aria-label": "end of the motion in seconds" });
  const speed = make("select", { name: "speed", "aria-label": "speed" }, ...SPEEDS.map((value) => make("option", { value: String(value), text: `${value}×` })));
  speed.value = "1";
  const answer = make("p", { class: "answer", "aria-live": "polite" });
  const ways = make("div", { class: "ways" });
  const plots = make("div", { class: "plots" });
  const rows = make("details", {}, make("summary", { text: "Table of the motion" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "rows of the motion" }));
  own.body.append(make("div", { class: "row controls" }, play, step, next, compare, make("label", {}, "speed ", speed), make("label", {}, "until ", until, " s")),
    make("div", { class: "row" }, make("span", { class: "slide" }, time, marks), clock), bands, bandKey, answer, ways, plots, rows);
  const found = make("ol", { class: "eventlist", tabindex: "0", "aria-label": "events" });
  const eventRows = make("details", {}, make("summary", { text: "Table of events" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "table of events" }));
  list.body.append(found, eventRows);

  let told = null, numbers = null, drawn = null, pushed = null, other = null, charts = [], leaves = [], playing = false, now = 0, before = 0, wanted = null, pace = 1;

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
    return { places, bodiesAt, low, forces: forcesAt(run, low, high, share), struck: struckAt(run, t) };
  };
  const forcesAt = (run, low, high, share) => {
    if (!run.pushed) return [];
    const { data, columns } = run.pushed, wide = run.told.scene.dimension;
    return run.told.arrows.map((item, i) => ({ ...item, force: Array.from({ length: wide }, (_, k) => {
      const a = data[low * columns + wide * i + k], b = data[high * columns + wide * i + k];
      return Number.isFinite(b) ? a + share * (b - a) : a;
    }) }));
  };
  // Impulses act at an instant; they are seen for a moment after it.
  const struckAt = (run, t) => {
    const { arrows, rows: hits, scale } = run.told.impulses || { arrows: [], rows: [] }, wide = run.told.scene.dimension;
    const last = hits.filter(([time]) => time <= t + 1e-9 && t - time <= STRUCK * pace * Number(speed.value)).pop();
    return last ? arrows.map((item, i) => ({ ...item, scale, force: last.slice(1 + wide * i, 1 + wide * (i + 1)).map((part) => (part === null ? NaN : part)) })) : [];
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
      const others = leaves.map((item) => ({ ...pose(item, Math.min(now, item.told.length)), ink: colour(item.colour, own.element) }));
      drawing.play(here, [...(ghost ? [{ places: ghost.places, bodiesAt: ghost.bodiesAt }] : []), ...others]);
    }
    const [low, high, share] = spot({ numbers }, now);
    view.live = view.model.coordinates.map((_, k) => { const a = numbers.data[low * numbers.columns + 1 + k], b = numbers.data[high * numbers.columns + 1 + k]; return a + share * (b - a); });
    if (!playing || !(stats.frames % 3)) view.emit("moved");
    time.value = String(now);
    clock.textContent = `t = ${(told.t0 + now).toFixed(told.length < 1 ? 4 : 2)} s`;
    time.setAttribute("aria-valuetext", clock.textContent);
    for (const chart of charts) chart.cursor(told.t0 + now);
  };

  // --- what each contact does, along the time line ---
  const KINDS = [["open", "quiet", () => false], ["switched off", "line", (mode) => mode === "off"], ["sticks or stays", "series-0", (mode) => /stick|closed|hold/.test(mode)], ["slips", "series-1", (mode) => /slip|slide/.test(mode)], ["other", "series-3", () => true]];
  const kindOf = (mode) => (/^open/.test(mode) ? 0 : KINDS.findIndex(([, , fits], k) => k && fits(mode)));
  const band = () => {
    const names = told ? [...new Set(told.modes.flatMap((item) => Object.keys(item.modes)))].slice(0, 6) : [];
    const lively = names.filter((name) => new Set(told.modes.map((item) => item.modes[name])).size > 1);
    bands.hidden = bandKey.hidden = !lively.length;
    if (!lively.length) return;
    const tall = 10, { pen, width } = prepare(bands, tall * lively.length), wide = time.clientWidth; // below the time line
    const inks = KINDS.map(([, name]) => colour(name, own.element)), used = new Set();
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "right";
    lively.forEach((name, row) => {
      for (const item of told.modes) {
        const mode = item.modes[name], kind = mode === undefined ? 0 : kindOf(mode);
        used.add(kind);
        pen.fillStyle = inks[kind];
        const [from, to] = [item.start, item.end].map((t) => 8 + (wide - 16) * (t - told.t0) / (told.length || 1));
        const thin = kind < 2; // what doesn't act
        pen.fillRect(from, row * tall + (thin ? 4 : 1), Math.max(to - from, 0.6), thin ? 1.5 : tall - 3);
      }
      pen.fillStyle = colour("quiet", own.element);
      pen.fillText(name.slice(0, 16), width - 4, row * tall + 9);
    });
    bandKey.replaceChildren(...[...used].sort().map((kind) => { const mark = make("i", { "aria-hidden": "true" }); mark.style.borderTopColor = inks[kind]; return make("li", {}, mark, KINDS[kind][0]); }));
    bands.setAttribute("aria-label", `what each contact does: ${lively.join(", ")}; the table of the motion has it in words`);
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
  const called = (name) => (view.model.coordinates.includes(name) ? written(name) : name).replace(/^(reaction|friction) of /, (_, word) => `${word} `).replace(/^input (.*)$/, (_, own) => written(own));
  const onEveryWay = (names, x) => names.slice(0, Math.max(1, Math.floor(6 / leaves.length))).flatMap((name) =>
    leaves.map((item, i) => ({ label: `${called(name)}, way ${i + 1}`, values: resampled(item, name, x) })));
  const like = (run, names) => names.map((name) => ({ label: called(name), values: column(run, name) }));
  const chart = () => {
    for (const item of charts) item.destroy();
    charts = [];
    plots.replaceChildren();
    if (numbers.rows < 2 || !(told.length > 0)) return;
    const mine = { told, numbers }, x = column(mine, "t").map((t) => t + told.t0);
    const turning = (name) => view.model.angles[view.model.coordinates.indexOf(name)];
    const groups = [["Coordinates", "", view.model.coordinates.filter((name) => !turning(name))], ["Angles", "rad", view.model.coordinates.filter(turning)], ["Energy", "J", ["kinetic energy", "potential energy", "energy"]],
      ["Forces", "N", told.columns.filter((name) => /^(reaction|friction) of /.test(name))],
      ["Inputs", "", told.columns.filter((name) => name.startsWith("input "))]];
    for (const [title, unit, names] of groups) {
      // Forces that the laws leave open have no values to draw; the cards show their ranges.
      const known = names.filter((name) => column(mine, name).some((value) => value !== null));
      if (!known.length) continue;
      const holder = make("div", { class: "plot" });
      plots.append(holder);
      const lines = leaves.length ? onEveryWay(known, x) : like(mine, known);
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
    marks.replaceChildren(...told.events.slice(0, 80).map((item) => { const mark = make("i", { title: item.sentence, class: item.kind === "switch" ? "switch" : null }); mark.style.left = `${told.length > 0 ? 100 * (item.time - told.t0) / told.length : 0}%`; return mark; }));
    answer.textContent = told.sentence;
    ways.replaceChildren(...told.continuations.map((words, i) => make("button", { type: "button", class: "card", "data-continuation": String(i), text: words, onclick: () => { view.path = [...view.path, i]; view.t = told.length; wanted = "stay"; ask(false); view.emit("path"); } })));
    if (told.continuations.length > 1) ways.append(make("button", { type: "button", "data-action": "every", text: "Show every way at once", onclick: every }));
    leaves = [];
    events();
    rowsOf();
    band();
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
    const stretches = told.modes.slice(0, 100).map((item) => [short(item.start), short(item.end), Object.entries(item.modes).map(([name, mode]) => `${name} ${mode}`).join(", ") || "free"]);
    rows.lastChild.replaceChildren(table("Rows of the motion", told.columns, body), table("What each contact does", ["from", "to", "modes"], stretches));
  };
  const setCompare = (on) => {
    other = on && told ? { told, numbers, drawn } : null;
    compare.setAttribute("aria-pressed", String(Boolean(other)));
    compare.textContent = other ? "Comparing" : "Compare";
    own.shown(other ? "This run is kept: change a parameter, and both are shown." : "");
    if (told) { chart(); draw(); }
  };

  // Every way on, side by side: each in its own colour, over the others.
  const every = () => {
    own.busy();
    transport.ask({ kind: "motion", ...view.whose(), until: view.until, run: "every" }, (reply, tables) => {
      if (!reply) { own.calm(); return; }
      if (reply.status === "error") { own.shown(reply.message, true); return; }
      leaves = reply.leaves.map((item, i) => ({ told: item, numbers: tables[3 * i], drawn: tables[3 * i + 1], colour: `series-${i % 6}` }));
      const longest = leaves.reduce((best, item) => (item.told.length > best.told.length ? item : best), leaves[0]);
      ways.replaceChildren(make("ul", { class: "key", "data-ways": String(leaves.length) }, ...leaves.map((item) => { const mark = make("i", { "aria-hidden": "true" }); mark.style.borderTopColor = colour(item.colour, own.element); return make("li", {}, mark, `${item.told.taken || "the way it went"}: ${item.told.status_name.toLowerCase().replace(/_/g, " ")} at ${short(item.told.t0 + item.told.length)} s`); })),
        make("button", { type: "button", "data-action": "one", text: "Show one way again", onclick: () => ask(false) }));
      if (longest) {
        [numbers, drawn, pushed] = [longest.numbers, longest.drawn, null];
        told = { ...longest.told, continuations: [] };
        time.max = String(told.length || 1);
        drawing.within(leaves.map((item) => item.told.scene && item.told.scene.box).filter(Boolean).reduce(joined, told.scene ? told.scene.box : [0, 0, 1, 1]));
        events();
        rowsOf();
        band();
        chart();
        draw();
      }
      own.shown(reply.sentence);
    }, { key: "motion every" });
  };

  const ask = (follow) => {
    own.busy();
    list.busy();
    transport.after("reactions", { kind: "motion", ...view.whose(), until: view.until, continue: view.path }, show, { follow });
  };

  view.on("model", () => {
    if (playing) { playing = false; play.setAttribute("aria-pressed", "false"); play.textContent = "Play"; }
    told = numbers = drawn = pushed = other = null;
    leaves = [];
    bands.hidden = bandKey.hidden = true;
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
  new ResizeObserver(() => { for (const item of charts) item.resize(); if (told) band(); }).observe(plots);
  return { motion: { ...own, recolour() { if (told) { band(); chart(); draw(); } } }, events: list, ask, toggle, frames, jump, seek, compare: () => setCompare(!other),
    faster(way) { const k = Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(Number(speed.value)) + way)); speed.value = String(SPEEDS[k]); },
    until(value) { until.value = String(value); }, get told() { return told; }, get numbers() { return numbers; } };
};
