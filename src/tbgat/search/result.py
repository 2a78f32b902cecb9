"""What every solver returns: plain data, no drawing, no computing."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Literal

from tbgat.instance import Instance
from tbgat.schedule import Schedule

__all__ = ["Improvement", "Result", "Status"]

Status = Literal["optimal", "feasible"]


@dataclass(frozen=True, slots=True)
class Improvement:
    """A new best schedule: after how many steps and seconds, and its makespan."""

    step: int
    seconds: float
    makespan: int


@dataclass(frozen=True)
class Result:
    """A checked schedule and how it came about.

    Attributes
    ----------
    lower_bound
        Largest proven lower bound on the makespan of any schedule.
    status
        ``optimal`` only with a ``reason``: bound met, no N5 move left, or proved by CP-SAT.
    steps, seconds
        What the search spent; a step is one move unless the method says otherwise.
    history
        Every improvement, the first schedule included, so that the curve can be drawn.
    story
        A few sentences on what ran and what found the best (see :meth:`explain`).
    stopped
        What ended the search: ``steps``, ``seconds``, ``target``, ``patience``, ``optimal``,
        ``callback``, ``interrupt``, or empty where the method simply came to its end.
    """

    instance: Instance
    method: str
    schedule: Schedule
    makespan: int
    lower_bound: int
    status: Status
    reason: str
    steps: int
    seconds: float
    seed: int | None
    history: tuple[Improvement, ...] = ()
    story: tuple[str, ...] = field(default=())
    stopped: str = ""

    @property
    def gap(self) -> float:
        """Distance from the proven lower bound, as a fraction of it: 0.02 is two percent."""
        return relative_gap(self.makespan, self.lower_bound)

    def explain(self) -> str:
        """Tell in a few lines what ran and what found the best schedule."""
        lines = list(self.story) or [f"{self.method} made {self.steps} steps."]
        if self.status == "optimal":
            lines.append(f"Optimal: {self.reason}.")
        return "\n".join(lines)

    def summary(self) -> str:
        """One line for people."""
        state = f"optimal ({self.reason})" if self.status == "optimal" else f"gap {self.gap:.2%}"
        name = self.instance.name or self.instance.shape
        return (
            f"{name}: makespan {self.makespan}, bound {self.lower_bound}, {state}, "
            f"{self.method}, {self.steps} steps, {self.seconds:.2f} s"
        )

    def to_dict(self, best_known: int | None = None) -> dict[str, Any]:
        """Plain numbers and texts under the documented keys of ``tbgat solve --json``."""
        starts = self.schedule.starts(self.instance).tolist()
        bounds = self.instance.job_offsets.tolist()
        return {
            "instance": self.instance.name,
            "jobs": self.instance.num_jobs,
            "machines": self.instance.num_machines,
            "method": self.method,
            "makespan": self.makespan,
            "lower_bound": self.lower_bound,
            "best_known": best_known,
            "gap": self.gap,
            "status": self.status,
            "steps": self.steps,
            "seconds": self.seconds,
            "seed": self.seed,
            "starts": [starts[a:b] for a, b in itertools.pairwise(bounds)],
        }


def relative_gap(makespan: int, reference: int) -> float:
    """Distance of a makespan from a reference, as a fraction of the reference."""
    if reference <= 0:
        return 0.0 if makespan <= reference else float("inf")
    return (makespan - reference) / reference
