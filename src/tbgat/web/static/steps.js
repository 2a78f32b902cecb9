// Step through a search: schedules it found, a walk recorded move by move, moves of one's own.

import { api } from "/static/api.js";
import { mountGantt } from "/static/gantt.js";

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null && text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

export class Steps {
  constructor(container, choosers) {
    this.choosers = choosers;
    this.box = container;
    this.source = null;
    this.ticket = 0;
    this.build();
  }

  build() {
    this.pick = element("select");
    this.pick.addEventListener("change", () => this.choose(this.pick.value));
    const what = element("label", "Show ");
    what.append(this.pick);
    this.range = element("input", null, { type: "range", min: 0, max: 0, value: 0, "aria-label": "step" });
    this.range.addEventListener("input", () => this.go(Number(this.range.value)));
    this.back = this.button("◀", "one step back", () => this.go(this.at - 1));
    this.next = this.button("▶", "one step on", () => this.go(this.at + 1));
    this.play = this.button("Play", "play", () => this.toggle());
    this.undo = this.button("Undo", "undo my last move", () => this.undoMove());
    const row = element("div", null, { class: "stepper" });
    row.append(what, this.back, this.range, this.next, this.play, this.undo);
    this.said = element("p", "", { role: "status", "data-steps": "said" });
    this.chartBox = element("div", null, { class: "chart" });
    this.table = element("div", null, { class: "scroll" });
    const help = element("p", "Circles mark the N5 moves, filled where the search went. Drag one operation onto the next "
      + "one of its machine, or press s on it, to make a move of your own.", { class: "story" });
    this.box.replaceChildren(row, this.said, this.chartBox, help, this.table);
    this.chart = mountGantt(this.chartBox, null, { onSwap: (a, b) => this.swap(a, b) });
    this.chartBox.chart = this.chart;
  }

  button(text, name, act) {
    const made = element("button", text, { type: "button", "aria-label": name, title: name });
    made.addEventListener("click", act);
    return made;
  }

  // Look into runs that have ended: [{job, bound, known, name}].
  async open(runs) {
    this.runs = runs;
    this.mine = [];
    const options = [];
    runs.forEach((run, i) => {
      options.push(new Option(`${run.name}: schedules found`, `${i} frames`));
      for (const chooser of this.choosers) options.push(new Option(`${run.name}: a ${chooser} walk`, `${i} ${chooser}`));
    });
    this.pick.replaceChildren(...options);
    await this.choose("0 frames");
  }

  async choose(value) {
    this.halt();
    const [number, kind] = value.split(" ");
    this.run = this.runs[Number(number)];
    this.kind = kind;
    this.mine = [];
    const ticket = ++this.ticket;
    try {
      if (kind === "frames") {
        this.frames = await api.frames(this.run.job.id);
        this.length = this.frames.length - 1;
      } else {
        this.said.textContent = "recording …";
        this.trace = await api.record(this.run.job.id, kind, 300);
        this.length = this.trace.steps;
      }
    } catch (error) {
      this.said.textContent = error.message;
      return;
    }
    if (ticket !== this.ticket) return;
    this.range.max = Math.max(this.length, 0);
    await this.go(kind === "frames" ? this.length : 0);
  }

  async go(step) {
    const at = Math.max(0, Math.min(step, this.length));
    this.at = at;
    this.mine = [];
    this.range.value = at;
    const id = this.run.job.id;
    await this.look(() => (this.kind === "frames"
      ? api.moves(id, { start: this.frames[at].start })
      : api.position(id, this.kind, at)));
  }

  async look(fetchPosition) {
    const ticket = ++this.ticket;
    let position;
    try {
      position = await fetchPosition();
    } catch (error) {
      this.said.textContent = error.message;
      return false;
    }
    // An answer that was overtaken by a later step is of no interest.
    if (ticket !== this.ticket) return false;
    this.position = position;
    this.show();
    return true;
  }

  async swap(first, second) {
    const { start } = this.position;
    const before = this.position;
    this.halt();
    if (await this.look(() => api.moves(this.run.job.id, { start, first, second }))) {
      this.mine.push(before);
      this.show();
    }
  }

  undoMove() {
    const before = this.mine.pop();
    if (!before) return;
    this.position = before;
    this.show();
  }

  show() {
    const { position: p, run } = this;
    const shares = p.moves.map((m) => m.policy ?? m.probability ?? 0);
    this.chart.setData({ ...run.job.chart, ...p, lowerBound: run.bound, bestKnown: run.known }, { glide: 120 });
    this.chart.setMoves(p.moves.map((m, i) => ({ first: m.first, second: m.second, share: shares[i], chosen: i === p.chosen })));
    this.back.disabled = this.at <= 0;
    this.next.disabled = this.at >= this.length;
    this.undo.disabled = !this.mine.length;
    const place = this.mine.length ? `your move ${this.mine.length} after step ${this.at}`
      : this.kind === "frames" ? `schedule ${this.at + 1} of ${this.length + 1} (search step ${this.frames[this.at].step})`
        : `step ${this.at} of ${this.length}`;
    const moves = p.moves.length === 1 ? "1 N5 move" : `${p.moves.length || "no"} N5 moves`;
    this.said.textContent = `${place}: makespan ${p.makespan}, critical path of ${p.blocks.flat().length} operations in ${p.blocks.length} blocks, ${moves}`;
    this.list();
  }

  list() {
    const { position: p, run } = this;
    const { jobs, machines, job, step, machine } = run.job.chart;
    const called = (op) => `job ${jobs[job[op]]} op ${step[op]}`;
    const table = element("table");
    table.append(element("caption", p.chosen === null || p.chosen === undefined
      ? "N5 moves of this schedule" : "N5 moves of this schedule; the search took the bold one"));
    const head = table.createTHead().insertRow();
    const chances = p.moves.some((m) => m.probability !== null);
    const policy = p.moves.some((m) => m.policy !== null);
    for (const name of ["Machine", "Swap", "Makespan after", ...(chances ? [`Probability (${this.kind})`] : []),
      ...(policy ? ["Probability (network)"] : []), "Try"]) head.append(element("th", name, { scope: "col" }));
    const body = table.createTBody();
    p.moves.forEach((move, i) => {
      const row = body.insertRow();
      if (i === p.chosen) row.className = "chosen";
      row.insertCell().textContent = machines[machine[move.first]];
      row.insertCell().textContent = `${called(move.first)} ↔ ${called(move.second)}`;
      const change = move.makespan - p.makespan;
      row.insertCell().append(`${move.makespan} `, element("span", change > 0 ? `+${change}` : `${change}`,
        { class: change < 0 ? "better" : change > 0 ? "worse" : "" }));
      for (const share of [...(chances ? [move.probability] : []), ...(policy ? [move.policy] : [])]) {
        const cell = row.insertCell();
        cell.append(element("meter", null, { min: 0, max: 1, value: share, "aria-hidden": "true" }), ` ${percent(share)}`);
      }
      const go = this.button("Make it", `swap ${called(move.first)} and ${called(move.second)}`, () => this.swap(move.first, move.second));
      row.insertCell().append(go);
    });
    this.table.replaceChildren(table);
  }

  toggle() {
    if (this.timer) this.halt();
    else {
      if (this.at >= this.length) this.at = -1;
      this.play.textContent = "Pause";
      const tick = async () => {
        await this.go(this.at + 1);
        if (this.timer) this.timer = this.at < this.length ? setTimeout(tick, 250) : this.halt();
      };
      this.timer = setTimeout(tick, 0);
    }
  }

  halt() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
    return 0;
  }
}
