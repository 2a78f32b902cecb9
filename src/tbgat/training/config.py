"""Everything that defines a training run, and nothing that merely describes it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tbgat.errors import UsageError
from tbgat.generate.sizes import Sizes
from tbgat.policy.network import check_products

__all__ = ["LEARNERS", "TrainingConfig"]

LEARNERS = ("reinforce", "evolution", "imitation", "improvement")


@dataclass(frozen=True)
class TrainingConfig:
    """A training run; two runs with equal configurations end with equal weights.

    The defaults are the paper's (its Appendix on algorithm configurations).

    Attributes
    ----------
    learner
        ``reinforce``, or ``evolution`` for networks without a graph. A batch is then a generation,
        and ``window``, ``entropy``, ``clip`` and ``literal`` mean nothing. With ``imitation`` it is
        a lesson of ``window`` updates, and ``entropy`` and ``literal`` mean nothing.
        ``improvement`` is a lesson too: the network learns from roll-outs of the teacher.
    teacher
        Whom an imitation follows, and who makes the roll-outs of an improvement: weights by name or
        file, or a preset as it is before training.
    passes
        Of a lesson: 0 for one update of the whole network per step. Else the attention layers
        stay as they are, and the scoring network learns in so many passes over the states of a
        lesson. That costs a twentieth per state, once they are embedded.
    sizes
        Jobs x machines of the training instances; batches take turns, unless ``mixed``.
    mixed
        Whether every batch holds all sizes instead.
    preset, move_features
        The network; no move features given means the preset's own.
    lr, lr_end
        Learning rate at the start and at the end; between them half a cosine.
    batch, instances
        Instances per batch and altogether.
    steps, window
        Length T of an episode, and n of the n-step returns.
    entropy
        Weight EC of the entropy term.
    clip
        Largest norm of a gradient; 0 for none.
    products
        How the large products are computed (:data:`~tbgat.policy.network.PRODUCTS`): in the
        roll-outs of REINFORCE, whose gradients are always those of float32, and in lessons.
    literal
        Recompute every window with gradients, as Algorithm 1 is written, not only those whose
        normalised return differs from zero.
    validate_every
        Batches between two validations.
    validation
        Instances per size in a validation.
    pairs, sigma
        Of an evolution: pairs of perturbed networks per generation, deviation of a perturbation.
    marks
        Of an evolution: numbers of steps, rising, after which the best makespan counts. The last
        one is the length of an episode. Of an improvement the same of a roll-out.
    rollouts, tau
        Of an improvement: roll-outs of every move, and what a gain is divided by, in percent of the
        makespan: the smaller, the further the policy moves from where it started.
    units
        Hidden units of the shortcut instead of the preset's.
    """

    learner: str = "reinforce"
    teacher: str = "moves"
    passes: int = 0
    sizes: Sizes = ((10, 10),)
    mixed: bool = False
    preset: str = "paper"
    move_features: tuple[str, ...] | None = None
    lr: float = 1e-5
    lr_end: float | None = None
    batch: int = 64
    instances: int = 128_000
    steps: int = 500
    window: int = 10
    entropy: float = 1e-5
    clip: float = 0.0
    seed: int = 1
    products: str = "lowrank"
    literal: bool = False
    validate_every: int = 10
    validation: int = 200
    pairs: int = 24
    sigma: float = 0.2
    marks: tuple[int, ...] = (500, 2000)
    units: int | None = None
    rollouts: int = 8
    tau: float = 0.05

    def __post_init__(self) -> None:
        for name in (
            "batch",
            "instances",
            "steps",
            "window",
            "validate_every",
            "pairs",
            "rollouts",
        ):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        for name in ("lr", "entropy", "clip", "sigma", "passes"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"{name} must be 0 or more, got {value}")
        if not (math.isfinite(self.tau) and self.tau > 0):
            raise UsageError(f"tau must be above 0, got {self.tau}")
        check_products(self.products)
        if self.learner not in LEARNERS:
            raise UsageError(f"unknown learner {self.learner!r}; known are {', '.join(LEARNERS)}")
        if not self.marks or min(self.marks) < 1 or list(self.marks) != sorted(set(self.marks)):
            raise UsageError(f"marks must be rising numbers of steps, got {self.marks}")
        if not self.sizes:
            raise UsageError("a training run needs at least one size")

    @property
    def batches(self) -> int:
        """Number of batches altogether."""
        return math.ceil(self.instances / self.batch)

    @property
    def horizons(self) -> tuple[int, ...]:
        """After how many steps a validation looks."""
        return self.marks if self.learner == "evolution" else (self.steps,)

    def rate(self, batch: int) -> float:
        """Learning rate of a batch."""
        if self.lr_end is None:
            return self.lr
        share = min(1.0, batch / max(1, self.batches - 1))
        return self.lr_end + (self.lr - self.lr_end) * 0.5 * (1.0 + math.cos(math.pi * share))

    def size_of(self, batch: int) -> Sizes:
        """Size of every instance of a batch."""
        if self.mixed:
            return tuple(self.sizes[i % len(self.sizes)] for i in range(self.batch))
        return (self.sizes[batch % len(self.sizes)],) * self.batch

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a card or a checkpoint."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """Inverse of :meth:`to_dict`, also after a trip through JSON."""
        # Older runs do not name their products.
        given = {"products": "float32", **values}
        given["sizes"] = tuple((int(j), int(m)) for j, m in given["sizes"])
        if "marks" in given:
            given["marks"] = tuple(given["marks"])
        if given.get("move_features") is not None:
            given["move_features"] = tuple(given["move_features"])
        return cls(**given)
