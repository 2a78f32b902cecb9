"""Method ``tbgat``: local search over N5 in which the trained network chooses the moves.

One step is one move, in each of ``trajectories`` searches side by side. Results repeat with the
same seed, number of threads and limit in steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tbgat.errors import MissingExtraError, UsageError
from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Outcome, Task

if TYPE_CHECKING:
    from pathlib import Path

    from tbgat.policy.network import TBGAT
    from tbgat.policy.protocol import Policy

__all__ = ["DEFAULT_WEIGHTS", "prepare", "solve", "solve_many", "weights_of"]

# Swaps that lead out of a circle: two often lead back, more cost steps.
ESCAPE = 10

# Tried in this order when no weights are named.
DEFAULT_WEIGHTS = ("tbgat-plus", "paper")


@cache
def prepare() -> None:
    """Import PyTorch, or say which extra has it; compile or load what the search needs."""
    try:
        import torch
    except ModuleNotFoundError:
        raise MissingExtraError("the method tbgat", "torch") from None
    from tbgat.policy.network import TBGAT
    from tbgat.policy.protocol import NetworkPolicy
    from tbgat.search.policy_search import policy_search
    from tbgat.solvers import learned

    shop = Instance([[(0, 2), (1, 1)], [(0, 1), (1, 2)]])
    start = Schedule.from_machine_orders(shop, [[0, 2], [1, 3]])
    network = TBGAT("tiny", generator=torch.Generator().manual_seed(0))
    task = Task(shop, "", MaxSteps(2), 0, start)
    policy_search([task], NetworkPolicy(network))
    learned.solve(task, TBGAT("moves"))


def solve(
    task: Task,
    weights: str | Path | None = None,
    greedy: bool = False,
    trajectories: int = 1,
    escape: int = ESCAPE,
    device: str = "cpu",
    products: str = "lowrank",
    policy: Policy | None = None,
) -> Outcome:
    """Search with the network.

    Parameters
    ----------
    weights
        Name of a set that comes with the package, a file, or a folder of files; the closest
        training size is taken.
    greedy
        Take the move with the highest score instead of drawing one.
    trajectories
        Searches side by side.
    escape
        Swaps at random that lead out where N5 moves go round in circles; 0 for none, as in the
        paper.
    device
        Where the network runs, such as ``cpu`` or ``cuda``.
    products
        How the large products are computed: ``lowrank``, twice as fast and nearly exact;
        ``float32``, exact; or ``bfloat16``, worth it where the hardware has it.
    policy
        Scores the moves in place of the network (see :class:`tbgat.policy.protocol.Policy`).
    """
    if policy is None and trajectories >= 1 and escape >= 0:
        prepare()
        from tbgat.solvers import learned

        loaded, story = _load(_weights_file(task.instance, weights), device)
        if _walks(loaded):
            found = learned.solve(
                task, loaded, greedy=greedy, trajectories=trajectories, escape=escape
            )
            return replace(found, story=(story,))
    return solve_many(
        [task],
        weights=weights,
        greedy=greedy,
        trajectories=trajectories,
        escape=escape,
        device=device,
        products=products,
        policy=policy,
    )[0]


def solve_many(
    tasks: Sequence[Task],
    weights: str | Path | None = None,
    greedy: bool = False,
    trajectories: int = 1,
    escape: int = ESCAPE,
    device: str = "cpu",
    products: str = "lowrank",
    policy: Policy | None = None,
) -> list[Outcome]:
    """Search on many tasks at once, whatever their shapes; see :func:`solve`.

    Instances for which different weights are closest form batches of their own.
    """
    prepare()
    from tbgat.policy.protocol import NetworkPolicy
    from tbgat.search.policy_search import policy_search
    from tbgat.solvers import learned

    if trajectories < 1:
        raise UsageError(f"trajectories must be 1 or more, got {trajectories}")
    if escape < 0:
        raise UsageError(f"escape must be 0 or more, got {escape}")
    options: dict[str, Any] = {
        "greedy": greedy,
        "trajectories": int(trajectories),
        "escape": int(escape),
    }
    if policy is not None:
        return policy_search(tasks, policy, **options)
    outcomes: list[Outcome | None] = [None] * len(tasks)
    for path, numbers in _by_weights(tasks, weights).items():
        network, story = _load(path, device)
        chosen = [tasks[n] for n in numbers]
        if _walks(network):
            found = learned.solve_many(chosen, network, **options)
        else:
            scores = NetworkPolicy(network, max(task.threads for task in chosen), products)
            found = policy_search(chosen, scores, **options)
        for number, outcome in zip(numbers, found, strict=True):
            outcomes[number] = replace(outcome, story=(story,))
    return [outcome for outcome in outcomes if outcome is not None]


def weights_of(instance: Instance, weights: str | Path | None = None, **_: Any) -> dict[str, str]:
    """Name and checksum of the weights an instance would be solved with."""
    prepare()
    from tbgat.policy.weights import read_card

    path = _weights_file(instance, weights)
    checksum = str(read_card(path).get("sha256", ""))
    return {"name": f"{path.parent.name}/{path.name}", "sha256": checksum[:16]}


def _by_weights(tasks: Sequence[Task], weights: str | Path | None) -> dict[Path, list[int]]:
    """Which file serves which tasks."""
    groups: dict[Path, list[int]] = {}
    for number, task in enumerate(tasks):
        groups.setdefault(_weights_file(task.instance, weights), []).append(number)
    return groups


def _weights_file(instance: Instance, weights: str | Path | None) -> Path:
    from tbgat.policy.weights import find_weights, weight_sets

    if weights is None:
        shipped = weight_sets()
        weights = next((name for name in DEFAULT_WEIGHTS if name in shipped), DEFAULT_WEIGHTS[0])
    return find_weights(weights, (instance.num_jobs, instance.num_machines))


def _load(path: Path, device: str) -> tuple[TBGAT, str]:
    """The network of a file, on its device, and a sentence on it."""
    import torch

    from tbgat.policy.weights import load_weights

    loaded = load_weights(path)
    try:
        network = loaded.network.to(torch.device(device))
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"the device {device!r} cannot be used: {reason}") from None
    sizes: Any = loaded.card.get("sizes", [])
    name = f"{path.parent.name}/{path.name}"
    what = "network" if network.config.layers else "learned move scorer"
    return network, f"The {what} of {name}, trained on {', '.join(sizes)}."


def _walks(network: TBGAT) -> bool:
    """Whether a compiled walk runs it: it sees no graph, and is on the CPU."""
    return network.config.layers == 0 and network.device.type == "cpu"
