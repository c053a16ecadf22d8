// How the page asks: a socket, or answers that were recorded. The newest request of a kind counts; older ones are dropped.

const MAGIC = 0x3146575a; // "ZWF1", little-endian
const PATIENCE = 60; // ms that a long request waits for a quick one

export const readFrame = (buffer) => {
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== MAGIC) throw new Error("not a frame of the lab");
  return { index: view.getUint32(8, true), rows: view.getUint32(12, true), columns: view.getUint32(16, true),
    data: new Float32Array(buffer.slice(20)) };
};

export class Transport {
  // wire: {send(request)}; it calls received(head, frames) for every answer, and closed(words) when it is gone.
  constructor(wire) {
    this.wire = wire;
    this.seq = 0;
    this.running = new Map(); // kind -> {seq, since, paint, request}
    this.waiting = new Map(); // kind -> what is sent when the running one has answered
    this.held = new Map(); // kind -> what is sent when quicker ones have answered
    this.superseded = 0;
    this.ended = "";
    wire.received = (head, frames) => this.received(head, frames);
    wire.closed = (words) => this.closed(words);
  }

  get pending() { return this.running.size + this.waiting.size + this.held.size; }

  // What takes longer lets a quick one go first, which is then answered by an idle machine; but doesn't wait for it long.
  after(first, request, paint, { follow = false, key = request.kind } = {}) {
    if (!this.running.has(first)) { this.ask(request, paint, { follow, key }); return; }
    if (this.held.has(key)) this.superseded += 1;
    this.held.set(key, { first, request, paint, follow });
    setTimeout(() => this.release(first), PATIENCE);
  }

  release(first) {
    for (const [key, item] of [...this.held]) {
      if (item.first !== first) continue;
      this.held.delete(key);
      this.ask(item.request, item.paint, { follow: item.follow, key });
    }
  }

  // follow: during a steady drag, let the running one finish if it is young; else push it aside.
  ask(request, paint, { follow = false, key = request.kind } = {}) {
    const running = this.running.get(key);
    if (follow && running && performance.now() - running.since < 600) {
      if (this.waiting.has(key)) this.superseded += 1;
      this.waiting.set(key, { request, paint });
      return;
    }
    if (running) this.superseded += 1;
    this.waiting.delete(key);
    this.held.delete(key);
    this.send(key, request, paint);
  }

  send(key, request, paint) {
    if (this.ended) { paint({ status: "error", message: this.ended }, []); return; }
    this.seq += 1;
    this.running.set(key, { seq: this.seq, since: performance.now(), paint, request });
    this.wire.send({ seq: this.seq, ...request });
  }

  received(head, frames) {
    for (const [key, item] of this.running) {
      if (item.seq !== head.seq) continue;
      if (head.status !== "part") {
        this.running.delete(key);
        const next = this.waiting.get(key);
        this.waiting.delete(key);
        if (next) this.send(key, next.request, next.paint);
      }
      if (head.status !== "cancelled") item.paint(head, frames);
      else item.paint(null, []);
      if (head.status !== "part") this.release(key);
      return;
    }
  }

  closed(words) {
    this.ended = words;
    const open = [...this.running.values(), ...this.held.values()];
    this.running.clear();
    this.waiting.clear();
    this.held.clear();
    for (const item of open) item.paint({ status: "error", message: words }, []);
  }
}

export const socketWire = (address) => {
  const wire = { ready: null };
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  const early = [];
  let head = null, frames = [];
  const done = () => { const told = head; head = null; wire.received(told, frames); frames = []; };
  socket.onopen = () => { for (const text of early.splice(0)) socket.send(text); };
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") {
      head = JSON.parse(data);
      frames = [];
      if (!head.frames) done();
    } else {
      frames.push(readFrame(data));
      if (head && frames.length === head.frames) done();
    }
  };
  socket.onclose = (event) => wire.closed(event.code === 1013
    ? "Too many pages are open. Close one and load this page again."
    : "The lab has ended. Start it again: zwang lab.");
  wire.send = (request) => {
    const text = JSON.stringify(request);
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else if (socket.readyState === WebSocket.CONNECTING) early.push(text);
  };
  return wire;
};

const decoded = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

// Answers that were written into the page: those of the view it was made with.
export const recordedWire = (recorded) => {
  const wire = {};
  const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
  wire.send = (request) => {
    if (request.time !== undefined || request.kind === "critical") { // only the start was recorded; the drawing plays on
      setTimeout(() => wire.received({ seq: request.seq, kind: request.kind, status: "cancelled", frames: 0 }, []), 0);
      return;
    }
    const keys = ["system", "text", "vary", "what", "handle", "constraint", "id", "run", "by"];
    const found = recorded.find((item) => item.request.kind === request.kind &&
      keys.every((key) => !(key in item.request) || same(item.request[key], request[key])) &&
      close(item.request.params, request.params) && !(request.continue && request.continue.length) && !request.inputs);
    setTimeout(() => {
      if (!found) {
        wire.received({ seq: request.seq, kind: request.kind, status: "error", frames: 0,
          message: "This page was recorded and has no Python behind it. zwang lab computes this." }, []);
        return;
      }
      for (const { head, frames } of found.answers) {
        wire.received({ ...head, seq: request.seq }, frames.map((text) => readFrame(decoded(text))));
      }
    }, 0);
  };
  const close = (mine, theirs) => !mine || !theirs ||
    Object.entries(mine).every(([name, value]) => !(name in theirs) || Math.abs(theirs[name] - value) <= 1e-12 * (1 + Math.abs(value)));
  return wire;
};

// The kernel of a notebook, over the messages of a widget.
export const widgetWire = (model) => {
  const wire = {};
  model.on("msg:custom", (head, buffers) => {
    if (head && head.seq !== undefined) {
      wire.received(head, (buffers || []).map((view) => readFrame(
        view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength))));
    }
  });
  wire.send = (request) => model.send(request);
  return wire;
};
