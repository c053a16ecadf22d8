// The ledger: claims of five papers, their verdicts, and their systems to open.

import { make, part, short, table } from "./elements.js";

export const papersPart = (view, transport, choose) => {
  const own = part("papers");
  const verdict = make("select", { name: "verdict", "aria-label": "verdict" }, ...["all verdicts", "confirmed", "corrected", "refuted", "added", "not checkable"].map((word) => make("option", { value: word, text: word })));
  const list = make("ol", { class: "claims", tabindex: "0", "aria-label": "claims" });
  const rows = make("details", {}, make("summary", { text: "Table of verdicts" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "verdicts" }));
  own.body.append(make("p", { class: "row" }, verdict), list, rows);
  verdict.addEventListener("change", () => {
    for (const item of list.children) item.hidden = verdict.value !== "all verdicts" && item.dataset.verdict !== verdict.value;
  });
  const plain = (text) => text.replace(/`/g, "");
  const show = (told) => {
    if (!told) { own.calm(); return; }
    if (told.status === "error") { own.shown(told.message, true); return; }
    list.replaceChildren(...told.claims.map((claim) => {
      const result = make("div", { class: "quiet", hidden: true, "aria-live": "polite" });
      const system = claim.systems.find((name) => view.systems.has(name));
      return make("li", { "data-claim": claim.id, "data-verdict": claim.verdict },
        make("b", { class: `verdict ${claim.verdict.replace(" ", "-")}`, text: claim.verdict }), make("span", { class: "quiet", text: ` ${claim.id}, ${plain(claim.place)}` }),
        make("p", { text: plain(claim.statement) }), result,
        make("span", { class: "row" },
          make("button", { type: "button", "data-action": "check", text: "Compute and show", "aria-label": `Compute and show ${claim.id}`, onclick: () => check(claim, result) }),
          system ? make("button", { type: "button", "data-action": "open", text: "Open in the lab", "aria-label": `Open in the lab: ${system}, of ${claim.id}`, onclick: () => choose(system) }) : null));
    }));
    const counts = new Map();
    for (const claim of told.claims) counts.set(claim.verdict, (counts.get(claim.verdict) || 0) + 1);
    rows.lastChild.replaceChildren(table("Claims by verdict", ["verdict", "claims"], [...counts].map(([word, count]) => [word, String(count)])));
    own.shown(`${told.claims.length} claims.`);
  };
  const check = (claim, result) => {
    result.hidden = false;
    result.textContent = "being computed …";
    own.busy();
    transport.ask({ kind: "claim", id: claim.id }, (told) => {
      if (!told) { result.textContent = "put aside for a newer one"; own.calm(); return; }
      if (told.status === "error") result.textContent = told.message;
      else {
        result.replaceChildren(make("p", { text: `${told.verdict} in ${short(told.seconds)} s: ${plain(told.computed)}` }),
          ...told.figures.map((item) => make("figure", {}, make("img", { src: item.data, alt: plain(item.caption) }), make("figcaption", { text: plain(item.caption) }))),
          ...(told.comparisons.length ? [make("details", {}, make("summary", { text: "Table of what was compared" }), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `comparisons of ${claim.id}` },
            table("Computed and expected", ["what", "computed", "expected", "holds"], told.comparisons.map((item) => [item.what, item.computed, item.expected, item.holds ? "yes" : "no"]))))] : []));
      }
      own.shown("", told.status === "error");
    });
  };
  return { ...own, ask() { own.busy(); transport.ask({ kind: "claims" }, show); } };
};
