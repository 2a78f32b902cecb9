// A line chart of falling makespans: several runs, reference lines, hover, series on and off.

const INK = ["#3b7dd8", "#e0702e", "#2f9e5a", "#9a68c7"];

function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((f) => f * power >= rough) * power;
  const list = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) list.push(Number(t.toPrecision(10)));
  return list;
}

export class Curve {
  constructor(container) {
    this.box = document.createElement("div");
    this.box.className = "curve-box";
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.tip = document.createElement("div");
    this.tip.className = "gantt-tip";
    this.tip.hidden = true;
    this.box.append(this.canvas, this.tip);
    this.list = document.createElement("ul");
    this.list.className = "legend";
    container.replaceChildren(this.box, this.list);
    this.series = [];
    this.lines = [];
    this.hidden = new Set();
    this.log = false;
    new ResizeObserver(() => this.draw()).observe(this.box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  // series: [{name, points: [[x, y], ...], end}], lines: [{name, value, colour}]
  set(series, lines, unit = "s") {
    this.series = series;
    this.lines = lines;
    this.unit = unit;
    this.label();
    this.draw();
  }

  label() {
    const said = this.series.filter((s) => s.points.length).map((s) => `${s.name}: ${s.points.at(-1)[1]}`);
    this.canvas.setAttribute("aria-label", `Best makespan over time. ${said.join(", ")}`);
    const names = [...this.series.map((s) => s.name), ...this.lines.map((l) => `${l.name} ${l.value}`)].join("|");
    if (names === this.names) return;
    this.names = names;
    this.list.replaceChildren(...this.series.map((s, i) => this.entry(s.name, INK[i % INK.length], true)),
      ...this.lines.map((l) => this.entry(`${l.name} ${l.value}`, l.colour, false)), this.logEntry());
  }

  logEntry() {
    const item = document.createElement("li");
    const label = document.createElement("label");
    const tick = document.createElement("input");
    tick.type = "checkbox";
    tick.checked = this.log;
    tick.addEventListener("change", () => {
      this.log = tick.checked;
      this.draw();
    });
    label.append(tick, "logarithmic time");
    item.append(label);
    return item;
  }

  entry(name, colour, toggles) {
    const item = document.createElement("li");
    const label = document.createElement("label");
    const swatch = document.createElement("canvas");
    swatch.className = "swatch";
    swatch.width = 16;
    swatch.height = 4;
    const pen = swatch.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 16, 4);
    if (toggles) {
      const tick = document.createElement("input");
      tick.type = "checkbox";
      tick.checked = !this.hidden.has(name);
      tick.addEventListener("change", () => {
        if (tick.checked) this.hidden.delete(name);
        else this.hidden.add(name);
        this.draw();
      });
      label.append(tick);
    }
    label.append(swatch, name);
    item.append(label);
    return item;
  }

  shown() {
    return this.series.map((s, i) => ({ ...s, colour: INK[i % INK.length] }))
      .filter((s) => s.points.length && !this.hidden.has(s.name));
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    const width = this.box.clientWidth;
    const height = 210;
    const ratio = globalThis.devicePixelRatio || 1;
    if (!width) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const look = getComputedStyle(document.documentElement);
    const ink = look.getPropertyValue("--ink").trim();
    const grid = look.getPropertyValue("--line").trim();
    const series = this.shown();
    const ys = [...series.flatMap((s) => s.points.map((p) => p[1])), ...this.lines.map((l) => l.value)];
    if (!ys.length) return;
    const pad = Math.max(1, (Math.max(...ys) - Math.min(...ys)) * 0.06);
    const low = Math.min(...ys) - pad;
    const high = Math.max(...ys) + pad;
    const end = Math.max(1e-3, ...series.map((s) => s.end));
    // Most is found in the first instants: the logarithm gives them room.
    const bend = this.log ? (t) => Math.log1p((1000 * t) / end) / Math.log1p(1000) : (t) => t / end;
    this.x = (t) => 54 + bend(t) * (width - 66);
    this.timeAt = (x) => {
      const part = (x - 54) / (width - 66);
      return end * (this.log ? Math.expm1(part * Math.log1p(1000)) / 1000 : part);
    };
    this.y = (m) => 8 + ((high - m) / (high - low)) * (height - 38);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = ink;
    pen.strokeStyle = grid;
    pen.lineWidth = 1;
    for (const m of ticks(low, high, 5)) {
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(String(m), 48, this.y(m));
      this.stroke(pen, [[54, this.y(m)], [width - 10, this.y(m)]]);
    }
    const marks = this.log ? [0, 0.001, 0.01, 0.1, 1].map((f) => Number((f * end).toPrecision(2)))
      : ticks(0, end, Math.max(2, width / 110));
    for (const t of marks) {
      pen.textAlign = "center";
      pen.textBaseline = "top";
      pen.fillText(`${t} ${this.unit}`, Math.min(this.x(t), width - 18), height - 24);
    }
    for (const line of this.lines) {
      pen.strokeStyle = line.colour;
      pen.setLineDash([5, 4]);
      pen.lineWidth = 1.5;
      this.stroke(pen, [[54, this.y(line.value)], [width - 10, this.y(line.value)]]);
      pen.setLineDash([]);
    }
    for (const s of series) {
      pen.strokeStyle = s.colour;
      pen.lineWidth = 2;
      const path = [];
      let last = null;
      for (const [t, m] of [...s.points, [s.end, s.points.at(-1)[1]]]) {
        if (last !== null) path.push([this.x(t), this.y(last)]);
        path.push([this.x(t), this.y(m)]);
        last = m;
      }
      this.stroke(pen, path);
    }
  }

  stroke(pen, points) {
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const t = this.timeAt?.(x) ?? -1;
    const said = this.shown().map((s) => {
      const point = s.points.filter((p) => p[0] <= t).at(-1);
      return point ? `${s.name}: ${point[1]}` : null;
    }).filter(Boolean);
    this.tip.hidden = t < 0 || !said.length;
    if (this.tip.hidden) return;
    this.tip.textContent = `${t.toPrecision(3)} ${this.unit} – ${said.join(", ")}`;
    this.tip.style.left = `${Math.max(0, Math.min(x + 12, box.width - this.tip.offsetWidth - 4))}px`;
    this.tip.style.top = `${event.clientY - box.top + 14}px`;
  }
}
