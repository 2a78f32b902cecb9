"""The page in a real browser: upload, solve, watch, stop, step, compare, download, re-check."""

import re
import subprocess
import sys

import pytest

from tbgat import library
from tbgat.formats import write

from .conftest import until

SAID = "[data-steps=said]"


def tbgat(*arguments):
    command = [sys.executable, "-m", "tbgat", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def solve(page, method, *, seconds=None, steps=None, rival=""):
    until(page, "document.getElementById('method').options.length > 2")
    page.select_option("#method", method)
    page.select_option("#rival", rival)
    page.fill("#seconds", "" if seconds is None else str(seconds))
    page.fill("#steps", "" if steps is None else str(steps))
    page.click("#solve")


def until_ended(page, count=1):
    until(
        page,
        "count => { const all = [...document.querySelectorAll('[data-number=state]')];"
        " return all.length === count && all.every(s => s.textContent.startsWith('done')); }",
        count,
    )
    page.wait_for_selector(f"{SAID}:has-text('makespan')")


def number(page, key, pane=0):
    return page.locator(f"[data-number={key}]").nth(pane).inner_text()


def starts(page, pane=0):
    return page.evaluate(
        "i => document.querySelectorAll('.pane')[i].chart.data?.start ?? null", pane
    )


def middle_of(page, op):
    """Where a bar of the chart of steps stands on the screen."""
    page.locator("#steps-panel canvas").first.scroll_into_view_if_needed()
    return page.evaluate(
        """op => { const { chart } = document.querySelector('#steps-panel .chart');
        const r = chart.rect(op), b = chart.canvas.getBoundingClientRect();
        return [b.left + r.x + r.w / 2, b.top + r.y + r.h / 2]; }""",
        op,
    )


def test_upload_solve_step_download_and_check(service, open_page, tmp_path):
    instance = library.load("ft10")
    file = tmp_path / "plant 4.json"
    write(instance, file)
    page = open_page(service.address)
    page.set_input_files("#file", file)
    page.wait_for_selector("#facts:has-text('100 operations')")
    # The numbers are those of ft10, whatever the file is called.
    assert "best known 930" in page.inner_text("#facts")
    solve(page, "tabu", steps=20_000)
    until_ended(page)
    assert 930 <= int(number(page, "makespan")) < 1100
    for name, suffix in (("Schedule (JSON)", "json"), ("Schedule (CSV)", "csv")):
        with page.expect_download() as caught:
            page.click(f"text={name}")
        saved = tmp_path / f"schedule.{suffix}"
        caught.value.save_as(saved)
        judged = tbgat("check", file, saved)
        assert judged.returncode == 0, judged.stderr
        assert f"makespan {number(page, 'makespan')}" in judged.stdout
    with page.expect_download() as caught:
        page.click("text=Report")
    report = tmp_path / "report.html"
    caught.value.save_as(report)
    alone = open_page(f"file://{report}")
    assert number(page, "makespan") in alone.inner_text("h1")


def test_a_broken_file_shows_the_sentence_of_the_command_line(service, open_page, tmp_path):
    file = tmp_path / "broken.txt"
    file.write_text("3 3\n0 1 1 2 2 3\n0 1 1 zwei 2 3\n0 1 1 2 2 3\n")
    told = tbgat("convert", file, "-")
    assert told.returncode == 2
    sentence = told.stderr.strip().removeprefix("tbgat: ").replace(f"{tmp_path}/", "")
    page = open_page(service.address)
    page.set_input_files("#file", file)
    page.wait_for_selector("#message:not(:empty)")
    assert page.inner_text("#message") == sentence
    until(page, "document.getElementById('method').options.length > 2")
    page.click("#solve")
    until(page, "document.getElementById('message').textContent.length > 9")
    assert page.inner_text("#message") == sentence
    # The browser itself notes refused requests in its console; nothing else may be there.
    assert all("422" in complaint for complaint in page.complaints)
    page.complaints.clear()


def test_bars_move_while_it_runs_and_stop_stops_it(service, open_page):
    page = open_page(service.address)
    page.fill("#library", "ta48")
    page.dispatch_event("#library", "change")
    page.wait_for_selector("#facts:has-text('30 jobs')")
    solve(page, "tabu", seconds=60)
    until(page, "Boolean(document.querySelector('.pane')?.chart.data)")
    seen, pictures = set(), set()
    for _ in range(60):
        seen.add(tuple(starts(page)))
        pictures.add(page.locator(".pane canvas").first.screenshot())
        if len(seen) >= 3 and len(pictures) >= 3:
            break
        page.wait_for_timeout(150)
    assert len(seen) >= 3
    assert len(pictures) >= 3
    page.click("#stop")
    until_ended(page)
    assert float(number(page, "seconds")) < 50
    assert "callback" in str(page.evaluate("fetch('/api/jobs').then(r => r.json())")[0]["result"])


def test_step_back_and_see_why(service, open_page):
    page = open_page(service.address)
    solve(page, "tabu", steps=2000)
    until_ended(page)
    last = page.inner_text(SAID)
    page.click("button[aria-label='one step back']")
    until(page, f"last => document.querySelector('{SAID}').textContent !== last", last)
    before, after = (
        int(re.search(r"makespan (\d+)", text)[1]) for text in (page.inner_text(SAID), last)
    )
    assert before > after
    page.select_option("#steps-panel select >> nth=0", "0 greedy")
    page.wait_for_selector(f"{SAID}:has-text('step 0 of')")
    chosen = page.locator("tr.chosen")
    promised = re.search(r"\d+", chosen.locator("td").nth(2).inner_text())[0]
    assert "%" in chosen.inner_text()
    page.focus("#steps-panel input[type=range]")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"{SAID}:has-text('step 1 of')")
    assert f"makespan {promised}," in page.inner_text(SAID)


def test_drag_a_pair_and_undo(service, open_page):
    page = open_page(service.address)
    solve(page, "dispatch")
    until_ended(page)
    first, second = page.evaluate(
        "(() => { const m = document.querySelector('#steps-panel .chart').chart.moves[0];"
        " return [m.first, m.second]; })()"
    )
    promised = re.search(r"\d+", page.locator("#steps-panel tbody td").nth(2).inner_text())[0]
    x, y = middle_of(page, first)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 15, y)
    page.mouse.move(*middle_of(page, second))
    page.mouse.up()
    page.wait_for_selector(f"{SAID}:has-text('your move 1')")
    assert f"makespan {promised}," in page.inner_text(SAID)
    page.click("text=Undo")
    page.wait_for_selector(f"{SAID}:has-text('schedule 1 of 1')")
    # The same with the keyboard alone: go to the bar, press s.
    page.evaluate("op => document.querySelector('#steps-panel .chart').chart.focusBar(op)", first)
    page.focus("#steps-panel canvas")
    page.keyboard.press("s")
    page.wait_for_selector(f"{SAID}:has-text('your move 1')")
    assert f"makespan {promised}," in page.inner_text(SAID)


@pytest.mark.parametrize("width", [1280, 390])
def test_compare_two_methods_at_both_widths(service, open_page, width):
    page = open_page(service.address, width=width, color_scheme="dark" if width < 500 else "light")
    solve(page, "tabu", steps=2000, rival="dispatch")
    until_ended(page, 2)
    assert int(number(page, "makespan", 0)) < int(number(page, "makespan", 1))
    assert starts(page, 0) != starts(page, 1)
    left, right = (page.locator(".pane").nth(i).bounding_box() for i in (0, 1))
    beside = left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
    assert beside == (width == 1280)
    # Nothing sticks out to the side.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    names = page.locator("#curve .legend").inner_text()
    assert "tabu" in names
    assert "dispatch" in names


def test_everything_can_be_reached_and_is_named(service, open_page):
    page = open_page(service.address)
    solve(page, "dispatch")
    until_ended(page)
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, select, input, textarea, canvas, a')].filter(e =>
        !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label')
          || e.closest('label') || e.className === 'swatch')).map(e => e.outerHTML)"""
    )
    assert nameless == []
    page.focus(".pane canvas")
    page.keyboard.press("ArrowRight")
    assert re.fullmatch(
        r"job \d, operation \d, machine \d, \d+ to \d+ \(\d+\).*",
        page.locator(".pane [aria-live]").first.inner_text(),
    )
    page = open_page(service.address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_a_dropped_file_and_earlier_jobs(service, open_page):
    page = open_page(service.address)
    page.evaluate(
        """text => { const data = new DataTransfer();
        data.items.add(new File([text], 'dropped.txt'));
        document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true })); }""",
        "2 2\n0 3 1 2\n1 4 0 1\n",
    )
    page.wait_for_selector("#facts:has-text('dropped: 2 jobs')")
    solve(page, "dispatch")
    until_ended(page)
    again = open_page(service.address)
    again.wait_for_selector("#jobs li:has-text('dropped (2x2), dispatch')")
    again.locator("#jobs li:has-text('dropped') >> text=Open").first.click()
    until_ended(again)
    assert number(again, "makespan") == number(page, "makespan")
