// Small makers of elements, and how numbers are written.

export const make = (tag, attributes = {}, ...children) => {
  const found = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) found.addEventListener(key.slice(2), value);
    else if (key === "text") found.textContent = value;
    else if (key === "value") found.value = value;
    else found.setAttribute(key, value === true ? "" : value);
  }
  found.append(...children.filter((item) => item !== null && item !== undefined));
  return found;
};

const GREEK = Object.fromEntries(
  ("alpha α beta β gamma γ delta δ epsilon ε eps ε zeta ζ eta η theta θ kappa κ lambda λ lam λ mu μ nu ν xi ξ rho ρ " +
   "sigma σ tau τ phi φ chi χ psi ψ omega ω Theta Θ Phi Φ Omega Ω").split(" ").reduce((rows, word, i, all) =>
    i % 2 ? rows : [...rows, [word, all[i + 1]]], []));

// A quantity as it is written, and its index: Greek letters, a dot for velocities.
const lettered = (name) => {
  const speed = name.startsWith("v_");
  const bare = speed ? name.slice(2) : name;
  const digits = bare.match(/^(.*[^\d_])(\d+)$/);
  const parts = bare.includes("_") ? [bare.split("_")[0], bare.split("_").slice(1).join(" ")]
    : digits ? [digits[1], digits[2]] : [bare, ""];
  const letter = GREEK[parts[0]] || parts[0];
  return [speed ? `${letter}\u0307` : letter, GREEK[parts[1]] || parts[1]];
};

export const symbol = (name) => {
  const [letter, index] = lettered(name);
  return make("i", { class: "symbol" }, letter, index ? make("sub", { text: index }) : null);
};

// The same in a picture, which has no indices but those of digits.
export const written = (name) => {
  const [letter, index] = lettered(name);
  return letter + (/^\d+$/.test(index) ? [...index].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("") : index && ` ${index}`);
};

export const spoken = (name) => (name.startsWith("v_") ? `velocity of ${name.slice(2)}` : name);

// Four digits, a true minus sign.
export const short = (value) => {
  if (value === null || value === undefined) return "\u2013";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "\u2013" : value > 0 ? "\u221e" : "\u2212\u221e";
  const size = Math.abs(value);
  let text;
  if (size === 0) text = "0";
  else if (size < 1e-3 || size >= 1e5) {
    const [mantissa, power] = value.toExponential(3).split("e");
    text = `${Number(mantissa)}e${Number(power)}`;
  } else text = String(Number(value.toPrecision(4)));
  return text.replace(/-/g, "\u2212");
};

export const full = (value) => (value === null || value === undefined ? "\u2013" : String(value));

export const table = (caption, heads, rows) => make("table", {},
  make("caption", { text: caption }),
  make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", text })))),
  make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell, i) =>
    make(i ? "td" : "th", { scope: i ? null : "row", text: typeof cell === "number" ? full(cell) : cell }))))));

const HELP = {
  systems: ["Systems", "Mechanisms of the gallery, each an example of where classical mechanics stops giving an answer."],
  model: ["Model", "The declaration of the system; change it, or drop a model file here, and everything follows."],
  parameters: ["Parameters", "Move a value and watch; ticks mark where the configuration space changes its shape."],
  drawing: ["Drawing", "The mechanism at the shown state, with the forces of the chosen solution. Drag its points."],
  space: ["Configuration space", "All positions that the constraints allow; marked points are singular."],
  reactions: ["Reactions", "Every motion that the laws of contact and friction allow right here."],
  map: ["Map", "How many motions are possible, over two quantities. Choose a place to go there."],
  motion: ["Motion", "How it moves from the shown state, with what the laws decide on the way."],
  events: ["Events", "What happened when; choose one to go there."],
  realize: ["Realize", "A stiff spring or strong friction in place of a constraint, beside the ideal motion."],
  papers: ["Papers", "Claims of five papers, checked by computation; open their systems here."],
  take: ["Take away", "What is shown, as a script, a model, pictures, tables, a link or a film."],
};

// One of the twelve parts of the lab: a heading, a sentence, a link to help, and a body.
export const part = (name, { prefix = "" } = {}) => {
  const [title, sentence] = HELP[name];
  const body = make("div", { class: "body" });
  const note = make("p", { class: "note", hidden: true });
  const element = make("section", {
    "data-part": name, "data-status": "idle", "data-shown": "0", "aria-labelledby": `${prefix}part-${name}`,
    class: `part part-${name}`,
  },
  make("header", {},
    make("h2", { id: `${prefix}part-${name}`, text: title }),
    make("a", { class: "help", href: `help.html#${name}`, target: "_blank", rel: "noopener", text: "help",
      "aria-label": `help on ${title.toLowerCase()}` })),
  make("p", { class: "sentence", text: sentence }), note, body);
  let shown = 0;
  return {
    name, element, body, note,
    busy() { element.dataset.status = "busy"; },
    shown(message = "", problem = false) {
      shown += 1;
      element.dataset.shown = String(shown);
      element.dataset.status = problem ? "error" : "idle";
      note.hidden = !message;
      note.classList.toggle("problem", problem);
      note.textContent = message;
    },
    calm() { if (element.dataset.status === "busy") element.dataset.status = "idle"; },
  };
};

export const colour = (name, element = document.documentElement) =>
  getComputedStyle(element).getPropertyValue(`--${name}`).trim();

export const save = (name, content, kind) => {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};
