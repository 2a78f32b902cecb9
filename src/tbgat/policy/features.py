"""What the network sees of a batch of solutions: plain arrays, scaled to the training range.

Raw features of a node, forward ``(p / 99, EST / 1000, level / max level)`` and backward
``(p / 99, LST / 1000, backward level / max level)`` (Section 4.2 of the paper). An instance whose
longest duration is above 99 is first scaled so that it is 99; that touches the features alone,
never a makespan.
"""

# mypy: disable-error-code="no-untyped-call"
# Calls into compiled functions, which carry no types.

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat.errors import UsageError
from tbgat.graph.state import GraphBatch
from tbgat.policy.listing import list_moves
from tbgat.policy.move_features import MOVE_FEATURES, fill_columns

__all__ = [
    "MOVE_FEATURES",
    "MOVE_UNIT",
    "Observation",
    "check_move_features",
    "feature_codes",
    "move_positions",
    "observe",
    "observe_moves",
    "training_scale",
]

LONGEST_DURATION = 99.0
TIME_UNIT = 1000.0
# Of the move features.
MOVE_UNIT = 100.0

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Observation:
    """States of B solutions with N operations and M moves, as plain arrays.

    Everything the network needs and nothing else: it can be stored, sent, cut and joined. Operation
    numbers are those of the whole batch; source and sink of each graph are implied.

    Attributes
    ----------
    operation_offsets
        B+1; operations of state b are ``operation_offsets[b] .. operation_offsets[b + 1] - 1``.
    features
        N x 5: duration, EST, LST, forward and backward level, scaled.
    makespans
        B; scaled like EST.
    starts_job
        N; whether the operation is the first of its job. The job neighbours are the operations
        before and after.
    machine_pred, machine_succ
        N; neighbours on the machine, -1 for none.
    move_offsets
        B+1; moves of state b are ``move_offsets[b] .. move_offsets[b + 1] - 1``.
    move_u, move_v
        M; the operations a move swaps, u first now.
    move_features
        M x number of features.
    move_feature_names
        Their names, in order.
    """

    operation_offsets: Int32
    features: Float32
    makespans: Float32
    starts_job: npt.NDArray[np.bool_]
    machine_pred: Int32
    machine_succ: Int32
    move_offsets: Int32
    move_u: Int32
    move_v: Int32
    move_features: Float32
    move_feature_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.operation_offsets) - 1

    @property
    def num_moves(self) -> Int32:
        """Number of moves of each state."""
        return np.diff(self.move_offsets)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All fields as arrays under their names, ready for ``numpy.savez``."""
        return {f.name: np.asarray(getattr(self, f.name)) for f in dataclasses.fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Observation:
        """Inverse of :meth:`to_arrays`."""
        given = {f.name: arrays[f.name] for f in dataclasses.fields(cls)}
        given["move_feature_names"] = tuple(str(n) for n in given["move_feature_names"])  # type: ignore[assignment]  # the one field that is no array
        return cls(**given)  # type: ignore[arg-type]  # see above

    @classmethod
    def concatenate(cls, parts: Sequence[Observation]) -> Observation:
        """Join observations, which may be of different shapes, into one batch."""
        if not parts:
            raise UsageError("no observation to join")
        names = parts[0].move_feature_names
        if any(part.move_feature_names != names for part in parts):
            raise UsageError("observations with different move features cannot be joined")
        sizes = [int(part.operation_offsets[-1]) for part in parts]
        bases = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)

        def joined(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        def shifted(name: str) -> Int32:
            return np.concatenate(
                [_shift(getattr(p, name), base) for p, base in zip(parts, bases, strict=True)]
            )

        return cls(
            operation_offsets=_offsets([np.diff(p.operation_offsets) for p in parts]),
            features=joined("features"),
            makespans=joined("makespans"),
            starts_job=joined("starts_job"),
            machine_pred=shifted("machine_pred"),
            machine_succ=shifted("machine_succ"),
            move_offsets=_offsets([p.num_moves for p in parts]),
            move_u=shifted("move_u"),
            move_v=shifted("move_v"),
            move_features=joined("move_features"),
            move_feature_names=names,
        )

    def select(self, states: npt.ArrayLike) -> Observation:
        """Copy some of the states, in the order given."""
        chosen = np.asarray(states, dtype=np.int64)
        sizes, counts = np.diff(self.operation_offsets)[chosen], self.num_moves[chosen]
        operations = _ranges(self.operation_offsets[chosen], sizes)
        moves = _ranges(self.move_offsets[chosen], counts)
        operation_offsets = _offsets([sizes])
        change = operation_offsets[:-1] - self.operation_offsets[chosen]
        by_operation, by_move = np.repeat(change, sizes), np.repeat(change, counts)
        return Observation(
            operation_offsets=operation_offsets,
            features=self.features[operations],
            makespans=self.makespans[chosen],
            starts_job=self.starts_job[operations],
            machine_pred=_shift(self.machine_pred[operations], by_operation),
            machine_succ=_shift(self.machine_succ[operations], by_operation),
            move_offsets=_offsets([counts]),
            move_u=self.move_u[moves] + by_move,
            move_v=self.move_v[moves] + by_move,
            move_features=self.move_features[moves],
            move_feature_names=self.move_feature_names,
        )


def observe(
    batch: GraphBatch, move_features: Sequence[str] = (), best: npt.ArrayLike | None = None
) -> Observation:
    """Copy what the network needs out of a batch whose levels and moves are up to date.

    Parameters
    ----------
    batch
        After :meth:`~tbgat.graph.state.GraphBatch.levels` and ``neighbourhood``.
    move_features
        Names from :data:`MOVE_FEATURES`.
    best
        Smallest makespan so far per solution; the current one if not given.
    """
    names = check_move_features(move_features)
    g = batch.arrays
    sizes = np.diff(g.offset)
    scale = training_scale(g.duration, g.offset)
    by_operation = np.repeat(scale, sizes)
    deepest = np.repeat(g.sink_level, sizes).astype(np.float64)
    features = np.empty((len(g.duration), 5), dtype=np.float32)
    features[:, 0] = g.duration * by_operation / LONGEST_DURATION
    features[:, 1] = g.est * by_operation / TIME_UNIT
    features[:, 2] = batch.lst * by_operation / TIME_UNIT
    features[:, 3] = g.level / deepest
    features[:, 4] = g.back_level / deepest
    at, move_offsets, columns = observe_moves(batch, names, best, scale)
    return Observation(
        operation_offsets=g.offset.astype(np.int32),
        features=features,
        makespans=(g.makespan * scale / TIME_UNIT).astype(np.float32),
        starts_job=g.job_pred < 0,
        machine_pred=g.machine_pred.copy(),
        machine_succ=g.machine_succ.copy(),
        move_offsets=move_offsets,
        move_u=g.move_u[at],
        move_v=g.move_v[at],
        move_features=columns,
        move_feature_names=names,
    )


def observe_moves(
    batch: GraphBatch,
    names: Sequence[str],
    best: npt.ArrayLike | None,
    scale: npt.NDArray[np.float64],
) -> tuple[Int64, Int32, Float32]:
    """Where the moves stand in ``batch.arrays``, their offsets by solution, and their features."""
    g = batch.arrays
    at, offsets = move_positions(batch)
    columns = np.empty((len(at), len(names)), dtype=np.float32)
    if names:
        known_best = g.makespan if best is None else np.asarray(best, dtype=np.int64)
        fill_columns(g, feature_codes(names), known_best, scale / MOVE_UNIT, columns)
    return at, offsets, columns


def move_positions(batch: GraphBatch) -> tuple[Int64, Int32]:
    """Where the moves stand in ``batch.arrays.move_*``, and where those of each solution begin."""
    g = batch.arrays
    offsets = np.empty(len(batch) + 1, dtype=np.int32)
    at = np.empty(int(g.move_count.sum()), dtype=np.int64)
    list_moves(g.offset, g.move_count, offsets, at)
    return at, offsets


def check_move_features(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names as a tuple, or say which one is unknown."""
    listed = tuple(names)
    for name in listed:
        if name not in MOVE_FEATURES:
            known = ", ".join(MOVE_FEATURES)
            raise UsageError(f"unknown move feature {name!r}; known are {known}")
    return listed


def feature_codes(names: Iterable[str]) -> Int64:
    """The places of these names among all move features: how compiled functions know them."""
    places = {name: place for place, name in enumerate(MOVE_FEATURES)}
    return np.array([places[name] for name in names], dtype=np.int64)


def training_scale(durations: Int64, offsets: Int64) -> npt.NDArray[np.float64]:
    """Per solution: 1 where the durations lie in 0..99, else 99 / the longest duration."""
    longest = np.maximum.reduceat(durations, offsets[:-1])
    return np.asarray(LONGEST_DURATION / np.maximum(longest, LONGEST_DURATION))


def _offsets(lengths: Sequence[npt.NDArray[Any]]) -> Int32:
    return np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)


def _ranges(starts: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Int64:
    """Concatenate ``start .. start + length - 1`` over all pairs."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    shift = np.repeat(starts.astype(np.int64) - ends + lengths, lengths)
    return np.asarray(np.arange(total) + shift)


def _shift(indices: Int32, by: Any) -> Int32:
    """Add to all indices but the -1 that mean none."""
    return np.where(indices >= 0, indices + by, -1).astype(np.int32)
