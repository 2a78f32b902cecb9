"""Stop criteria hold no state and compose."""

import math

import pytest

from tbgat.errors import UsageError
from tbgat.search.stop import MaxSeconds, MaxSteps, Patience, Progress, Target, stop_when


def at(step=0, seconds=0.0, best=100, last_gain=0):
    return Progress(step, seconds, best, last_gain)


@pytest.mark.parametrize(
    ("criterion", "goes_on", "stops"),
    [
        (MaxSteps(10), at(step=9), at(step=10)),
        (MaxSeconds(2.5), at(seconds=2.49), at(seconds=2.5)),
        (Target(90), at(best=91), at(best=90)),
        (Patience(5), at(step=7, last_gain=3), at(step=8, last_gain=3)),
    ],
)
def test_each_criterion_stops_exactly_there(criterion, goes_on, stops):
    assert not criterion(goes_on)
    assert criterion(stops)
    # Asked again in another order: nothing was remembered.
    assert not criterion(goes_on)


def test_any_of_is_the_tightest():
    both = MaxSteps(10) | MaxSeconds(4) | Patience(3) | Target(50)
    progress = at(step=4, seconds=1.0, last_gain=2)
    assert both.steps_left(progress) == 1
    assert both.seconds_left(progress) == 3.0
    assert both.target == 50
    assert not both(progress)
    assert both(at(best=50))
    assert both(at(step=3))


def test_nothing_given_never_stops():
    never = stop_when()
    assert not never(at(step=10**12, seconds=1e9, best=0))
    assert never.steps_left(at()) == math.inf
    assert never.target == -1


@pytest.mark.parametrize("limit", [{"steps": -1}, {"seconds": -0.1}, {"seconds": math.nan}])
def test_senseless_limits(limit):
    with pytest.raises(UsageError, match="must be 0 or more"):
        stop_when(**limit)
