// The HTTP service, as functions. A refused request throws an Error with the service's sentence.

async function ask(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("the service does not answer: is tbgat ui still running?");
  }
  if (answer.status === 204) return null;
  const data = await answer.json().catch(() => ({ detail: `the service answered ${answer.status}` }));
  if (!answer.ok) throw new Error(typeof data.detail === "string" ? data.detail : `refused (${answer.status})`);
  return data;
}

const path = (job, rest = "") => `/api/jobs/${encodeURIComponent(job)}${rest}`;

export const api = {
  service: () => ask("GET", "/api/service"),
  methods: () => ask("GET", "/api/methods"),
  library: () => ask("GET", "/api/library"),
  describe: (problem) => ask("POST", "/api/instances", problem),
  submit: (request) => ask("POST", "/api/jobs", request),
  jobs: () => ask("GET", "/api/jobs"),
  job: (id) => ask("GET", path(id)),
  cancel: (id) => ask("POST", path(id, "/cancel")),
  forget: (id) => ask("DELETE", path(id)),
  frames: (id) => ask("GET", path(id, "/frames")),
  moves: (id, request) => ask("POST", path(id, "/moves"), request),
  record: (id, chooser, steps) => ask("POST", path(id, `/trace?chooser=${encodeURIComponent(chooser)}&steps=${steps}`)),
  position: (id, chooser, step) => ask("GET", path(id, `/trace/${encodeURIComponent(chooser)}/${step}`)),
  download: (id, file) => path(id, `/${file}`),
  events: (id) => new EventSource(path(id, "/events")),
};
