"""Everything that defines a training run, and nothing that merely describes it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tbgat.errors import UsageError
from tbgat.generate.sizes import Sizes

__all__ = ["TrainingConfig"]


@dataclass(frozen=True)
class TrainingConfig:
    """A training run; two runs with equal configurations end with equal weights.

    The defaults are the paper's (its Appendix on algorithm configurations).

    Attributes
    ----------
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
    literal
        Recompute every window with gradients, as Algorithm 1 is written, not only those whose
        normalised return differs from zero.
    validate_every
        Batches between two validations.
    validation
        Instances per size in a validation.
    """

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
    literal: bool = False
    validate_every: int = 10
    validation: int = 200

    def __post_init__(self) -> None:
        for name in ("batch", "instances", "steps", "window", "validate_every"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        for name in ("lr", "entropy", "clip"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"{name} must be 0 or more, got {value}")
        if not self.sizes:
            raise UsageError("a training run needs at least one size")

    @property
    def batches(self) -> int:
        """Number of batches altogether."""
        return math.ceil(self.instances / self.batch)

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
        given = dict(values)
        given["sizes"] = tuple((int(j), int(m)) for j, m in given["sizes"])
        if given.get("move_features") is not None:
            given["move_features"] = tuple(given["move_features"])
        return cls(**given)
