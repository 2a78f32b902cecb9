"""Curves of searches and of learning."""

import json

import numpy as np
import pytest

from tbgat import library
from tbgat.dispatching import dispatch
from tbgat.errors import FormatError, UsageError
from tbgat.plot.curves import compare, learning, read_log, search
from tbgat.plot.files import new_figure
from tbgat.search.result import Improvement, Result


def result(name="ft06", method="tabu", makespans=(70, 62, 58, 55), seed=1):
    instance = library.load(name)
    history = tuple(Improvement(40 * k * k, 0.2 * k * k, m) for k, m in enumerate(makespans))
    return Result(
        instance,
        method,
        dispatch(instance),
        makespans[-1],
        47,
        "feasible",
        "",
        steps=500,
        seconds=2.5,
        seed=seed,
        history=history,
    )


def axes():
    return new_figure((5, 3)).subplots()


@pytest.mark.parametrize("against", ["step", "seconds"])
def test_search_picture(same_picture, against):
    current = np.random.default_rng(0).integers(55, 75, size=501).tolist()
    same_picture(
        f"search-{against}",
        lambda ax: search(ax, result(), against=against, current=current, best_known=55),
    )


def test_the_staircase_goes_on_to_the_end_of_the_search():
    ax = axes()
    search(ax, result(), against="step")
    best = next(line for line in ax.get_lines() if line.get_label() == "best")
    assert best.get_xdata().tolist() == [0, 40, 160, 360, 500]
    assert best.get_ydata().tolist() == [70, 62, 58, 55, 55]


def test_compare_picture(same_picture):
    runs = [result(method="tabu"), result(method="greedy", makespans=(70, 66, 64))]
    same_picture("compare", lambda ax: compare(ax, runs, best_known=55))


def test_logarithmic_picture(same_picture):
    runs = [result(), result(method="greedy", makespans=(70, 66, 64))]
    same_picture("compare-log", lambda ax: compare(ax, runs, against="step", log=True))


def test_runs_of_one_method_are_told_apart_by_their_seeds():
    ax = axes()
    compare(ax, [result(seed=1), result(seed=2)])
    labels = ax.get_legend_handles_labels()[1]
    assert labels[:2] == ["tabu seed 1: 55", "tabu seed 2: 55"]


def test_different_instances_are_compared_by_gap():
    ax = axes()
    compare(ax, [result(), result("ft10", makespans=(1200, 1100))])
    assert ax.get_ylabel() == "gap to the lower bound"
    assert ax.get_lines()[0].get_ydata()[-1] == pytest.approx(55 / 47 - 1)


def test_nothing_and_nonsense_are_refused():
    with pytest.raises(UsageError, match="nothing to compare"):
        compare(axes(), [])
    with pytest.raises(UsageError, match="1 labels for 2 results"):
        compare(axes(), [result(), result()], labels=["a"])
    with pytest.raises(UsageError, match="against 'step' or 'seconds'"):
        search(axes(), result(), against="days")


def log(count=40):
    for k in range(count):
        row = {"batch": k, "instances": 64 * k, "loss": 1 / (k + 1)}
        if k % 4 == 0:
            row["validation_gap"] = 0.1 + 0.3 / (1 + k / 5) + 0.01 * (-1) ** (k // 4)
        yield row


def test_learning_picture(same_picture):
    same_picture("learning", lambda ax: learning(ax, log()))


def test_a_log_that_is_still_written_can_be_read(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [json.dumps(row) for row in log(9)]
    path.write_text("\n".join(lines) + '\n{"batch": 9, "ins')
    assert len(read_log(path)) == 9
    ax = axes()
    learning(ax, path)
    assert ax.get_lines()[0].get_xdata().tolist() == [0, 256, 512]


def test_a_broken_log_is_named_with_its_line(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("{}\nnot json\n{}\n")
    with pytest.raises(FormatError, match=r"log\.jsonl, line 2: this is not JSON"):
        read_log(path)
    path.write_text("[1]\n")
    with pytest.raises(FormatError, match=r"line 1: expected an object"):
        read_log(path)
    with pytest.raises(UsageError, match=r"cannot read .*missing"):
        read_log(tmp_path / "missing")


def test_a_missing_column_offers_those_there_are():
    with pytest.raises(UsageError, match="it has batch, instances, loss, validation_gap"):
        learning(axes(), log(), y="reward")
