"""What the documentation shows is what happens."""

import doctest
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page):
    failed, _ = doctest.testfile(str(page), module_relative=False)
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_first_solutions_table_is_the_recorded_one():
    recorded = json.loads((ROOT / "results/first_solutions.json").read_text(encoding="utf-8"))
    gaps = recorded["groups"]["ta01-10"]["mean_gap"]
    page = (ROOT / "docs/first-solutions.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^\| (\S+) \| ([\d.]+) % \|$", page, re.MULTILINE))
    assert shown == {rule: f"{100 * gap:.1f}" for rule, gap in gaps.items()}
