// Every motion the laws allow, as cards; what was tried and rejected; what is proved.

import { full, make, part, short, table } from "./elements.js";

export const reactionsPart = (view, transport, { settled }) => {
  const own = part("reactions");
  const head = make("p", { class: "answer", "aria-live": "polite" });
  const cards = make("div", { class: "cards" });
  const rejected = make("details", { "data-rejected": "" }, make("summary", { text: "Rejected modes" }), make("ul", {}));
  const certificate = make("p", { "data-certificate": "", class: "quiet" });
  const rows = make("details", {}, make("summary", { text: "Table of forces" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "forces" }));
  own.body.append(head, cards, certificate, rejected, rows);

  const show = (told) => {
    own.element.dataset.count = told.count;
    own.element.classList.remove("stale");
    head.textContent = told.sentence;
    if (view.chosen >= told.solutions.length) view.chosen = 0;
    cards.replaceChildren(...told.solutions.map((item, i) => make("button", { type: "button", class: "card", "data-solution": String(i), "aria-pressed": String(i === view.chosen),
      onclick: () => choose(i) },
    make("b", { text: `${i + 1}. ${Object.entries(item.modes).map(([name, mode]) => `${name} ${mode}`).join(", ") || "no contacts"}` }),
    ...Object.keys(item.modes).slice(0, 6).map((name) => make("span", { text: line(item, name) })),
    make("span", { class: "quiet", text: `acceleration ${Object.entries(item.acceleration).slice(0, 6).map(([name, value]) => `${name} ${short(value)}`).join(", ")}` }),
    item.dimension ? make("span", { class: "quiet", text: `forces undetermined in ${item.dimension} direction${item.dimension > 1 ? "s" : ""}` }) : null)));
    const list = told.rejected.map((item) => make("li", { text: `${Object.entries(item.modes).map(([name, mode]) => `${name} ${mode}`).join(", ")}. ${item.sentence}` }));
    if (told.rejected_total > told.rejected.length) list.push(make("li", { text: `and ${told.rejected_total - told.rejected.length} more` }));
    rejected.lastChild.replaceChildren(...(list.length ? list : [make("li", { text: "None was tried." })]));
    rejected.firstChild.textContent = `Rejected modes: ${told.rejected_total}`;
    rejected.open = told.count === "0" && told.rejected_total > 0;
    certificate.textContent = `${told.certificate.scope} ${told.certificate.sentence} ${told.redundancy.join(" ")}`.trim();
    rows.lastChild.replaceChildren(table("Forces and accelerations of every solution", ["solution", "constraint", "mode", "normal", "friction"],
      told.solutions.flatMap((item, i) => Object.keys(item.modes).map((name) => [String(i + 1), name, item.modes[name], full(item.normal[name]), full(item.tangential[name])]))),
    table("Constraints", ["constraint", "value", "rate", "closed"], told.gaps.map((item) => [item.name, full(item.value), full(item.rate), item.closed ? "yes" : "no"])));
    own.shown(told.carried || "");
  };

  const line = (item, name) => {
    const range = item.ranges[name];
    const normal = range && range.normal && typeof range.normal[0] !== "object" ? `${short(range.normal[0])} to ${short(range.normal[1])} N` : `${short(item.normal[name])} N`;
    const rub = item.tangential[name], along = Array.isArray(rub) ? Math.hypot(...rub) : rub;
    return `${name}: ${normal}${along ? `, friction ${short(along)} N` : ""}`;
  };

  const choose = (number) => {
    if (!view.told || number >= view.told.solutions.length) return;
    view.chosen = number;
    cards.querySelectorAll("[data-solution]").forEach((card, i) => card.setAttribute("aria-pressed", String(i === number)));
    view.emit("chosen");
  };

  return { ...own, show, choose,
    fail(message) { own.element.classList.add("stale"); own.shown(message, true); },
    ask({ follow = false, time = null } = {}) {
      own.busy();
      const at = time === null ? {} : { time, until: view.until, continue: view.path };
      transport.ask({ kind: "reactions", ...view.whose(), ...at }, (told) => {
        if (!told) { own.calm(); return; }
        if (told.status === "error") { own.element.classList.add("stale"); own.shown(told.message, true); view.emit("problem", told.message); return; }
        settled(told, { time });
      }, { follow });
    } };
};
