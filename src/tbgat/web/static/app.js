// The page: the form, the runs it starts, the curve, the steps and the list of earlier jobs.

import { api } from "/static/api.js";
import { Curve } from "/static/curve.js";
import { Run } from "/static/run.js";
import { Steps } from "/static/steps.js";

const $ = (id) => document.getElementById(id);
const say = (text) => { $("announce").textContent = text; };
const complain = (text) => { $("message").textContent = text; };

let runs = [];
let steps = null;
let curve = null;
let filename = null;
let questions = 0;

function problem() {
  const text = $("text").value;
  if (text.trim()) return { text, filename: filename || undefined };
  return { library: $("library").value.trim() };
}

async function describe() {
  complain("");
  // The answer to an earlier question may come after that to a later one.
  const question = ++questions;
  try {
    const known = await api.describe(problem());
    if (question !== questions) return;
    const best = known.best_known === null ? "no best known makespan" : `best known ${known.best_known}`;
    $("facts").textContent = `${known.name}: ${known.jobs} jobs, ${known.machines} machines, `
      + `${known.operations} operations, lower bound ${known.lower_bound}, ${best}`;
  } catch (error) {
    if (question !== questions) return;
    $("facts").textContent = "";
    complain(error.message);
  }
}

async function takeFile(file) {
  if (!file) return;
  filename = file.name;
  $("text").value = await file.text();
  $("own").open = true;
  await describe();
}

function number(id) {
  const { value } = $(id);
  return value === "" ? null : Number(value);
}

function request(method) {
  return { ...problem(), method, seconds: number("seconds"), steps: number("steps"), seed: number("seed"),
    threads: number("threads") ?? 1 };
}

function clear() {
  runs.forEach((run) => run.close());
  runs = [];
  $("steps-section").hidden = true;
}

function drawCurve() {
  const first = runs[0];
  if (!first) return;
  $("curve-section").hidden = false;
  curve ??= new Curve($("curve"));
  const twice = new Set(runs.map((run) => run.name)).size < runs.length;
  const lines = [{ name: "lower bound", value: Math.max(...runs.map((run) => run.bound)), colour: "#d0342c" }];
  if (first.known !== null) lines.push({ name: "best known", value: first.known, colour: "#1a8f4a" });
  // A run that has ended keeps its makespan while the others go on.
  const longest = Math.max(...runs.map((run) => run.seconds));
  curve.set(runs.map((run, i) => ({ name: twice ? `${run.name} (${i + 1})` : run.name,
    points: run.points, end: run.job.result ? longest : run.seconds })), lines);
}

async function ended(run) {
  say(run.error || `${run.job.method} has ended with makespan ${run.best}`);
  if (runs.some((one) => !["done", "failed", "cancelled", "interrupted"].includes(one.state))) return;
  $("solve").disabled = false;
  $("stop").disabled = true;
  const good = runs.filter((one) => one.job.result);
  if (good.length) {
    $("steps-section").hidden = false;
    await steps.open(good);
  }
  await listJobs();
}

async function show(ids) {
  clear();
  for (const id of ids) runs.push(new Run($("panes"), await api.job(id), { changed: drawCurve, ended }));
}

async function solve(event) {
  event.preventDefault();
  complain("");
  const rival = $("rival").value;
  $("solve").disabled = true;
  const ids = [];
  try {
    for (const method of rival ? [$("method").value, rival] : [$("method").value]) {
      ids.push((await api.submit(request(method))).id);
    }
    await show(ids);
    $("stop").disabled = false;
    say("the search has started");
  } catch (error) {
    complain(error.message);
    // Half a comparison helps nobody.
    await Promise.allSettled(ids.map((id) => api.cancel(id)));
    $("solve").disabled = false;
  }
}

async function stop() {
  $("stop").disabled = true;
  await Promise.allSettled(runs.map((run) => api.cancel(run.job.id)));
}

function jobLine(job) {
  const item = document.createElement("li");
  const what = document.createElement("span");
  what.className = "what";
  const outcome = job.result ? `makespan ${job.result.makespan}${job.result.status === "optimal" ? ", optimal" : ""}`
    : job.state;
  what.textContent = `${job.instance.name} (${job.instance.jobs}x${job.instance.machines}), ${job.method}: ${outcome}`;
  const open = document.createElement("button");
  open.type = "button";
  open.textContent = "Open";
  open.setAttribute("aria-label", `open ${what.textContent}`);
  open.addEventListener("click", () => show([job.id]).then(() => $("runs").focus()).catch((e) => complain(e.message)));
  const forget = document.createElement("button");
  forget.type = "button";
  forget.textContent = "Forget";
  forget.setAttribute("aria-label", `forget ${what.textContent}`);
  forget.addEventListener("click", () => api.forget(job.id).then(listJobs).catch((e) => complain(e.message)));
  const buttons = document.createElement("span");
  buttons.append(open, " ", forget);
  item.append(what, buttons);
  return item;
}

async function listJobs() {
  const jobs = await api.jobs();
  const lines = jobs.slice(0, 30).map(jobLine);
  if (!lines.length) {
    const none = document.createElement("li");
    none.textContent = "none yet";
    lines.push(none);
  }
  $("jobs").replaceChildren(...lines);
}

function listen() {
  $("form").addEventListener("submit", solve);
  $("stop").addEventListener("click", stop);
  $("library").addEventListener("change", () => { $("text").value = ""; filename = null; describe(); });
  $("text").addEventListener("input", () => { filename = null; });
  $("text").addEventListener("change", describe);
  $("file").addEventListener("change", () => takeFile($("file").files[0]));
  $("forget-text").addEventListener("click", () => {
    $("text").value = "";
    $("file").value = "";
    filename = null;
    $("own").open = false;
    describe();
  });
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    takeFile(event.dataTransfer.files[0]);
  });
}

async function begin() {
  listen();
  try {
    const [service, methods, library] = await Promise.all([api.service(), api.methods(), api.library()]);
    steps = new Steps($("steps-panel"), service.choosers);
    $("library-names").replaceChildren(...library.map((e) => new Option(`${e.jobs}x${e.machines}, best known ${e.best_known}`, e.name)));
    for (const { name, summary } of methods) {
      const option = new Option(name, name);
      option.title = summary;
      $("method").add(option);
      $("rival").add(option.cloneNode(true));
    }
    $("seconds").max = service.limits.seconds;
    $("threads").max = service.limits.threads;
    await describe();
    await listJobs();
  } catch (error) {
    complain(error.message);
  }
}

begin();
