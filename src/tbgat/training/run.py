"""A training run in a folder: resumable at any moment, logged, the best weights kept.

The folder holds ``config.json``, ``state.safetensors`` (weights, optimiser, position; replaced
whole after every batch), ``log.jsonl`` (a line per batch) and ``best.safetensors`` with its card;
with an improvement also ``start.safetensors``, the weights it began with.
A batch depends on the seed and its number alone, so a run that was killed repeats at most one batch
and ends with the weights of a run that was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from tbgat.errors import UsageError
from tbgat.policy.network import PRESETS, TBGAT
from tbgat.policy.weights import load_weights, save_weights
from tbgat.training.allocator import keep_freed_memory
from tbgat.training.checkpoint import load_state, save_state, write_atomically
from tbgat.training.config import TrainingConfig
from tbgat.training.evolution import run_generation
from tbgat.training.imitation import run_lesson
from tbgat.training.improvement import run_improvement
from tbgat.training.reinforce import run_batch
from tbgat.training.validate import validate, validation_sets

__all__ = ["TrainingRun", "train"]

Listener = Callable[[dict[str, Any]], None]


@dataclass
class TrainingRun:
    """The folder and what is in it."""

    folder: Path
    config: TrainingConfig
    policy: TBGAT
    optimiser: torch.optim.Adam
    batch: int = 0
    seconds: float = 0.0
    best_gap: float = float("inf")
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def start(
        cls, folder: Path, config: TrainingConfig, *, init: str | None = None, device: str = "cpu"
    ) -> TrainingRun:
        """Begin in an empty folder, from random weights or from ``init`` (a name or a file)."""
        if (folder / "state.safetensors").exists():
            raise UsageError(f"{folder} holds a training run already: go on with --resume")
        policy = _network(config)
        if config.learner in ("imitation", "improvement"):
            teacher = _teacher(config.teacher)  # an unknown one must not leave a folder behind
        if config.learner == "improvement" and (not policy.config.layers or teacher.config.layers):
            raise UsageError(
                "an improvement needs a network with attention layers and a teacher without, "
                "such as 'visible'"
            )
        if config.passes and not policy.config.layers:
            raise UsageError(
                f"passes need a network with attention layers, {config.preset} has none"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be used: {error.strerror}") from None
        if init is not None:
            load_weights(init, into=policy)
        if config.learner == "improvement":
            card = {"preset": config.preset, "sizes": _names(config)}
            save_weights(folder / "start.safetensors", policy, card)
        run = cls(folder, config, policy.to(device), _adam(policy, config))
        write_atomically(folder / "config.json", json.dumps(config.to_dict(), indent=1).encode())
        run.save()
        return run

    @classmethod
    def resume(cls, folder: Path, *, device: str = "cpu") -> TrainingRun:
        """Go on where the folder's last complete batch ended."""
        try:
            config = TrainingConfig.from_dict(json.loads((folder / "config.json").read_text()))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UsageError(f"{folder} holds no training run: {error}") from None
        policy = _network(config)
        optimiser = _adam(policy, config)
        position = load_state(folder / "state.safetensors", policy, optimiser)
        policy.to(device)
        run = cls(folder, config, policy, optimiser, **position)
        run.history = [r for r in _read_log(folder / "log.jsonl") if r["batch"] <= run.batch]
        run._write_log()
        return run

    def advance(self, *, threads: int = 1) -> dict[str, Any]:
        """Train on the next batch, validate where it is due, log, save."""
        started = time.monotonic()
        record: dict[str, Any] = dict(
            self._learner()(self.policy, self.optimiser, self.config, self.batch, threads=threads)
        )
        self.batch += 1
        record |= {"batch": self.batch, "instances": self.batch * self.config.batch}
        last = self.batch == self.config.batches
        if self.config.validation and (last or self.batch % self.config.validate_every == 0):
            record |= self._validate(threads)
        self.seconds += time.monotonic() - started
        record["seconds"] = self.seconds
        self.history.append(record)
        self._write_log()
        self.save()
        return record

    def _learner(self) -> Callable[..., dict[str, float]]:
        """What runs a batch."""
        if self.config.learner == "imitation":
            return partial(run_lesson, _teacher(self.config.teacher))
        if self.config.learner == "improvement":
            start = load_weights(self.folder / "start.safetensors").network
            return partial(run_improvement, _teacher(self.config.teacher), start)
        return run_generation if self.config.learner == "evolution" else run_batch

    def save(self) -> None:
        """Replace the state on disk."""
        position = {"batch": self.batch, "seconds": self.seconds, "best_gap": self.best_gap}
        save_state(self.folder / "state.safetensors", self.policy, self.optimiser, position)

    def _validate(self, threads: int) -> dict[str, Any]:
        sets = validation_sets(self.config.sizes, self.config.validation)
        found = validate(self.policy, sets, marks=self.config.horizons, threads=threads)
        result = {
            "validation_gap": found.gap,
            "validation_error": found.error,
            "validation_gaps": found.gaps,
        }
        if found.gap < self.best_gap:
            self.best_gap = found.gap
            save_weights(self.folder / "best.safetensors", self.policy, self._card(found.gaps))
        return result

    def _card(self, gaps: dict[str, float]) -> dict[str, Any]:
        return {
            "preset": self.config.preset,
            "sizes": _names(self.config),
            "instances": self.batch * self.config.batch,
            "seed": self.config.seed,
            "validation": {"steps": list(self.config.horizons), "gap_percent": gaps},
            "training": self.config.to_dict(),
            "date": datetime.now(UTC).date().isoformat(),
        }

    def _write_log(self) -> None:
        lines = "".join(json.dumps(record) + "\n" for record in self.history)
        write_atomically(self.folder / "log.jsonl", lines.encode())


def train(
    run: TrainingRun, *, threads: int = 1, minutes: float | None = None, listen: Listener = print
) -> None:
    """Train to the end of the run, or for about ``minutes``; ``listen`` hears of every batch."""
    end = float("inf") if minutes is None else time.monotonic() + 60.0 * minutes
    torch.set_num_threads(threads)
    keep_freed_memory()
    while run.batch < run.config.batches and time.monotonic() < end:
        listen(run.advance(threads=threads))


def _network(config: TrainingConfig) -> TBGAT:
    if config.preset not in PRESETS:
        raise UsageError(f"unknown preset {config.preset!r}; known are {', '.join(PRESETS)}")
    network = PRESETS[config.preset]
    if config.move_features is not None:
        network = network.replace(move_features=config.move_features)
    if config.units is not None:
        network = network.replace(shortcut_units=config.units)
    if config.learner == "evolution" and network.layers:
        raise UsageError(
            "evolution trains networks without a graph, such as the preset 'moves', "
            f"not {config.preset!r}"
        )
    return TBGAT(network, generator=torch.Generator().manual_seed(config.seed))


@cache
def _teacher(name: str) -> TBGAT:
    """A trained network by its weights, or a preset before training (a rule, if it is one)."""
    return TBGAT(name) if name in PRESETS else load_weights(name).network


def _names(config: TrainingConfig) -> list[str]:
    return [f"{jobs}x{machines}" for jobs, machines in config.sizes]


def _adam(policy: TBGAT, config: TrainingConfig) -> torch.optim.Adam:
    return torch.optim.Adam(policy.parameters(), lr=config.lr)


def _read_log(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]
