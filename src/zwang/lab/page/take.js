// What is shown, to be taken away: a script, a model, pictures, tables, a link, a film.

import { full, make, part, save, table } from "./elements.js";
import { outline, zigzag } from "./painter.js";
import { palette } from "./systems.js";

const WHAT = { python: "Python", model: "Model", png: "PNG", svg: "SVG", csv: "CSV", netcdf: "netCDF", link: "Link", film: "Film" };

export const takePart = (view, transport, drawing, { address }) => {
  const own = part("take");
  const script = make("pre", { "data-script": "", tabindex: "0", "aria-label": "script that reproduces what is shown", role: "group" });
  const buttons = Object.entries(WHAT).map(([what, text]) => make("button", { type: "button", "data-take": what, text, onclick: () => take(what) }));
  own.body.append(make("div", { class: "row controls" }, ...buttons), script);

  const whole = () => ({ ...view.whose(), until: view.until, continue: view.path });
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); return true; } catch { return false; }
  };
  const fill = (then = null) => transport.after("reactions", { kind: "take", what: "python", ...whole() }, (told) => {
    if (!told) return;
    if (told.status === "error") { if (then) own.shown(told.message, true); return; }
    script.textContent = told.text;
    if (then) then(told);
  }, { key: "take python", follow: !then });

  const take = (what) => {
    own.busy();
    if (what === "python") { fill(async (told) => own.shown(await copy(told.text) ? "Copied." : "The script is below.")); return; }
    if (what === "png") { drawing.whole().toBlob((blob) => { save(`${view.model.name}.png`, blob); own.shown("Saved."); }); return; }
    if (what === "svg") { save(`${view.model.name}.svg`, svg(), "image/svg+xml"); own.shown("Saved."); return; }
    if (what === "link") { const link = address(); copy(link).then((done) => { own.shown(done ? `Copied: ${link}` : link); }); return; }
    transport.ask({ kind: "take", what, ...whole() }, (told) => {
      if (!told) { own.calm(); return; }
      if (told.status === "error") { own.shown(told.message, true); return; }
      const content = told.data ? new Blob([Uint8Array.from(atob(told.data), (c) => c.charCodeAt(0))]) : told.text;
      save(told.name, content, "text/plain");
      own.shown(`Saved: ${told.name}.`);
    }, { key: `take ${what}` });
  };

  // The same picture as a drawing of lines.
  const svg = () => {
    const scene = drawing.scene, frame = drawing.frame, colours = palette(own.element);
    if (!scene || !frame) return '<svg xmlns="http://www.w3.org/2000/svg"/>';
    const places = drawing.live ? drawing.live.places : scene.places;
    const at = (point) => frame.at(point).map((value) => value.toFixed(2)).join(",");
    const lines = [];
    const path = (points, style, close = false) => lines.push(`<path d="M${points.map(at).join("L")}${close ? "Z" : ""}" ${style}/>`);
    const stroke = (ink, wide, fill = "none") => `fill="${fill}" stroke="${ink}" stroke-width="${wide}" stroke-linejoin="round" stroke-linecap="round"`;
    for (const [x, y, nx, ny] of scene.surfaces) { const far = 2 * frame.width / frame.scale; path([[x - far * ny, y + far * nx], [x + far * ny, y - far * nx]], stroke(colours.quiet, 1.2)); }
    for (const line of [...scene.outlines, ...scene.endless]) path(line, stroke(colours.quiet, 1.2));
    scene.bodies.forEach((body, k) => path(outline(frame, body, drawing.live && drawing.live.bodiesAt[k] ? drawing.live.bodiesAt[k] : body.at, places), stroke(colours.accent, 1.8, colours.fill), true));
    for (const [a, b] of scene.springs) path(zigzag(frame.plane(places[a]), frame.plane(places[b])), stroke(colours.quiet, 1.4));
    for (const [a, b] of scene.bars) path([places[a], places[b]], stroke(colours.accent, 4));
    for (const k of scene.joints) { const [x, y] = frame.at(places[k]); lines.push(`<circle cx="${x.toFixed(2)}" cy="${y.toFixed(2)}" r="4" ${stroke(colours.ink, 1.5, colours.paper)}/>`); }
    const title = view.model.title.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${frame.width} ${frame.height}" width="${frame.width}" height="${frame.height}"><title>${title}</title>${lines.join("")}</svg>`;
  };

  return { ...own, script: () => fill(), take };
};
