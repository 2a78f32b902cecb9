// One search on the page: numbers, chart, downloads; follows the service's events.

import { api } from "/static/api.js";
import { mountGantt } from "/static/gantt.js";

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null && text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const NUMBERS = [["makespan", "Makespan"], ["gap", "Gap to bound"], ["bound", "Lower bound"], ["known", "Best known"],
  ["step", "Steps"], ["seconds", "Seconds"], ["state", "State"]];

export class Run {
  // changed(run): something to redraw elsewhere; ended(run): the search is over.
  constructor(container, job, { changed, ended }) {
    Object.assign(this, { job, changed, ended, points: [], seconds: 0, state: job.state, parts: null });
    this.bound = job.instance.lower_bound;
    this.known = job.instance.best_known;
    this.build(container);
    this.follow();
  }

  get name() {
    const { method, request } = this.job;
    return `${method}${request.seed === null ? "" : `, seed ${request.seed}`}`;
  }

  build(container) {
    this.pane = element("article", null, { class: "pane", "data-job": this.job.id });
    const title = element("h2", `${this.job.instance.name}: ${this.job.method}`);
    const list = element("dl", null, { class: "numbers" });
    this.numbers = {};
    for (const [key, name] of NUMBERS) {
      const cell = element("div", null, key === "makespan" ? { class: "main" } : {});
      this.numbers[key] = element("dd", "–", { "data-number": key });
      cell.append(element("dt", name), this.numbers[key]);
      list.append(cell);
    }
    this.chartBox = element("div", null, { class: "chart" });
    this.story = element("p", "", { class: "story" });
    this.downloads = element("p", null, { class: "downloads" });
    this.downloads.hidden = true;
    this.downloads.append("Download:");
    for (const [file, name] of [["schedule.json", "Schedule (JSON)"], ["schedule.csv", "Schedule (CSV)"],
      ["picture.svg", "Picture (SVG)"], ["picture.png", "Picture (PNG)"], ["report.html", "Report"]]) {
      this.downloads.append(" ", element("a", name, { class: "button", href: api.download(this.job.id, file), download: "" }));
    }
    this.pane.append(title, list, this.chartBox, this.story, this.downloads);
    container.append(this.pane);
    this.chart = mountGantt(this.chartBox, null);
    this.pane.chart = this.chart;
    this.show();
  }

  follow() {
    this.source = api.events(this.job.id);
    this.source.addEventListener("progress", (event) => this.progress(JSON.parse(event.data)));
    this.source.addEventListener("schedule", (event) => this.schedule(JSON.parse(event.data)));
    this.source.addEventListener("end", (event) => this.end(JSON.parse(event.data)));
    // The browser connects again by itself; the service then tells everything from the start.
    this.source.addEventListener("open", () => { this.points = []; });
  }

  progress(data) {
    Object.assign(this, { state: data.state, step: data.step, seconds: data.seconds, best: data.best });
    this.bound = Math.max(this.bound, data.lowerBound || 0);
    for (const [step, seconds, makespan] of data.improvements) this.points.push([seconds, makespan, step]);
    this.show();
    this.changed(this);
  }

  schedule(parts) {
    this.parts = parts;
    this.chart.setData({ ...this.job.chart, ...parts, lowerBound: this.bound, bestKnown: this.known }, { glide: 90 });
  }

  async end({ state, error }) {
    this.source.close();
    this.state = state;
    this.error = error;
    try {
      this.job = { ...(await api.job(this.job.id)), chart: this.job.chart };
    } catch { /* forgotten meanwhile: what is shown stays */ }
    const { result } = this.job;
    if (result) {
      this.bound = Math.max(this.bound, result.lower_bound);
      if (this.parts) this.schedule(this.parts);
    }
    this.story.textContent = error || (result ? result.story.join(" ") : "");
    this.downloads.hidden = !result;
    this.show();
    this.changed(this);
    this.ended(this);
  }

  show() {
    const { numbers: n } = this;
    const { result } = this.job;
    const makespan = result ? result.makespan : this.best;
    n.makespan.textContent = makespan ?? "–";
    n.bound.textContent = this.bound;
    n.known.textContent = this.known ?? "unknown";
    n.gap.textContent = makespan ? `${((100 * (makespan - this.bound)) / Math.max(this.bound, 1)).toFixed(2)} %` : "–";
    n.step.textContent = this.step?.toLocaleString("en") ?? "–";
    n.seconds.textContent = this.seconds.toFixed(1);
    n.state.textContent = this.state === "done" && result?.status === "optimal" ? "done, optimal" : this.state;
  }

  close() {
    this.source.close();
    this.pane.remove();
  }
}
