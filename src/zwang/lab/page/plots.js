// Linked plots over time: one cursor in all of them.

import uPlot from "./uplot.js";
import { colour, make, short } from "./elements.js";

const SERIES = ["series-0", "series-1", "series-2", "series-3", "series-4", "series-5"];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 2], [12, 4]];

// lines: [{label, values, other?}]; a second run is drawn dashed.
export const plot = (holder, { title, unit = "", x, lines, height = 150, seek = null, xLabel = "t [s]", logs = false }) => {
  const style = holder.closest(".lab") || document.documentElement;
  const ink = colour("quiet", style), grid = colour("line", style);
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif",
    values: (_, values) => values.map((value) => short(value)) };
  const shown = lines.slice(0, 6);
  const series = [{}], data = [x];
  shown.forEach((line, i) => {
    const stroke = colour(SERIES[i % SERIES.length], style);
    series.push({ label: line.label, stroke, width: 1.6, dash: line.points ? undefined : DASHES[i % DASHES.length], points: { show: Boolean(line.points), size: 6 } });
    data.push(line.values);
    if (line.other) {
      series.push({ label: `${line.label}, other`, stroke: ink, width: 1.2, dash: [3, 3], points: { show: false } });
      data.push(line.other);
    }
  });
  const width = Math.max(200, holder.clientWidth);
  const legend = make("ul", { class: "key" }, ...shown.map((line, i) => {
    const mark = make("i", { "aria-hidden": "true" });
    mark.style.borderTopColor = colour(SERIES[i % SERIES.length], style);
    mark.style.borderTopStyle = DASHES[i % DASHES.length].length ? (DASHES[i % DASHES.length][0] > 4 ? "dashed" : "dotted") : "solid";
    return make("li", {}, mark, line.label);
  }));
  const chart = make("div", { role: "img", "aria-label": `${title}: ${shown.map((line) => line.label).join(", ")}` });
  holder.replaceChildren(make("h3", { text: unit ? `${title} [${unit}]` : title }), legend, chart);
  const made = new uPlot({
    width, height, series, legend: { show: false }, cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    scales: { x: { time: false } },
    axes: [{ ...axis, size: 34, label: xLabel, labelSize: 14, labelFont: "12px system-ui, sans-serif", labelGap: -2 }, { ...axis, size: 56, space: 22 }],
  }, data, chart);
  if (seek) made.over.addEventListener("click", (event) => seek(made.posToVal(event.offsetX, "x")));
  return {
    made,
    cursor(time) { made.setCursor({ left: made.valToPos(time, "x"), top: 10 }, false); },
    resize() { made.setSize({ width: Math.max(200, holder.clientWidth), height }); },
    destroy() { made.destroy(); },
  };
};
