"""PyJobShop is called as it calls itself, and its improvements are told."""

import pytest

import tbgat
from tbgat.errors import UsageError
from tbgat.formats.interchange import to_pyjobshop


def test_the_schedule_is_the_one_pyjobshop_itself_finds() -> None:
    pytest.importorskip("pyjobshop")
    # One worker repeats itself: other parameters or another model would end elsewhere.
    for name in ("la02", "la03"):
        shop = tbgat.load(name)
        # Left to itself OR-Tools takes Ctrl-C away from Python for good.
        own = to_pyjobshop(shop).solve(num_workers=1, random_seed=3, catch_sigint_signal=False)
        result = tbgat.solve(shop, "pyjobshop", seconds=60, seed=3, threads=1)
        assert result.schedule.starts(shop).tolist() == [task.start for task in own.best.tasks]
        assert (result.status, result.makespan) == ("optimal", own.objective)


def test_every_improvement_is_told_and_the_limit_kept() -> None:
    pytest.importorskip("pyjobshop")
    result = tbgat.solve(tbgat.load("ta01"), "pyjobshop", seconds=2, threads=2)
    told = [gain.makespan for gain in result.history]
    assert len(told) > 2
    assert told == sorted(told, reverse=True)
    assert told[-1] == result.makespan
    # Two busy cores can stall a thread; alone it ends within hundredths of a second.
    assert result.seconds < 3.5
    assert "PyJobShop found" in result.explain()


def test_without_seconds_it_refuses() -> None:
    pytest.importorskip("pyjobshop")
    with pytest.raises(UsageError, match="needs a limit in seconds"):
        tbgat.solve(tbgat.load("ft06"), "pyjobshop", steps=5)
