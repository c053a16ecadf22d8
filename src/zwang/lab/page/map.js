// The map of how many motions are possible, over two quantities; it gets finer while one looks.

import { colour, make, part, short, table, written } from "./elements.js";
import { prepare } from "./painter.js";
import { palette } from "./systems.js";

// What can be shown: for each class its name in answers, its word, its colour, and a second sign.
const SHOWN = {
  counts: [["0", "none", "count-none", "slash"], ["1", "one", "count-one", ""], ["2", "two", "count-two", "dots"], ["many", "many", "count-many", "cross"]],
  kinds: [["holds", "holds", "count-one", ""], ["slides", "slides", "kind-slides", "lines"], ["tips", "tips", "count-two", "dots"], ["lifts", "lifts", "kind-lifts", "slash"],
    ["moves", "moves", "kind-moves", "grains"], ["none", "none", "count-none", "slash"], ["several", "several", "count-many", "cross"]],
};

export const mapPart = (view, transport) => {
  const own = part("map");
  const canvas = make("canvas", { "aria-hidden": "true" });
  const button = make("button", { type: "button", class: "chart", "aria-label": "the map; arrow keys move the cross, Enter goes there" }, canvas);
  const selects = ["map-x", "map-y"].map((name) => make("select", { name, "aria-label": name === "map-x" ? "horizontal axis" : "vertical axis" }));
  const what = make("select", { name: "map-what", "aria-label": "what the map shows" }, make("option", { value: "counts", text: "number of motions" }), make("option", { value: "kinds", text: "holds or slides" }));
  const legend = make("ul", { class: "legend" });
  const rows = make("details", {}, make("summary", { text: "Table of shares" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "shares of the map" }));
  own.body.append(make("div", { class: "stage" }, button), make("p", { class: "row" }, what, make("span", { text: "over" }), selects[0], make("span", { text: "and" }), selects[1]), legend, rows);
  own.element.dataset.quality = "coarse";
  let told = null, counts = null, cross = [0.5, 0.5], frame = null, still = null;

  const explain = () => {
    legend.replaceChildren(...SHOWN[what.value].map(([name, word, ink, kind]) => {
      const patch = make("canvas", { class: "swatch", width: 16, height: 16, "aria-hidden": "true" }), pen = patch.getContext("2d");
      pen.fillStyle = colour(ink, own.element);
      pen.fillRect(0, 0, 16, 16);
      if (kind) { pen.fillStyle = sign(pen, kind); pen.fillRect(0, 0, 16, 16); }
      return make("li", { "data-legend": name }, patch, word);
    }));
  };
  what.addEventListener("change", () => { view.mapping = what.value; view.emit("axes"); explain(); ask(false); });

  const reach = (name) => {
    if (name in view.params) {
      const { low, high, scale } = view.model.ranges[name];
      return scale === "log" ? [10 ** low, 10 ** high] : [low, high];
    }
    return view.model.reach[name];
  };

  const first = () => {
    const params = Object.keys(view.params), rub = params.find((name) => name.startsWith("mu"));
    const places = view.model.coordinates, angle = places.find((_, k) => view.model.angles[k]);
    const x = rub || params[0] || places[0];
    const y = [angle, view.model.velocities[0], places[0], ...places].find((name) => name && name !== x);
    return [x, y || view.model.velocities[0]];
  };

  const build = () => {
    const names = [...Object.keys(view.params), ...view.model.coordinates, ...view.model.velocities];
    const axes = view.axes || first();
    selects.forEach((select, k) => {
      select.replaceChildren(...names.map((name) => make("option", { value: name, text: name })));
      select.value = axes[k];
    });
    what.value = view.mapping;
    told = counts = still = null;
    own.element.dataset.quality = "coarse";
    explain();
    paint();
  };

  for (const select of selects) select.addEventListener("change", () => {
    view.axes = selects.map((item) => item.value);
    view.emit("axes");
    ask(false);
  });

  const ask = (follow) => {
    const [x, y] = selects.map((select) => [select.value, ...reach(select.value)]);
    if (x[0] === y[0]) { own.shown("Choose two different quantities.", true); return; }
    own.busy();
    transport.after("reactions", { kind: "map", ...view.whose(), x, y, n: 128, what: what.value }, (answer, frames) => {
      if (!answer) { own.calm(); return; }
      if (answer.status === "error") { own.element.classList.add("stale"); own.shown(answer.message, true); return; }
      own.element.classList.remove("stale");
      told = answer;
      counts = frames[0];
      still = null;
      own.element.dataset.quality = answer.status === "done" ? "full" : "coarse";
      rows.lastChild.replaceChildren(table("Share of the map", [answer.what === "counts" ? "motions" : "what happens", "share"], [...SHOWN[answer.what], ["off", "undecided, or no state near"]].map(([name, word]) => [word, `${short(100 * answer.shares[name])} %`])));
      paint();
      own.shown();
      if (answer.status !== "done") own.busy();
    }, { follow });
  };

  // A second sign for each class, for eyes and printers without colour.
  const sign = (on, kind) => {
    const tile = make("canvas", { width: 8, height: 8 }), pen = tile.getContext("2d");
    pen.strokeStyle = pen.fillStyle = colour("paper", own.element);
    pen.globalAlpha = 0.55;
    pen.lineWidth = 1;
    pen.beginPath();
    if (kind === "slash" || kind === "cross") { pen.moveTo(0, 8); pen.lineTo(8, 0); }
    if (kind === "cross") { pen.moveTo(0, 0); pen.lineTo(8, 8); }
    if (kind === "lines") { pen.moveTo(0, 4.5); pen.lineTo(8, 4.5); }
    if (kind === "dots") pen.arc(4, 4, 1.2, 0, 7);
    if (kind === "grains") { pen.rect(1, 1, 1, 3); pen.rect(5, 5, 1, 3); }
    if (kind === "dots" || kind === "grains") pen.fill(); else pen.stroke();
    return on.createPattern(tile, "repeat");
  };

  const background = (width, height) => {
    const layer = make("canvas", { width, height }), pen = layer.getContext("2d"), n = counts.rows;
    SHOWN[told.what].forEach(([, , ink, mark], kind) => {
      pen.beginPath();
      for (let row = 0; row < n; row += 1) {
        let start = -1;
        for (let column = 0; column <= n; column += 1) {
          const inside = column < n && counts.data[row * n + column] === kind;
          if (inside && start < 0) start = column;
          if (!inside && start >= 0) {
            pen.rect(start / n * width, (n - 1 - row) / n * height, (column - start) / n * width + 0.5, height / n + 0.5);
            start = -1;
          }
        }
      }
      pen.fillStyle = colour(ink, own.element);
      pen.fill();
      if (mark) { pen.fillStyle = sign(pen, mark); pen.fill(); }
    });
    return layer;
  };

  const paint = () => {
    const height = Math.round(Math.min(Math.max(200, canvas.clientWidth * 0.75), 320));
    const { pen, width } = prepare(canvas, height);
    if (!view.model) return;
    const colours = palette(own.element), left = 50, low = 20, wide = width - left - 8, tall = height - low - 8;
    frame = { left, wide, tall };
    pen.fillStyle = colours.fill;
    pen.fillRect(left, 8, wide, tall);
    if (counts) {
      still = still || background(Math.round(wide), Math.round(tall));
      pen.drawImage(still, left, 8, wide, tall);
      pen.fillStyle = colours.quiet;
      pen.font = "12px system-ui, sans-serif";
      const [, x0, x1] = told.x, [, y0, y1] = told.y;
      pen.textAlign = "left"; pen.fillText(short(x0), left, height - 5);
      pen.textAlign = "right"; pen.fillText(short(x1), left + wide, height - 5);
      pen.fillText(short(y1), left - 4, 18); pen.fillText(short(y0), left - 4, 8 + tall);
      pen.textAlign = "center"; pen.fillText(written(told.x[0]), left + wide / 2, height - 5);
      pen.textAlign = "right"; pen.fillText(written(told.y[0]), left - 4, 12 + tall / 2);
      const values = { ...view.params, ...view.state }, at = [(values[told.x[0]] - x0) / (x1 - x0), (values[told.y[0]] - y0) / (y1 - y0)];
      if (at.every((part) => part >= 0 && part <= 1)) {
        pen.beginPath(); pen.arc(left + at[0] * wide, 8 + (1 - at[1]) * tall, 6, 0, 7);
        pen.fillStyle = colours.problem; pen.strokeStyle = colours.paper; pen.lineWidth = 2; pen.fill(); pen.stroke();
      }
    }
    if (document.activeElement === button) {
      pen.strokeStyle = colours.ink; pen.lineWidth = 1;
      const [x, y] = [left + cross[0] * wide, 8 + (1 - cross[1]) * tall];
      pen.beginPath(); pen.moveTo(x, 8); pen.lineTo(x, 8 + tall); pen.moveTo(left, y); pen.lineTo(left + wide, y); pen.stroke();
    }
  };

  const go = ([x, y]) => {
    if (!told) return;
    const params = {}, state = {};
    for (const [[name, low, high], part] of [[told.x, x], [told.y, y]]) {
      const value = Number((low + part * (high - low)).toPrecision(6));
      (name in view.params ? params : state)[name] = value;
    }
    view.was = { ...view.params };
    view.params = { ...view.params, ...params };
    if (Object.keys(state).length) view.setState(state, { jumped: true, also: Object.keys(params).length > 0 });
    else view.emit("params", {});
  };

  button.addEventListener("click", (event) => {
    if (event.detail === 0) { go(cross); return; } // by the keyboard
    const place = canvas.getBoundingClientRect();
    cross = [(event.clientX - place.left - frame.left) / frame.wide, 1 - (event.clientY - place.top - 8) / frame.tall].map((part) => Math.min(1, Math.max(0, part)));
    go(cross);
  });
  button.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    const step = event.shiftKey ? 0.002 : 0.02;
    cross = cross.map((part, k) => Math.min(1, Math.max(0, part + way[k] * step)));
    paint();
  });
  for (const kind of ["focus", "blur"]) button.addEventListener(kind, () => paint());
  view.on("model", build);
  new ResizeObserver(() => { still = null; paint(); }).observe(button);
  return { ...own, paint, ask,
    restored() { what.value = view.mapping; explain(); if (view.axes) selects.forEach((select, k) => { select.value = view.axes[k]; }); }, recolour() { still = null; explain(); paint(); } };
};
