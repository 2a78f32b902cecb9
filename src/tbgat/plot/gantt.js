// An interactive Gantt chart: hover, zoom, filter, keyboard, dragging one bar onto another. Used
// alone (inlined into one HTML file) and by the page of `tbgat ui`.

import { GanttPainter } from "./gantt-paint.js";

export class GanttChart extends GanttPainter {
  // options.onSwap(a, b): called when bar a is dropped on bar b of the same machine.
  constructor(container, options = {}) {
    super(container);
    this.options = options;
    this.listen();
  }

  describe(op) {
    const d = this.data;
    const mark = this.inBlock.has(op) ? ", on the critical path" : d.critical[op] ? ", critical" : "";
    return `job ${d.jobs[d.job[op]]}, operation ${d.step[op]}, machine ${d.machines[d.machine[op]]}, `
      + `${d.start[op]} to ${d.end[op]} (${d.end[op] - d.start[op]})${mark}`;
  }

  // The bar under a point of the canvas, or -1.
  barAt(x, y) {
    const row = this.rows[Math.floor((y - 2) / this.rowHeight)];
    if (!row || x < this.left) return -1;
    const slack = (this.view.to - this.view.from) / (this.width - this.left);
    const t = this.time(x);
    const { start, end } = this.data;
    const hits = row.ops.filter((op) => start[op] - slack <= t && t < end[op] + slack);
    return hits.find((op) => start[op] <= t && t < end[op]) ?? hits[0] ?? -1;
  }

  point(event) {
    const r = this.canvas.getBoundingClientRect();
    return [event.clientX - r.left, event.clientY - r.top];
  }

  zoom(factor, centre = (this.view.from + this.view.to) / 2) {
    const span = Math.min(this.end, Math.max((this.view.to - this.view.from) / factor, 4));
    const part = (centre - this.view.from) / (this.view.to - this.view.from);
    this.pan(centre - part * span, span);
  }

  pan(from, span = this.view.to - this.view.from) {
    const left = Math.max(0, Math.min(from, this.end - span));
    this.view = { from: left, to: left + span };
    this.draw();
  }

  reset() {
    this.view = { from: 0, to: this.end };
    this.draw();
  }

  // Put the keyboard's cursor on a bar, scroll it into view and say what it is.
  focusBar(op) {
    this.cursor = op;
    const { start, end } = this.data;
    const span = this.view.to - this.view.from;
    if (start[op] < this.view.from || end[op] > this.view.to) this.pan((start[op] + end[op] - span) / 2);
    this.live.textContent = this.describe(op);
    this.draw();
  }

  listen() {
    const { canvas } = this;
    this.touches = new Map();
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event, true));
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  key(event) {
    if (!this.data || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.cursor >= 0 && this.rowOf[this.cursor] >= 0 ? this.cursor : -1;
    const row = at < 0 ? 0 : this.rowOf[at];
    const ops = this.rows[row].ops;
    const place = ops.indexOf(at);
    const beside = (r) => {
      const next = this.rows[Math.max(0, Math.min(this.rows.length - 1, r))].ops;
      const t = at < 0 ? 0 : this.data.start[at];
      return next.reduce((a, b) => (Math.abs(this.data.start[b] - t) < Math.abs(this.data.start[a] - t) ? b : a));
    };
    const go = {
      ArrowRight: () => this.focusBar(ops[Math.min(place + 1, ops.length - 1)]),
      ArrowLeft: () => this.focusBar(ops[Math.max(place - 1, 0)]),
      ArrowDown: () => this.focusBar(at < 0 ? ops[0] : beside(row + 1)),
      ArrowUp: () => this.focusBar(at < 0 ? ops[0] : beside(row - 1)),
      Home: () => this.focusBar(ops[0]),
      End: () => this.focusBar(ops[ops.length - 1]),
      "+": () => this.zoom(1.5, at < 0 ? undefined : this.data.start[at]),
      "=": () => this.zoom(1.5, at < 0 ? undefined : this.data.start[at]),
      "-": () => this.zoom(1 / 1.5),
      0: () => this.reset(),
      Escape: () => { this.cursor = -1; this.draw(); },
      s: () => this.swapNext(at),
    }[event.key];
    if (!go) return;
    event.preventDefault();
    go();
  }

  swapNext(op) {
    if (op < 0 || !this.options.onSwap) return;
    const { machine, start } = this.data;
    const later = machine.map((m, i) => i).filter((i) => machine[i] === machine[op] && start[i] > start[op]);
    if (later.length) this.options.onSwap(op, later.reduce((a, b) => (start[b] < start[a] ? b : a)));
  }

  wheel(event) {
    if (!this.data) return;
    const [x] = this.point(event);
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.004), this.time(x));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const delta = event.deltaX || event.deltaY;
      this.pan(this.view.from + (delta * (this.view.to - this.view.from)) / this.width);
    }
  }

  down(event) {
    if (!this.data) return;
    const [x, y] = this.point(event);
    this.touches.set(event.pointerId, x);
    const bar = this.options.onSwap && this.by === "machine" ? this.barAt(x, y) : -1;
    this.drag = { bar, x, dx: 0, from: this.view.from, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
    if (this.touches.size === 2) {
      const [a, b] = [...this.touches.values()];
      this.drag = null;
      this.pinch = { gap: Math.max(Math.abs(a - b), 1), view: { ...this.view }, centre: this.time((a + b) / 2) };
    }
  }

  move(event) {
    if (!this.data) return;
    const [x, y] = this.point(event);
    if (this.touches.has(event.pointerId)) this.touches.set(event.pointerId, x);
    if (this.pinch && this.touches.size === 2) {
      const [a, b] = [...this.touches.values()];
      this.view = { ...this.pinch.view };
      this.zoom(Math.max(Math.abs(a - b), 1) / this.pinch.gap, this.pinch.centre);
      return;
    }
    if (this.drag) {
      this.drag.dx = x - this.drag.x;
      this.drag.moved ||= Math.abs(this.drag.dx) > 3;
      if (this.drag.bar < 0 && this.drag.moved) {
        const scale = (this.view.to - this.view.from) / (this.width - this.left);
        this.pan(this.drag.from - this.drag.dx * scale);
      }
      this.draw();
    }
    this.hover(x, y);
  }

  hover(x, y) {
    const op = this.barAt(x, y);
    this.tip.hidden = op < 0;
    this.canvas.style.cursor = op >= 0 && this.options.onSwap && this.by === "machine" ? "grab" : "";
    if (op < 0) return;
    this.tip.textContent = this.describe(op);
    const room = this.box.clientWidth - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(0, Math.min(x + 12, room))}px`;
    this.tip.style.top = `${y + 16}px`;
  }

  up(event, cancelled = false) {
    const { drag } = this;
    const [x, y] = this.point(event);
    this.touches.delete(event.pointerId);
    if (this.touches.size < 2) this.pinch = null;
    this.drag = null;
    this.draw();
    if (!drag || cancelled) return;
    const target = this.barAt(x, y);
    if (!drag.moved && target >= 0) this.focusBar(target);
    const { machine } = this.data;
    if (drag.moved && drag.bar >= 0 && target >= 0 && target !== drag.bar
      && machine[target] === machine[drag.bar]) this.options.onSwap(drag.bar, target);
  }
}

// The chart with its row of controls.
export function mountGantt(container, data, options = {}) {
  const bar = document.createElement("div");
  bar.className = "gantt-controls";
  const chart = new GanttChart(container, options);
  const pick = (name, entries, change) => {
    const label = document.createElement("label");
    label.textContent = `${name} `;
    const select = document.createElement("select");
    for (const [value, text] of entries) select.add(new Option(text, value));
    select.dataset.pick = name.toLowerCase();
    select.addEventListener("change", () => change(select.value));
    label.append(select);
    bar.append(label);
    return select;
  };
  const number = (value) => (value === "" ? null : Number(value));
  const numbered = (names) => [["", "all"], ...names.map((name, i) => [i, name])];
  pick("Rows", [["machine", "machines"], ["job", "jobs"]], (value) => chart.setGrouping(value));
  const job = pick("Job", numbered([]), (value) => chart.setFilter({ job: number(value) }));
  const machine = pick("Machine", numbered([]), (value) => chart.setFilter({ machine: number(value) }));
  const label = document.createElement("label");
  const tick = document.createElement("input");
  tick.type = "checkbox";
  tick.addEventListener("change", () => chart.setFilter({ criticalOnly: tick.checked }));
  label.append(tick, " critical only");
  bar.append(label);
  for (const [text, name, act] of [["+", "zoom in", () => chart.zoom(1.5)],
    ["−", "zoom out", () => chart.zoom(1 / 1.5)], ["Fit", "show all", () => chart.reset()]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = name;
    button.setAttribute("aria-label", name);
    button.addEventListener("click", act);
    bar.append(button);
  }
  container.prepend(bar);
  const names = { job: null, machine: null };
  const show = chart.setData.bind(chart);
  chart.setData = (next, how) => {
    show(next, how);
    for (const [key, select, list] of [["job", job, next.jobs], ["machine", machine, next.machines]]) {
      const joined = list.join("\n");
      if (names[key] === joined) continue;
      names[key] = joined;
      select.replaceChildren(...numbered(list).map(([value, text]) => new Option(text, value)));
      tick.checked = false;
    }
  };
  if (data) chart.setData(data);
  return chart;
}
