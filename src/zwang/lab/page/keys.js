// Keys for everything; letters act only outside of fields.

import { make } from "./elements.js";

const LIST = [["Space", "play or pause"], [". and ,", "a frame on, a frame back"], ["n and p", "next event, event before"], ["[ and ]", "slower, faster"], ["0", "to the start"],
  ["r", "reset parameters and state"], ["1 to 9", "a solution"], ["c", "compare with this run"], ["Arrows", "on handles, sliders and the map; with Shift a tenth"], ["?", "this list"], ["Escape", "close it"]];

export const keySheet = (root, actions) => {
  const sheet = make("dialog", { class: "sheet", "aria-label": "keys" }, make("h2", { text: "Keys" }),
    make("dl", {}, ...LIST.flatMap(([key, words]) => [make("dt", { text: key }), make("dd", { text: words })])),
    make("form", { method: "dialog" }, make("button", { text: "Close" })));
  root.append(sheet);
  const show = () => { if (!sheet.open) sheet.showModal(); };
  const simple = { ".": () => actions.frames(1), ",": () => actions.frames(-1), n: () => actions.jump(1), p: () => actions.jump(-1), "[": () => actions.faster(-1), "]": () => actions.faster(1),
    0: () => actions.seek(0), r: () => actions.reset(), c: () => actions.compare(), "?": show };
  root.addEventListener("keydown", (event) => handle(event));
  const handle = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || sheet.open) return;
    const at = event.target;
    if (at.closest("textarea, select, [contenteditable]") || (at.matches("input") && at.type !== "range")) return;
    if (event.key === " ") {
      if (at.closest("button, summary, a, input")) return; // there Space presses what is focused
      event.preventDefault();
      actions.toggle();
    } else if (/^[1-9]$/.test(event.key)) actions.solution(Number(event.key) - 1);
    else if (simple[event.key]) simple[event.key]();
    else return;
    event.stopPropagation();
  };
  return { show, handle };
};
