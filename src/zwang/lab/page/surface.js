// A surface of configurations as shaded triangles on a canvas, the farther ones first; and what lies under a pointer.

// mesh: {points: frame of configurations, triangles: numbers of points}; spot picks three coordinates of a
// configuration, scaled puts them into the cube that the frame shows.
export const paintSurface = (pen, frame, mesh, { spot, scaled, angles, colours, names, box }) => {
  const { points, triangles } = mesh, count = triangles.length / 3;
  const raw = Array.from({ length: points.rows }, (_, i) => spot(points.data.subarray(i * points.columns, (i + 1) * points.columns)));
  const places = raw.map(scaled), seen = places.map((place) => frame.at(place)), deep = places.map((place) => frame.depth(place));
  mesh.seen = seen;
  mesh.deep = deep;
  cube(pen, frame, colours, names, box, false);
  // A triangle that crosses the seam of an angle would run through the whole picture.
  const torn = (a, b) => angles.some((turning, i) => turning && Math.abs(raw[a][i] - raw[b][i]) > Math.PI);
  const order = [];
  for (let i = 0; i < count; i += 1) {
    const [a, b, c] = [triangles[3 * i], triangles[3 * i + 1], triangles[3 * i + 2]];
    if (!torn(a, b) && !torn(b, c)) order.push([deep[a] + deep[b] + deep[c], a, b, c]);
  }
  // Curves along which it is singular lie on it: a little nearer than the triangles they run between.
  for (const line of mesh.lines || []) {
    const spots = Array.from({ length: line.rows }, (_, i) => spot(line.data.subarray(i * line.columns, (i + 1) * line.columns)));
    for (let i = 1; i < spots.length; i += 1) {
      const [p, q] = [spots[i - 1], spots[i]];
      if (angles.some((turning, k) => turning && Math.abs(p[k] - q[k]) > Math.PI)) continue;
      const ends = [scaled(p), scaled(q)];
      order.push([1.5 * (frame.depth(ends[0]) + frame.depth(ends[1])) + 0.06, ends.map((place) => frame.at(place))]);
    }
  }
  order.sort((one, other) => one[0] - other[0]);
  pen.lineWidth = 0.6;
  pen.lineJoin = "round";
  const shades = Array.from({ length: 16 }, (_, k) => `color-mix(in srgb, ${colours.accent} ${22 + 4.5 * k}%, ${colours.paper})`);
  for (const [, a, b, c] of order) {
    if (b === undefined) {
      pen.strokeStyle = colours.problem;
      pen.lineWidth = 2.4;
      pen.beginPath(); pen.moveTo(...a[0]); pen.lineTo(...a[1]); pen.stroke();
      pen.lineWidth = 0.6;
      continue;
    }
    const [p, q, r] = [places[a], places[b], places[c]];
    const u = [q[0] - p[0], q[1] - p[1], q[2] - p[2]], v = [r[0] - p[0], r[1] - p[1], r[2] - p[2]];
    const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const size = Math.hypot(...normal) || 1, facing = Math.abs(frame.depth(normal)) / size; // which side is out is not known
    pen.fillStyle = pen.strokeStyle = shades[Math.min(15, Math.floor(16 * facing))];
    pen.beginPath();
    pen.moveTo(...seen[a]); pen.lineTo(...seen[b]); pen.lineTo(...seen[c]);
    pen.closePath();
    pen.fill();
    pen.stroke();
  }
  cube(pen, frame, colours, names, box, true);
};

// The edges of the cube, and the names of its axes; the three edges that meet in front come last.
const cube = (pen, frame, colours, names, box, front) => {
  const corners = Array.from({ length: 8 }, (_, k) => [k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1]);
  const nearestCorner = corners.map((place) => frame.depth(place)).reduce((best, value, k, all) => (value > all[best] ? k : best), 0);
  pen.strokeStyle = colours.quiet;
  pen.lineWidth = 0.8;
  for (let k = 0; k < 8; k += 1) {
    for (const bit of [1, 2, 4]) {
      if (k & bit) continue;
      const meets = k === nearestCorner || (k | bit) === nearestCorner;
      if (meets !== front) continue;
      pen.beginPath(); pen.moveTo(...frame.at(corners[k])); pen.lineTo(...frame.at(corners[k | bit])); pen.stroke();
    }
  }
  if (!front) return;
  pen.fillStyle = colours.quiet;
  pen.font = "12px system-ui, sans-serif";
  pen.textAlign = "center";
  const short = (value) => (Math.abs(Math.abs(value) - Math.PI) < 1e-9 ? (value < 0 ? "−π" : "π") : String(Number(value.toPrecision(3))).replace("-", "−"));
  names.forEach((name, axis) => {
    const middle = [0, 1, 2].map((k) => (k === axis ? 0 : k === 2 ? -1 : frame.toward[k] > 0 ? 1 : -1));
    if (axis === 2) { middle[0] = frame.right[0] > 0 ? -1 : 1; middle[1] = frame.right[1] > 0 ? -1 : 1; }
    const [x, y] = frame.at(middle.map((value, k) => (k === axis ? value : 1.12 * value)));
    pen.fillText(`${name}: ${short(box[axis])} to ${short(box[axis + 3])}`, Math.min(Math.max(x, 50), frame.width - 50), Math.min(Math.max(y, 12), frame.height - 4));
  });
};

// The configuration under a pointer: of the points within reach the one that is in front.
export const nearest = (mesh, frame, [x, y]) => {
  let best = -1, least = Infinity;
  for (let pass = 0, room = 6; pass < 4 && best < 0; pass += 1, room *= 2) {
    mesh.seen.forEach(([u, v], i) => {
      if (Math.hypot(u - x, v - y) < room && -mesh.deep[i] < least) { least = -mesh.deep[i]; best = i; }
    });
  }
  return best < 0 ? null : [...mesh.points.data.subarray(best * mesh.points.columns, (best + 1) * mesh.points.columns)];
};
