"""Every method on all 242 classic instances: whatever comes back has passed the checker."""

import pytest

import tbgat
from tbgat import library

NAMES = library.names()
OPTIMA = {name: library.bounds(name) for name in NAMES}


@pytest.mark.parametrize(
    ("method", "limit"),
    [
        ("dispatch", {}),
        ("random", {"steps": 30}),
        ("greedy", {"steps": 30}),
        ("tabu", {"steps": 30}),
        ("tspr", {"steps": 30}),
        ("auto", {"steps": 30}),
        ("auto", {"seconds": 0.05}),
        ("cpsat", {"seconds": 0.02}),
        ("tbgat", {"steps": 2, "weights": "tbgat-plus"}),
        ("tbgat", {"steps": 2, "weights": "tbgat-graph"}),
    ],
)
def test_all_instances(method, limit):
    shops = [tbgat.load(name) for name in NAMES]
    results = tbgat.solve_many(shops, method, seed=1, threads=1, **limit)
    assert len(results) == 242
    for name, shop, result in zip(NAMES, shops, results, strict=True):
        assert not result.schedule.violations(shop)
        assert result.makespan == result.schedule.makespan
        assert OPTIMA[name].lower_bound <= result.makespan
        assert result.lower_bound <= OPTIMA[name].upper_bound
