"""The cache of compiled code, and random numbers inside it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tbgat.graph import random_states
from tbgat.graph.compiled import cache_folder, kernel, lean_kernel, random_below

CODE = """
import tbgat
from tbgat.graph import GraphBatch
shop = tbgat.Instance([[(0, 2), (1, 1)], [(0, 1), (1, 2)]])
print(GraphBatch([shop], [[[0, 2], [1, 3]]]).arrays.makespan[0])
"""


def run(cache):
    return subprocess.run(
        [sys.executable, "-c", CODE],
        env=os.environ | {"TBGAT_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )


def test_first_use_announces_itself_and_the_second_finds_the_cache(tmp_path):
    first = run(tmp_path)
    assert first.stdout.strip() == "5"
    assert first.stderr.count("compiling") == 1
    assert list(tmp_path.rglob("*.nbi"))
    second = run(tmp_path)
    assert second.stdout.strip() == "5"
    assert second.stderr == ""


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert run(blocked).stdout.strip() == "5"


def test_cache_folder_is_named_after_the_sources(monkeypatch, tmp_path):
    from tbgat.graph import compiled

    assert cache_folder().parent.name == "tbgat"
    package = tmp_path / "package"
    package.mkdir()
    source = package / "a.py"
    source.write_text("from tbgat.graph.compiled import kernel\nx = 1\n")
    monkeypatch.setattr(compiled, "_PACKAGE", package)
    names = []
    for text in ("x = 1\n", "x = 2\n", "x = 1\n"):
        source.write_text("from tbgat.graph.compiled import kernel\n" + text)
        (package / "b.py").write_text(f"# no kernels here: {text}")
        compiled.cache_folder.cache_clear()
        names.append(compiled.cache_folder().name)
    compiled.cache_folder.cache_clear()
    assert names[0] == names[2] != names[1]


@kernel
def draws(random, count, bound):
    found = np.empty(count, np.int64)
    for k in range(count):
        found[k] = random_below(random, 0, bound)
    return found


def test_random_numbers_are_uniform_and_repeat():
    rng = np.random.default_rng(0)
    state = random_states(1, rng)
    again = state.copy()
    found = draws(state, 60_000, 6)
    assert np.array_equal(found, draws(again, 60_000, 6))
    counts = np.bincount(found, minlength=6)
    assert len(counts) == 6
    assert abs(counts - 10_000).max() < 500
    # Neighbouring draws are independent, too.
    pairs = np.bincount(found[:-1] * 6 + found[1:], minlength=36)
    assert abs(pairs - 60_000 / 36).max() < 250


def test_a_lean_function_must_not_make_arrays():
    @lean_kernel
    def wrong(n):
        return np.zeros(n)[0]

    with pytest.raises(Exception, match=r"NRT|array"):
        wrong(3)
