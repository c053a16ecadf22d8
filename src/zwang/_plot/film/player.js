(() => {
  // How evenly it plays, since the last question: for whoever wants to measure it.
  const paced = { frames: 0, longest: 0 };
  window.zwang = window.zwang || {
    stats: () => {
      const found = { frames: paced.frames, longest_gap_ms: paced.longest, pending: 0, superseded: 0 };
      paced.frames = paced.longest = 0;
      return found;
    },
  };
  const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const figure of document.querySelectorAll("figure.zwang-film:not([data-ready])")) {
    figure.dataset.ready = "1";
    const film = JSON.parse(figure.querySelector("script").textContent);
    const times = floats(film.times), places = floats(film.places), outlines = film.outlines.map(floats);
    const bodies = film.bodies.map((b) => b.corners ? b : { outline: floats(b.outline), at: floats(b.at) });
    const points = film.names.length, last = times.length - 1, length = times[last];
    const canvas = figure.querySelector("canvas"), pen = canvas.getContext("2d");
    const [button, slider, clock, speed] = ["button", "input", "output", "select"].map((q) => figure.querySelector(q));
    const [x0, y0, x1, y1] = film.box;
    let now = 0, playing = false, before = 0, scale = 1, width = 1, height = 1;
    // Short and long motions alike take about eight seconds at speed 1.
    const pace = length > 0 ? (length < 2 || length > 20 ? length / 8 : 1) : 1;

    const X = (x) => (x - x0) * scale, Y = (y) => height - (y - y0) * scale;
    const frame = () => {
      let low = 0, high = last;
      while (high - low > 1) { const m = (low + high) >> 1; if (times[m] <= now) low = m; else high = m; }
      const span = times[high] - times[low], part = span > 0 ? Math.min(1, Math.max(0, (now - times[low]) / span)) : 0;
      return [low, high, part];
    };
    const at = (k, [low, high, part]) => [0, 1].map((axis) => {
      const a = places[(low * points + k) * 2 + axis], b = places[(high * points + k) * 2 + axis];
      return a + part * (b - a);
    });
    const path = (line, count, get) => {
      pen.beginPath();
      for (let i = 0; i < count; i++) { const [x, y] = get(line, i); i ? pen.lineTo(X(x), Y(y)) : pen.moveTo(X(x), Y(y)); }
      pen.stroke();
    };
    const zigzag = ([a, b]) => {
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]], count = 16;
      const along = (part, swing) => [a[0] + part * dx - swing * dy, a[1] + part * dy + swing * dx];
      const inner = Array.from({ length: count }, (_, i) =>
        along(0.2 + 0.6 * i / (count - 1), i && i < count - 1 ? (i % 2 ? 0.06 : -0.06) : 0));
      return [a, ...inner, b];
    };
    const corners = (body, where, [low, high, part]) => {
      if (body.corners) return body.corners.map((k) => where[k]);
      const [x, y, angle] = [0, 1, 2].map((i) => {
        const a = body.at[3 * low + i], b = body.at[3 * high + i];
        return a + part * (b - a);
      });
      const [c, s] = [Math.cos(angle), Math.sin(angle)], line = [];
      for (let i = 0; i < body.outline.length; i += 2) {
        const [u, v] = [body.outline[i], body.outline[i + 1]];
        line.push([x + c * u - s * v, y + s * u + c * v]);
      }
      return line;
    };
    const floor = ([x, y, nx, ny]) => {
      const far = 3 * (x1 - x0 + y1 - y0), deep = 0.05 * Math.max(x1 - x0, y1 - y0);
      const end = (side, down) => [X(x - side * far * ny - down * deep * nx), Y(y + side * far * nx - down * deep * ny)];
      pen.fillStyle = "#e6ebef";
      pen.beginPath(); pen.moveTo(...end(-1, 0)); pen.lineTo(...end(1, 0)); pen.lineTo(...end(1, 1)); pen.lineTo(...end(-1, 1));
      pen.closePath(); pen.fill();
      pen.beginPath(); pen.moveTo(...end(-1, 0)); pen.lineTo(...end(1, 0)); pen.stroke();
    };
    const draw = () => {
      const here = frame(), where = film.names.map((_, k) => at(k, here));
      pen.clearRect(0, 0, width, height);
      pen.lineJoin = pen.lineCap = "round";
      pen.strokeStyle = "#6b7680"; pen.lineWidth = 1.4;
      for (const item of film.surfaces) floor(item);
      for (const line of outlines) path(line, line.length / 2, (l, i) => [l[2 * i], l[2 * i + 1]]);
      pen.lineWidth = 1; pen.strokeStyle = "rgba(0,114,178,.35)";
      for (const k of film.moving) path(k, here[0] + 1, (p, i) => [places[(i * points + p) * 2], places[(i * points + p) * 2 + 1]]);
      pen.strokeStyle = "#0072b2"; pen.fillStyle = "#cfe3f1"; pen.lineWidth = 1.8;
      for (const body of bodies) {
        const line = corners(body, where, here);
        path(line, line.length, (l, i) => l[i]); pen.closePath(); pen.fill(); pen.stroke();
      }
      pen.strokeStyle = "#6b7680"; pen.lineWidth = 1.4;
      for (const [a, b] of film.springs) { const line = zigzag([where[a], where[b]]); path(line, line.length, (l, i) => l[i]); }
      pen.strokeStyle = "#0072b2"; pen.lineWidth = 4;
      for (const [a, b] of film.bars) path([where[a], where[b]], 2, (l, i) => l[i]);
      const side = 0.012 * (width + height);
      for (const k of film.ground) {
        const [x, y] = [X(where[k][0]), Y(where[k][1])];
        pen.fillStyle = "#e6ebef"; pen.strokeStyle = "#6b7680"; pen.lineWidth = 1.2;
        pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - side, y + 1.5 * side); pen.lineTo(x + side, y + 1.5 * side);
        pen.closePath(); pen.fill(); pen.stroke();
      }
      pen.fillStyle = "#fff"; pen.strokeStyle = "#24292f"; pen.lineWidth = 1.5;
      for (const [x, y] of film.joints.map((k) => where[k])) { pen.beginPath(); pen.arc(X(x), Y(y), 4, 0, 7); pen.fill(); pen.stroke(); }
      const passed = film.marks.filter(([time]) => time <= now + 1e-9).pop();
      if (passed && now - passed[0] < 0.12 * length + 1e-9) {
        pen.fillStyle = "#d55e00"; pen.font = "13px system-ui,sans-serif"; pen.fillText(passed[1], 10, 20);
      }
      slider.value = now;
      clock.textContent = `${film.quantity} = ${(film.start + now).toFixed(film.digits)} ${film.unit}`.trim();
    };
    const tick = (stamp) => {
      if (!playing) return;
      paced.frames += 1; paced.longest = Math.max(paced.longest, stamp - before);
      now += Math.min(stamp - before, 100) / 1000 * pace * Number(speed.value); before = stamp;
      if (now >= length) { now = length; play(false); }
      draw();
      if (playing) requestAnimationFrame(tick);
    };
    const play = (on) => {
      playing = on; button.textContent = on ? "❚❚" : "▶"; button.setAttribute("aria-label", on ? "pause" : "play");
      if (on) { if (now >= length) now = 0; before = performance.now(); requestAnimationFrame(tick); }
    };
    const fit = () => {
      width = canvas.clientWidth || 320;
      const shape = (y1 - y0) / (x1 - x0);
      height = Math.min(width * shape, 0.75 * Math.max(innerHeight, 320), 520);
      scale = Math.min(width / (x1 - x0), height / (y1 - y0));
      const ratio = devicePixelRatio || 1;
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      const free = (width - (x1 - x0) * scale) / 2;
      pen.translate(Math.max(free, 0), 0);
      draw();
    };
    slider.max = length || 1;
    for (const [time, text] of film.marks) {
      const mark = document.createElement("span");
      mark.className = "mark"; mark.title = text; mark.style.left = `${length > 0 ? 100 * time / length : 0}%`;
      slider.parentNode.append(mark);
    }
    button.addEventListener("click", () => play(!playing));
    canvas.addEventListener("click", () => play(!playing));
    slider.addEventListener("input", () => { play(false); now = Number(slider.value); draw(); });
    new ResizeObserver(fit).observe(canvas.parentNode);
    fit();
    if (film.autoplay && !still) play(true);
  }
})();
