"""Make the pictures of the docs again: ``python tools/make_pictures.py`` (needs Chromium).

The animation and the static pictures come from ``tbgat plot``, the screenshots from a real
``tbgat ui`` in a real browser. Look at all of them before committing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
PICTURES = {
    "search.gif": "animation ft10 --method tabu --steps 200000 --seed 3 --frames 20",
    "gantt-ft06.png": "gantt ft06 --method tabu --steps 2000 --seed 1",
    "gantt-ta71.png": "gantt ta71 --method dispatch",
    "graph-ft06.png": "graph ft06 --method tabu --steps 2000 --seed 1",
    "search-ft10.png": "search ft10 --method tabu --steps 200000 --seed 3 --log",
    "compare-ft10.png": "compare ft10 --methods dispatch,random,greedy,tabu --seconds 2 --log",
}


def main() -> None:
    """Make everything, or what is named on the command line."""
    wanted = sys.argv[1:]
    for name, arguments in PICTURES.items():
        if not wanted or name in wanted:
            tbgat("plot", *arguments.split(), "-o", str(IMAGES / name))
    if not wanted or "ui" in wanted:
        with tempfile.TemporaryDirectory() as folder:
            screenshots(Path(folder))


def tbgat(*arguments: str) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "tbgat", *arguments], check=True)


def screenshots(folder: Path) -> None:
    """Photograph the page wide and light, and narrow and dark."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "tbgat", "ui", "--port", "0"]
    command += ["--database", str(folder / "jobs.sqlite")]
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            address = re.findall(r"http://\S+", service.stdout.readline())[0]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
                )
                for width, scheme in ((1280, "light"), (390, "dark")):
                    photograph(browser, address, width, scheme)
                browser.close()
        finally:
            service.terminate()


def photograph(browser, address: str, width: int, scheme: str) -> None:
    """Compare two methods, then walk three steps into the recorded search."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector("#facts:has-text('ft10')")
    page.select_option("#method", "tabu")
    page.select_option("#rival", "greedy")
    page.fill("#seconds", "3")
    page.click("#solve")
    page.wait_for_selector("#steps-section:not([hidden]) table")
    page.select_option("#steps-panel select >> nth=0", "0 tabu")
    page.wait_for_selector("[data-steps=said]:has-text('step 0 of')")
    for step in (1, 2, 3):
        page.click("button[aria-label='one step on']")
        page.wait_for_selector(f"[data-steps=said]:has-text('step {step} of')")
    page.wait_for_timeout(400)
    page.screenshot(path=IMAGES / f"ui-{width}.png", full_page=True)
    page.close()


if __name__ == "__main__":
    main()
