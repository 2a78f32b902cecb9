"""What is read out of a longer run is what a shorter run finds."""

from __future__ import annotations

from pathlib import Path

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


def test_the_network_too_and_its_weights_are_in_the_record(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tbgat.policy.network import TBGAT, NetworkConfig
    from tbgat.policy.weights import save_weights

    torch.manual_seed(0)
    network = TBGAT(NetworkConfig(heads=1, width=8, hidden=(8,)))
    for size in ("10x5", "15x5"):
        save_weights(tmp_path / f"{size}.safetensors", network, {"sizes": [size]})
    method = MethodSpec("tbgat", {"weights": str(tmp_path)})
    cases = tuple(Case("la", "la10x5", library.load(f"la0{n}")) for n in (1, 2, 3))
    found = {n: run_job(Job(cases, method, Budget(n), 1, 5)) for n in (20, 60)}
    for short, longest in zip(found[20], found[60], strict=True):
        assert short.makespan == longest.makespan_at(steps=20)
        assert short.batch == 3
        assert short.weights["name"].endswith("10x5.safetensors")
        assert len(short.weights["sha256"]) == 16
    assert found[60][0].makespan < found[60][0].history[0].makespan
