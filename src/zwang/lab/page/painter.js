// Draws a mechanism on a canvas; knows numbers and colours, no physics.

export class Frame {
  // Fits a box of the drawing's plane, or of space seen from a side, into a canvas of a size in CSS pixels.
  // turn: azimuth and elevation of the view in space.
  constructor(box, width, height, room = 0, turn = [0.5, 0.51]) {
    this.width = width;
    this.height = height;
    this.spatial = box.length === 6;
    let [x0, y0, x1, y1] = box;
    if (this.spatial) {
      const [c, s, C, S] = [Math.cos(turn[0]), Math.sin(turn[0]), Math.cos(turn[1]), Math.sin(turn[1])];
      this.right = [c, s, 0];
      this.up = [-s * S, c * S, C];
      this.toward = [s * C, -c * C, S]; // to the one who looks
      this.middle = [0, 1, 2].map((k) => (box[k] + box[k + 3]) / 2);
      const half = [0, 1, 2].map((k) => (box[k + 3] - box[k]) / 2), around = Math.hypot(half[0], half[1]);
      // As large from every side: the picture doesn't breathe while it is turned about the vertical.
      const tall = around * Math.abs(S) + half[2] * C, [u, v] = this.plane(this.middle);
      this.reach = Math.hypot(...half) || 1;
      [x0, y0, x1, y1] = [u - around, v - tall, u + around, v + tall];
    }
    this.scale = Math.min((width - 2 * room) / (x1 - x0 || 1), (height - 2 * room) / (y1 - y0 || 1));
    this.x = (width - (x1 + x0) * this.scale) / 2;
    this.y = (height + (y1 + y0) * this.scale) / 2;
  }
  // A place, or a direction, of the drawing in the plane of the picture.
  plane(place) {
    if (place.length < 3 || !this.spatial) return [place[0], place[1]];
    const along = (axis) => axis[0] * place[0] + axis[1] * place[1] + axis[2] * place[2];
    return [along(this.right), along(this.up)];
  }
  depth(place) { return this.toward[0] * place[0] + this.toward[1] * place[1] + this.toward[2] * place[2]; }
  at(place) { const [x, y] = this.plane(place); return [this.x + x * this.scale, this.y - y * this.scale]; }
  back([x, y]) { return [(x - this.x) / this.scale, (this.y - y) / this.scale]; }
  // Images of the three axes, as requests carry them.
  get view() { return [0, 1, 2].flatMap((k) => [this.right[k], this.up[k]]); }
}

export const prepare = (canvas, height) => {
  const ratio = Math.min(devicePixelRatio || 1, 2), width = canvas.clientWidth || 320;
  const wide = Math.round(width * ratio), tall = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
};

const line = (pen, frame, points, close = false) => {
  pen.beginPath();
  points.forEach((point, i) => (i ? pen.lineTo(...frame.at(point)) : pen.moveTo(...frame.at(point))));
  if (close) pen.closePath();
};

export const zigzag = (a, b) => { // in the plane of the picture
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]], count = 16;
  const inner = Array.from({ length: count }, (_, i) => {
    const along = 0.2 + 0.6 * i / (count - 1), swing = i && i < count - 1 ? (i % 2 ? 0.06 : -0.06) : 0;
    return [a[0] + along * dx - swing * dy, a[1] + along * dy + swing * dx];
  });
  return [a, ...inner, b];
};

// The outline of a body in the plane of the picture; in space round bodies are discs.
export const outline = (frame, body, at, places) => {
  if (body.corners) return body.corners.map((k) => frame.plane(places[k]));
  if (frame.spatial) { const [u, v] = frame.plane(at); return body.outline.map(([x, y]) => [u + x, v + y]); }
  const [x, y, angle] = at, [c, s] = [Math.cos(angle), Math.sin(angle)];
  return body.outline.map(([u, v]) => [x + c * u - s * v, y + s * u + c * v]);
};

const floor = (pen, frame, [x, y, nx, ny], colours) => {
  const far = 4 * (frame.width + frame.height) / frame.scale, deep = 8 / frame.scale;
  const end = (side, down) => [x - side * far * ny - down * deep * nx, y + side * far * nx - down * deep * ny];
  pen.fillStyle = colours.fill;
  line(pen, frame, [end(-1, 0), end(1, 0), end(1, 1), end(-1, 1)], true);
  pen.fill();
  pen.strokeStyle = colours.quiet;
  line(pen, frame, [end(-1, 0), end(1, 0)]);
  pen.stroke();
};

// Solids in space, the farther faces first; without their inner lines, which show through.
const faces = (pen, frame, scene, places, colours, ghost) => {
  const far = (face) => face.reduce((sum, k) => sum + frame.depth(places[k]), 0);
  pen.fillStyle = pen.strokeStyle = colours.fill;
  for (const face of [...scene.faces].sort((a, b) => far(a) - far(b))) {
    line(pen, frame, face.map((k) => places[k]), true);
    if (!ghost) { pen.fill(); pen.stroke(); }
  }
  const hidden = new Set(scene.faces.flat()), wires = scene.bars.filter(([a, b]) => hidden.has(a) && hidden.has(b));
  pen.strokeStyle = colours.accent;
  for (const [a, b] of wires) { line(pen, frame, [places[a], places[b]]); pen.stroke(); }
};

// colours: ink, quiet, accent, fill, paper; ghost draws everything pale.
export const paintScene = (pen, frame, scene, { places = scene.places, bodiesAt = null, colours, ghost = false, small = false }) => {
  pen.save();
  pen.globalAlpha = ghost ? 0.5 : 1;
  pen.lineJoin = pen.lineCap = "round";
  const body = (k) => (bodiesAt ? bodiesAt[k] : scene.bodies[k].at);
  if (!ghost) {
    pen.lineWidth = small ? 0.8 : 1.2;
    for (const item of scene.surfaces) floor(pen, frame, item, colours);
    pen.strokeStyle = colours.quiet;
    for (const guide of [...scene.outlines, ...scene.endless]) { line(pen, frame, guide); pen.stroke(); }
  }
  pen.lineWidth = small ? 1 : 1.8;
  if (scene.faces && scene.faces.length) faces(pen, frame, scene, places, colours, ghost);
  scene.bodies.forEach((item, k) => {
    line(pen, frame, outline(frame, item, body(k), places), true);
    pen.fillStyle = colours.fill;
    pen.strokeStyle = colours.accent;
    if (!ghost) pen.fill();
    pen.stroke();
  });
  pen.strokeStyle = colours.quiet;
  pen.lineWidth = small ? 0.8 : 1.4;
  for (const [a, b] of scene.springs) { line(pen, frame, zigzag(frame.plane(places[a]), frame.plane(places[b]))); pen.stroke(); }
  pen.strokeStyle = ghost ? colours.quiet : colours.accent;
  pen.lineWidth = small ? 2 : 4;
  for (const [a, b] of scene.wires || scene.bars) { line(pen, frame, [places[a], places[b]]); pen.stroke(); }
  if (!small) {
    for (const k of ghost ? [] : scene.ground) {
      const [x, y] = frame.at(places[k]);
      pen.fillStyle = colours.fill;
      pen.strokeStyle = colours.quiet;
      pen.lineWidth = 1.2;
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - 9, y + 14); pen.lineTo(x + 9, y + 14); pen.closePath();
      pen.fill(); pen.stroke();
    }
    pen.fillStyle = colours.paper;
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 1.5;
    for (const k of scene.joints) {
      pen.beginPath(); pen.arc(...frame.at(places[k]), 4, 0, 7); pen.fill(); pen.stroke();
    }
  } else if (scene.joints.length && !scene.bars.length && !scene.bodies.length) {
    pen.fillStyle = colours.accent;
    for (const k of scene.joints) { pen.beginPath(); pen.arc(...frame.at(places[k]), 2.5, 0, 7); pen.fill(); }
  }
  pen.restore();
};

// An arrow of a force: solid head for normal forces, open for friction; a dot if short, cut with a double head if long.
export const paintArrow = (pen, from, [dx, dy], { colour, open = false, most = Infinity, label = "", wide = 2.2, room = null, paper = null }) => {
  const size = Math.hypot(dx, dy);
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = wide;
  if (size < 3) { pen.beginPath(); pen.arc(...from, 2.5, 0, 7); pen.fill(); return; }
  const [ux, uy] = [dx / size, dy / size], cut = size > most, length = Math.min(size, most);
  const tip = [from[0] + ux * length, from[1] + uy * length], head = Math.min(11, 0.6 * length);
  const point = (back, side) => [tip[0] - ux * back - uy * side, tip[1] - uy * back + ux * side];
  pen.beginPath(); pen.moveTo(...from); pen.lineTo(...point(open ? 0 : head * 0.8, 0)); pen.stroke();
  for (const back of cut ? [0, head * 0.8] : [0]) {
    pen.beginPath(); pen.moveTo(...point(back + head, head * 0.42)); pen.lineTo(...point(back, 0)); pen.lineTo(...point(back + head, -head * 0.42));
    if (open) pen.stroke(); else { pen.closePath(); pen.fill(); }
  }
  if (label || cut) {
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = ux > 0.3 ? "left" : ux < -0.3 ? "right" : "center";
    const wide = pen.measureText(label).width, left = { left: 0, center: wide / 2, right: wide }[pen.textAlign];
    const within = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));
    const x = within(tip[0] + 8 * ux, left + 2, (room ? room[0] : Infinity) - wide + left - 2);
    const y = within(tip[1] + 12 * uy + 4, 12, (room ? room[1] : Infinity) - 4);
    if (paper) { // the ground and the bars pass behind the number
      Object.assign(pen, { strokeStyle: paper, lineWidth: 4, lineJoin: "round" });
      pen.strokeText(label, x, y);
    }
    pen.fillText(label, x, y);
  }
};

export const roundValue = (value) => {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value)), lead = value / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
};
