// Paints a schedule on a canvas; knows rows, bars, filters and the visible span of time, but no
// mouse and no keyboard.

const AXIS = 26;
const FONT = "system-ui, sans-serif";

export function jobColour(job) {
  const light = [72, 62, 80][job % 3];
  return `hsl(${(job * 137.508) % 360} 62% ${light}%)`;
}

function niceStep(span, pixels) {
  const rough = span / Math.max(2, pixels / 80);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  return Math.max(1, [1, 2, 5, 10].find((f) => f * power >= rough) * power);
}

export class GanttPainter {
  constructor(container) {
    this.by = "machine";
    this.filter = { job: null, machine: null, criticalOnly: false };
    this.data = null;
    this.view = { from: 0, to: 1 };
    this.cursor = -1;
    this.moves = [];
    this.drag = null;
    this.lastDraw = 0;
    this.build(container);
  }

  build(container) {
    this.box = document.createElement("div");
    this.box.className = "gantt-box";
    this.canvas = document.createElement("canvas");
    this.canvas.className = "gantt-canvas";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "Gantt chart");
    this.tip = document.createElement("div");
    this.tip.className = "gantt-tip";
    this.tip.hidden = true;
    this.live = document.createElement("div");
    this.live.className = "gantt-hidden";
    this.live.setAttribute("aria-live", "polite");
    this.box.append(this.canvas, this.tip, this.live);
    container.append(this.box);
    this.pen = this.canvas.getContext("2d");
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.scheme.addEventListener("change", () => this.draw());
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  // Show a schedule. With the same operations as before, bars glide to their new places.
  setData(data, { glide = 0 } = {}) {
    const before = this.data;
    const same = before && before.start.length === data.start.length
      && before.machine.every((m, i) => m === data.machine[i]);
    this.from = same && glide && !this.still.matches ? this.shown() : null;
    this.glide = glide;
    this.since = performance.now();
    this.data = data;
    if (!same) {
      this.moves = [];
      this.cursor = -1;
      this.filter = { job: null, machine: null, criticalOnly: false };
    }
    const end = Math.max(data.makespan, data.lowerBound || 0, data.bestKnown || 0, 1) * 1.02;
    const whole = !before || !same || (this.view.from === 0 && this.view.to === this.end);
    this.end = whole || end > this.end ? end : this.end;
    if (whole) this.view = { from: 0, to: this.end };
    this.typical = data.end.reduce((sum, e, i) => sum + e - data.start[i], 0) / data.end.length;
    this.inBlock = new Set(data.blocks.flat());
    this.label();
    this.arrange();
    this.resize();
  }

  // Moves to mark: [{first, second, share}], share being the width of the mark from 0 to 1.
  setMoves(moves) {
    this.moves = moves;
    this.draw();
  }

  setGrouping(by) {
    this.by = by;
    this.arrange();
    this.resize();
  }

  setFilter(filter) {
    Object.assign(this.filter, filter);
    this.arrange();
    this.resize();
  }

  passes(op) {
    const { data: d, filter: f } = this;
    return (f.job === null || d.job[op] === f.job)
      && (f.machine === null || d.machine[op] === f.machine)
      && (!f.criticalOnly || d.critical[op] === 1);
  }

  // Rows that hold a bar passing the filter, and the bars of each in order of time.
  arrange() {
    const { data: d } = this;
    const names = this.by === "machine" ? d.machines : d.jobs;
    const all = names.map(() => []);
    const group = this.by === "machine" ? d.machine : d.job;
    for (let op = 0; op < group.length; op++) all[group[op]].push(op);
    this.rows = [];
    this.rowOf = new Array(group.length).fill(-1);
    all.forEach((ops, i) => {
      if (!ops.some((op) => this.passes(op))) return;
      ops.sort((a, b) => d.start[a] - d.start[b] || d.end[a] - d.end[b] || a - b);
      for (const op of ops) this.rowOf[op] = this.rows.length;
      this.rows.push({ name: names[i], ops });
    });
  }

  resize() {
    if (!this.data) return;
    const width = this.box.clientWidth;
    if (!width) return;
    const count = Math.max(this.rows.length, 1);
    this.rowHeight = Math.min(34, Math.max(15, 460 / count));
    const height = Math.ceil(count * this.rowHeight + AXIS + (width < 480 ? 38 : 22));
    const ratio = globalThis.devicePixelRatio || 1;
    if (this.width !== width || this.height !== height || this.ratio !== ratio) {
      Object.assign(this, { width, height, ratio });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
    }
    this.pen.font = `12px ${FONT}`;
    const widest = Math.max(0, ...this.rows.map((row) => this.pen.measureText(row.name).width));
    this.left = Math.min(Math.ceil(widest) + 12, Math.max(60, width * 0.3));
    this.draw();
  }

  x(time) {
    const { from, to } = this.view;
    return this.left + ((time - from) / (to - from)) * (this.width - this.left - 2);
  }

  time(x) {
    const { from, to } = this.view;
    return from + ((x - this.left) / (this.width - this.left - 2)) * (to - from);
  }

  // Start times as they stand on the screen now: between two schedules while gliding.
  shown() {
    const { start } = this.data;
    if (!this.from) return start;
    const part = Math.min(1, (performance.now() - this.since) / this.glide);
    if (part >= 1) {
      this.from = null;
      return start;
    }
    const ease = 1 - (1 - part) ** 3;
    return start.map((s, i) => this.from[i] + (s - this.from[i]) * ease);
  }

  draw() {
    if (!this.data || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const began = performance.now();
      this.paint();
      this.lastDraw = performance.now() - began;
      if (this.from) this.draw();
    });
  }

  paint() {
    const { pen, data: d, width, height, ratio } = this;
    const look = getComputedStyle(this.box);
    const ink = look.getPropertyValue("--gantt-ink").trim() || "#1a1a1a";
    const grid = look.getPropertyValue("--gantt-grid").trim() || "#ddd";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.paintAxis(ink, grid);
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, width - this.left, height);
    pen.clip();
    const start = this.shown();
    this.paintBars(start);
    this.paintBlocks(start, ink);
    this.paintMoves(start);
    this.paintLines();
    if (this.cursor >= 0 && this.rowOf[this.cursor] >= 0) {
      const r = this.rect(this.cursor, start);
      pen.strokeStyle = "#0b57d0";
      pen.lineWidth = 3;
      pen.strokeRect(r.x - 1, r.y - 1, r.w + 2, r.h + 2);
    }
    if (this.drag && this.drag.bar >= 0 && this.drag.moved) {
      const r = this.rect(this.drag.bar, start);
      pen.globalAlpha = 0.75;
      pen.fillStyle = jobColour(d.job[this.drag.bar]);
      pen.fillRect(r.x + this.drag.dx, r.y - 3, r.w, r.h + 6);
      pen.globalAlpha = 1;
    }
    pen.restore();
  }

  paintAxis(ink, grid) {
    const { pen, width } = this;
    const bottom = this.rows.length * this.rowHeight + 4;
    const step = niceStep(this.view.to - this.view.from, width - this.left);
    pen.font = `11px ${FONT}`;
    pen.textBaseline = "top";
    pen.lineWidth = 1;
    pen.strokeStyle = grid;
    pen.fillStyle = ink;
    for (let t = Math.ceil(this.view.from / step) * step; t <= this.view.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x, bottom);
      pen.stroke();
      const text = String(t);
      const half = pen.measureText(text).width / 2;
      if (x + half < width && x - half > this.left - 12) {
        pen.textAlign = "center";
        pen.fillText(text, x, bottom + 4);
      }
    }
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.font = `12px ${FONT}`;
    this.rows.forEach((row, i) => {
      pen.fillText(this.clip(row.name, this.left - 10), this.left - 7, (i + 0.5) * this.rowHeight + 2);
    });
    this.paintLegend(ink, bottom + 30);
  }

  paintLegend(ink, y) {
    const { pen } = this;
    pen.textAlign = "left";
    pen.font = `12px ${FONT}`;
    let x = this.left;
    for (const [name, value, colour, dash] of this.marks()) {
      const text = this.width > 560 ? `${name} ${value}` : `${name.replace("lower ", "")} ${value}`;
      const room = pen.measureText(text).width + 26;
      if (x > this.left && x + room > this.width) {
        x = this.left;
        y += 16;
      }
      pen.strokeStyle = colour === "ink" ? ink : colour;
      pen.setLineDash(dash);
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + 16, y);
      pen.stroke();
      pen.setLineDash([]);
      pen.fillStyle = ink;
      pen.fillText(text, x + 20, y);
      x += room + 10;
    }
  }

  marks() {
    const d = this.data;
    const marks = [["makespan", d.makespan, "ink", []]];
    if (d.bestKnown !== null && d.bestKnown !== undefined) marks.push(["best known", d.bestKnown, "#1a8f4a", [6, 3]]);
    if (d.lowerBound !== null && d.lowerBound !== undefined) marks.push(["lower bound", d.lowerBound, "#d0342c", [2, 3]]);
    return marks;
  }

  clip(text, room) {
    const { pen } = this;
    if (pen.measureText(text).width <= room) return text;
    let n = text.length;
    while (n > 1 && pen.measureText(`${text.slice(0, n)}…`).width > room) n--;
    return `${text.slice(0, n)}…`;
  }

  rect(op, start = this.data.start) {
    const { data: d } = this;
    const x = this.x(start[op]);
    const w = Math.max(this.x(start[op] + d.end[op] - d.start[op]) - x, 1);
    const pad = Math.max(1, this.rowHeight * 0.09);
    return { x, y: this.rowOf[op] * this.rowHeight + pad + 2, w, h: this.rowHeight - 2 * pad };
  }

  paintBars(start) {
    const { pen, data: d } = this;
    const inner = this.by === "machine" ? d.job : d.machine;
    const names = this.by === "machine" ? d.jobs : d.machines;
    const colours = d.jobs.map((_, job) => jobColour(job));
    const crowded = this.x(this.view.from + this.typical) - this.left < 19;
    pen.font = `${Math.min(crowded ? 9 : 12, this.rowHeight * 0.7)}px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const widths = names.map((name) => pen.measureText(name).width);
    for (let op = 0; op < start.length; op++) {
      if (this.rowOf[op] < 0) continue;
      const r = this.rect(op, start);
      if (r.x > this.width || r.x + r.w < this.left) continue;
      const clear = this.passes(op);
      pen.globalAlpha = clear ? 1 : 0.15;
      pen.fillStyle = colours[d.job[op]];
      pen.fillRect(r.x, r.y, r.w > 3 ? r.w - 0.6 : r.w, r.h);
      if (clear && widths[inner[op]] + 3 < r.w) {
        pen.fillStyle = "#111";
        pen.fillText(names[inner[op]], r.x + r.w / 2, r.y + r.h / 2 + 0.5);
      }
    }
    pen.globalAlpha = 1;
  }

  paintBlocks(start, ink) {
    const { pen, data: d } = this;
    pen.strokeStyle = ink;
    for (const block of d.blocks) {
      pen.lineWidth = 1.2;
      for (const op of block) {
        if (this.rowOf[op] < 0) continue;
        const r = this.rect(op, start);
        pen.strokeRect(r.x, r.y, r.w, r.h);
      }
      if (this.by !== "machine" || block.length < 2 || this.rowOf[block[0]] < 0) continue;
      const a = this.rect(block[0], start);
      const b = this.rect(block[block.length - 1], start);
      pen.lineWidth = 2.6;
      pen.strokeRect(a.x, a.y, b.x + b.w - a.x, a.h);
    }
  }

  paintMoves(start) {
    const { pen } = this;
    for (const { first, second, share = 0, chosen = false } of this.moves) {
      if (this.rowOf[first] < 0 || this.rowOf[second] < 0 || this.by !== "machine") continue;
      const a = this.rect(first, start);
      const b = this.rect(second, start);
      const x = b.x;
      const radius = 3 + 6 * Math.sqrt(share);
      pen.beginPath();
      pen.arc(x, a.y + a.h / 2, radius, 0, 2 * Math.PI);
      pen.fillStyle = chosen ? "#0b57d0" : "#fff";
      pen.fill();
      pen.lineWidth = 2;
      pen.strokeStyle = "#0b57d0";
      pen.stroke();
    }
  }

  paintLines() {
    const { pen } = this;
    const bottom = this.rows.length * this.rowHeight + 4;
    const look = getComputedStyle(this.box);
    for (const [, value, colour, dash] of this.marks()) {
      pen.strokeStyle = colour === "ink" ? look.getPropertyValue("--gantt-ink").trim() || "#111" : colour;
      pen.lineWidth = 1.6;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(this.x(value), 0);
      pen.lineTo(this.x(value), bottom);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  label() {
    const d = this.data;
    const known = d.bestKnown ? `, best known ${d.bestKnown}` : "";
    const bound = d.lowerBound ? `, lower bound ${d.lowerBound}` : "";
    this.canvas.setAttribute("aria-label",
      `${d.title}: ${d.jobs.length} jobs on ${d.machines.length} machines, makespan ${d.makespan}`
      + `${known}${bound}. Arrow keys move between operations, plus and minus zoom, 0 shows all.`);
  }
}
