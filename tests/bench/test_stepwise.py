"""What is read out of a longer run is what a shorter run finds."""

from __future__ import annotations

import pytest

from tbgat import library
from tbgat.bench.plan import STEPWISE, Budget, Job, MethodSpec
from tbgat.bench.run import run_job
from tbgat.bench.suites import Case


@pytest.mark.parametrize("method", sorted(STEPWISE - {"tbgat"}))
def test_a_run_of_fewer_steps_is_the_beginning_of_a_longer_one(method: str) -> None:
    for name in ("la21", "ta01"):
        case = Case("any", "any", library.load(name))

        def run(steps: int, case: Case = case) -> object:
            (record,) = run_job(Job((case,), MethodSpec(method), Budget(steps), 1, 5))
            return record

        longest = run(3000)
        for steps in (100, 500, 2000):
            shorter = run(steps)
            assert shorter.makespan == longest.makespan_at(steps=steps)
