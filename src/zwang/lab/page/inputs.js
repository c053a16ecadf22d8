// An input as a table over time: pairs that are typed, pasted or dropped as CSV, and how it goes on between them.

import { make, short, spoken } from "./elements.js";

const KINDS = { linear: "straight between the times", cubic: "a cubic spline", previous: "held until the next time" };
const MOST = 5000; // times, as the server takes them

const WHOLE = /^[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?$/;
const number = (cell) => (WHOLE.test(cell) ? Number(cell.replace(",", ".")) : NaN);

// Cells of a line: commas separate, unless semicolons or tabs do; then a comma is a decimal sign.
const cells = (line) => {
  const by = line.includes(";") ? ";" : line.includes("\t") ? "\t" : line.includes(",") ? "," : /\s+/;
  const found = line.trim().split(by).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1").replace("\u2212", "-"));
  return found.length > 1 && found[found.length - 1] === "" ? found.slice(0, -1) : found;
};

// The pairs of a text; throws what is wrong, with its line.
export const readTable = (text, name) => {
  const lines = text.split(/\r?\n/).map((line, i) => [i + 1, line]).filter(([, line]) => line.trim() && !line.trim().startsWith("#"));
  const times = [], values = [];
  let column = 1;
  lines.forEach(([place, line], k) => {
    const row = cells(line);
    if (!k && row.every((cell) => Number.isNaN(number(cell)))) { // a header
      const heads = row.map((cell) => cell.replace(/[\s[(].*$/, ""));
      if (row.length > 2 && !heads.includes(name)) throw new Error(`Line ${place}: of ${row.length} columns none is called ${name}. Give two columns, or call one so.`);
      column = Math.max(1, heads.indexOf(name));
      return;
    }
    if (row.length < 2) throw new Error(`Line ${place}: a time and a value are needed, as in "0.5, 2"; it has "${line.trim().slice(0, 40)}".`);
    if (row.length > 2 && column === 1 && !times.length && k === 0) throw new Error(`Line ${place}: it has ${row.length} columns. Give two, or a first line with their names.`);
    const [t, value] = [row[0], row[column] ?? ""].map(number);
    if (!Number.isFinite(t) || !Number.isFinite(value)) throw new Error(`Line ${place}: "${(Number.isFinite(t) ? row[column] ?? "" : row[0]).slice(0, 40)}" is no number.`);
    if (times.length && t <= times[times.length - 1]) throw new Error(`Line ${place}: the times must rise; ${short(times[times.length - 1])} is followed by ${short(t)}.`);
    times.push(t);
    values.push(value);
  });
  if (times.length < 2) throw new Error(`Two times at least are needed; there ${times.length ? "is one" : "are none"}.`);
  if (times.length > MOST) throw new Error(`A table has at most ${MOST} times here; this one has ${times.length}.`);
  return { times, values };
};

const typed = ({ times, values }) => times.map((t, i) => `${t}, ${values[i]}`).join("\n");

// In an address: the kind, then times and values in turn.
export const tableText = ({ times, values, kind }) => [kind, ...times.flatMap((t, i) => [t, values[i]])].join(",");
export const tableOf = (text) => {
  const [kind, ...rest] = text.split(","), numbers = rest.map(number);
  const fits = kind in KINDS && numbers.length >= 4 && numbers.length % 2 === 0 && numbers.every(Number.isFinite);
  return fits ? { times: numbers.filter((_, i) => i % 2 === 0), values: numbers.filter((_, i) => i % 2), kind } : null;
};

// The fields of one input; held: called where it follows a table or no longer does.
export const tableField = (view, name, held) => {
  const kind = make("select", { name: `kind-${name}`, "aria-label": `${spoken(name)} between the times` },
    ...Object.entries(KINDS).map(([value, text]) => make("option", { value, text })));
  const area = make("textarea", { name: `table-${name}`, rows: "5", spellcheck: "false", placeholder: "time, value\n0, 0\n1, 2.5\n10, 2.5",
    "aria-label": `table of ${spoken(name)}: a time and a value on each line` });
  const file = make("input", { type: "file", accept: ".csv,.txt,text/csv,text/plain", "aria-label": `open a table of ${spoken(name)}` });
  const problem = make("p", { class: "problem", role: "status", hidden: true });
  const clear = make("button", { type: "button", text: "Hold it at a value", "data-action": `hold-${name}`, onclick: () => { area.value = ""; read(); } });
  const words = make("summary", {});
  const element = make("details", { class: "table", "data-table": name }, words, area,
    make("p", { class: "row" }, make("label", {}, "between ", kind)),
    make("p", { class: "row" }, make("label", { class: "file" }, "or open CSV ", file)), make("p", { class: "row" }, clear), problem);
  const tell = (message) => { problem.hidden = !message; problem.textContent = message; area.setAttribute("aria-invalid", message ? "true" : "false"); };
  const read = () => {
    tell("");
    if (!area.value.trim()) { view.setInput(name, null); return; }
    try { view.setInput(name, { ...readTable(area.value, name), kind: kind.value }); } catch (error) { tell(error.message); }
  };
  let timer = 0;
  area.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(read, 400); });
  kind.addEventListener("change", read);
  const take = async (blob) => {
    if (blob.size > 500000) { tell("The lab takes tables of at most 500,000 bytes."); return; }
    area.value = await blob.text();
    element.open = true;
    read();
  };
  file.addEventListener("change", () => { if (file.files.length) take(file.files[0]); file.value = ""; });
  const drops = (target) => {
    for (const what of ["dragover", "drop"]) {
      target.addEventListener(what, (event) => {
        if (![...(event.dataTransfer?.types || [])].includes("Files")) return;
        event.preventDefault();
        event.stopPropagation(); // elsewhere on the page a file is a model
        if (what === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
      });
    }
  };
  drops(element);
  const write = () => {
    const table = view.inputs[name];
    words.textContent = table ? `follows a table of ${table.times.length} times, ${KINDS[table.kind]}` : "as a table over time";
    clear.disabled = !table;
    if (table && document.activeElement !== area) { kind.value = table.kind; if (!area.value.trim()) area.value = typed(table); }
    if (!table && document.activeElement !== area && problem.hidden) area.value = "";
    held(Boolean(table));
  };
  return { element, write, drops };
};
