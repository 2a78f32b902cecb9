"""Files of every kind, and what is said when one cannot be written."""

import re

import pytest

from tbgat import library, plot
from tbgat.dispatching import dispatch
from tbgat.errors import UsageError
from tbgat.instance import Instance
from tbgat.plot.files import gantt_html
from tbgat.schedule import Schedule
from tbgat.search.result import Result


@pytest.fixture(scope="module")
def ft06():
    return library.load("ft06")


@pytest.mark.parametrize(
    ("suffix", "magic"),
    [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".html", b"<!doctype html>")],
)
def test_suffix_decides_and_bytes_repeat(tmp_path, ft06, suffix, magic):
    first = plot.save(dispatch(ft06), tmp_path / f"new/a{suffix}", instance=ft06)
    second = plot.save(dispatch(ft06), tmp_path / f"b{suffix}", instance=ft06)
    assert first.read_bytes().startswith(magic)
    assert first.read_bytes() == second.read_bytes()


def test_a_result_brings_its_bound(tmp_path, ft06):
    schedule = dispatch(ft06)
    result = Result(ft06, "x", schedule, schedule.makespan, 47, "feasible", "", 0, 0.0, None)
    page = plot.save(result, tmp_path / "a.html").read_text()
    assert '"lowerBound":47' in page


def test_the_page_asks_for_nothing_and_survives_hostile_names():
    instance = Instance([[(0, 1)]], name="</script><b>", job_names=["<img src=x>"])
    page = gantt_html(instance, Schedule.from_starts(instance, [0]))
    assert page.count("</script>") == 1
    assert "<img" not in page
    assert not re.search(r"(src|href)=.?https?:|import .*from|@import|url\(", page)


@pytest.mark.parametrize("name", ["chart", "chart.jpeg"])
def test_an_unknown_suffix_is_refused(tmp_path, ft06, name):
    with pytest.raises(UsageError, match=r"end it in \.png, \.svg, \.pdf, \.html"):
        plot.save(dispatch(ft06), tmp_path / name, instance=ft06)


def test_an_unwritable_place_is_one_sentence(tmp_path, ft06):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write .*file/a\.png"):
        plot.save(dispatch(ft06), tmp_path / "file" / "a.png", instance=ft06)


def test_a_schedule_needs_its_instance(tmp_path, ft06):
    with pytest.raises(UsageError, match="give its instance"):
        plot.save(dispatch(ft06), tmp_path / "a.png")
