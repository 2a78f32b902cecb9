"""A real service in a process of its own, and a real browser."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import httpx
import pytest

from tbgat import library
from tbgat.dispatching import dispatch
from tbgat.search.trace import record
from tbgat.solvers import solve

# Long enough for a first compilation on a busy machine; nothing waits that long otherwise.
PATIENCE = 300

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class Service:
    """``tbgat ui`` as a user starts it, on any free port."""

    def __init__(self, folder, *options, env=None):
        self.database = folder / "jobs.sqlite"
        self.log = folder / f"service-{time.monotonic_ns()}.log"
        command = [sys.executable, "-m", "tbgat", "ui", "--port", "0"]
        command += ["--database", str(self.database), *options]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}
            )
        self.address = self._wait()

    def _wait(self):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"tbgat is at (http://\S+)", self.log.read_text())
            if found:
                base = found[1].split("?")[0]
                try:
                    httpx.get(base + "api/service", timeout=5)
                    return found[1]
                except httpx.TransportError:
                    pass
            time.sleep(0.1)
        raise AssertionError(f"the service did not start: {self.log.read_text()}")

    def client(self, **options):
        base = self.address.split("?")[0]
        return httpx.Client(base_url=base, timeout=PATIENCE, **options)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError("the service did not stop within 60 seconds") from None


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Compile the engine once, here: the services then find it in the cache and start at once."""
    instance = library.load("ft06")
    solve(instance, "tabu", steps=10, seed=0)
    record(instance, "tabu", steps=2, seed=0, start=dispatch(instance))


@pytest.fixture
def start(tmp_path):
    """Start services that end with the test."""
    started = []

    def begin(*options, **more):
        service = Service(tmp_path, *options, **more)
        started.append(service)
        return service

    yield begin
    for service in started:
        service.stop()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """One service for a whole file of tests."""
    running = Service(tmp_path_factory.mktemp("service"))
    yield running
    running.stop()


def wait_for(client, job, timeout=PATIENCE):
    """Wait until a job has ended and return it."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        found = client.get(f"/api/jobs/{job}").json()
        if found["state"] not in ("queued", "running"):
            return found
        time.sleep(0.05)
    raise AssertionError(f"job {job} did not end within {timeout} seconds")


def find_chromium():
    """Path of the browser, or a clear sentence on what to install."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    given = os.environ.get("TBGAT_CHROMIUM")
    found = given or next((path for name in names if (path := shutil.which(name))), None)
    if not found:
        pytest.fail(
            "the browser tests need Chromium: install it (Debian and Ubuntu: "
            "'apt-get install chromium') or set TBGAT_CHROMIUM to its path",
            pytrace=False,
        )
    return found


@pytest.fixture(scope="session")
def browser():
    """Start Chromium once."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def open_page(browser):
    """Open pages that may talk to nobody but this computer, and must not complain."""
    contexts, complaints = [], []

    def begin(address=None, width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("request", lambda request: _only_here(request.url, complaints))
        if address:
            page.goto(address)
        page.complaints = complaints
        return page

    yield begin
    for context in contexts:
        context.close()
    assert complaints == []


def until(page, expression, arg=None, timeout=PATIENCE):
    """Wait until an expression holds; Playwright's own wait needs ``eval``, which the page bans."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if page.evaluate(expression, arg):
            return
        page.wait_for_timeout(30)
    raise AssertionError(f"this never came true: {expression}")


def _only_here(url, complaints):
    if not re.match(r"(http://(127\.0\.0\.1|localhost):\d+/|file:|data:|blob:)", url):
        complaints.append(f"a request to {url}")
