"""The problem: jobs, each an ordered list of operations on given machines."""

from __future__ import annotations

import hashlib
import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat.errors import InstanceError

__all__ = ["MAX_MACHINES", "MAX_TOTAL_DURATION", "Instance", "IntArray"]

IntArray = npt.NDArray[np.int64]

# Every sum of durations stays exact in int64, in CP-SAT and in JSON's numbers.
MAX_TOTAL_DURATION = 2**50
# Arrays per machine are allocated everywhere: a slip of the pen must not eat the memory.
MAX_MACHINES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Instance:
    """A job shop: frozen, validated, general.

    Operations are numbered job by job: operation ``job_offsets[j] + k`` is step ``k`` of job ``j``.
    Jobs may have different lengths, skip machines and visit a machine twice; durations may be zero.

    Parameters
    ----------
    jobs
        One list per job of ``(machine, duration)`` pairs, machines counted from 0.
    name
        Shown in every output.
    num_machines
        Only needed when the last machines are visited by no job.
    job_names, machine_names
        Optional labels, unique and not empty; they survive every round trip. Runs of blanks in a
        name become one blank.
    """

    name: str
    durations: IntArray
    machines: IntArray
    job_offsets: IntArray
    num_machines: int
    job_names: tuple[str, ...] | None
    machine_names: tuple[str, ...] | None

    def __init__(
        self,
        jobs: Iterable[Iterable[Sequence[int]]],
        *,
        name: str = "",
        num_machines: int | None = None,
        job_names: Iterable[str] | None = None,
        machine_names: Iterable[str] | None = None,
    ) -> None:
        listed = [list(job) for job in jobs]
        for j, job in enumerate(listed):
            for k, pair in enumerate(job):
                if not hasattr(pair, "__len__") or len(pair) != 2:
                    raise InstanceError(
                        f"job {j}, operation {k}: expected (machine, duration), got {pair!r}"
                    )
        flat = [pair for job in listed for pair in job]
        self._fill(
            durations=[pair[1] for pair in flat],
            machines=[pair[0] for pair in flat],
            job_offsets=np.cumsum([0] + [len(job) for job in listed]),
            name=name,
            num_machines=num_machines,
            job_names=job_names,
            machine_names=machine_names,
        )

    @classmethod
    def from_arrays(
        cls, durations: npt.ArrayLike, machines: npt.ArrayLike, **labels: Any
    ) -> Instance:
        """Build a rectangular shop from two arrays jobs x steps, machines counted from 0."""
        try:
            p, m = np.asarray(durations), np.asarray(machines)
        except ValueError:
            raise InstanceError(
                "durations and machines must be rectangular (jobs x steps); use Instance(jobs) "
                "for jobs of different lengths"
            ) from None
        if p.ndim != 2 or p.shape != m.shape:
            raise InstanceError(
                f"durations and machines must be two arrays jobs x steps of one shape, "
                f"got {p.shape} and {m.shape}"
            )
        offsets = np.arange(p.shape[0] + 1, dtype=np.int64) * p.shape[1]
        return cls.from_flat(p.ravel(), m.ravel(), offsets, **labels)

    @classmethod
    def from_flat(
        cls,
        durations: npt.ArrayLike,
        machines: npt.ArrayLike,
        job_offsets: npt.ArrayLike,
        *,
        name: str = "",
        num_machines: int | None = None,
        job_names: Iterable[str] | None = None,
        machine_names: Iterable[str] | None = None,
    ) -> Instance:
        """Build from arrays over operations; job ``j`` starts at ``job_offsets[j]``."""
        self = cls.__new__(cls)
        self._fill(durations, machines, job_offsets, name, num_machines, job_names, machine_names)
        return self

    def _fill(
        self,
        durations: npt.ArrayLike,
        machines: npt.ArrayLike,
        job_offsets: npt.ArrayLike,
        name: str,
        num_machines: int | None,
        job_names: Iterable[str] | None,
        machine_names: Iterable[str] | None,
    ) -> None:
        offsets = np.array(job_offsets, dtype=np.int64)
        p = _whole_numbers(durations, "duration", offsets)
        m = _whole_numbers(machines, "machine", offsets)
        _check_offsets(offsets, len(p), len(m))
        _reject(m < 0, m, offsets, "machine {} is negative")
        _reject(p < 0, p, offsets, "duration {} is negative")
        if float(p.sum(dtype=np.float64)) > MAX_TOTAL_DURATION:
            raise InstanceError(
                f"the durations add up to more than {MAX_TOTAL_DURATION}: use a coarser unit"
            )
        count = int(m.max()) + 1 if num_machines is None else int(num_machines)
        if count > MAX_MACHINES:
            raise InstanceError(f"{count} machines are more than the {MAX_MACHINES} we can take")
        _reject(m >= count, m, offsets, f"machine {{}} is out of range, there are {count} machines")
        jobs_named = _names(job_names, len(offsets) - 1, "job")
        machines_named = _names(machine_names, count, "machine")
        for array in (p, m, offsets):
            array.setflags(write=False)
        values = (_one_line(name), p, m, offsets, count, jobs_named, machines_named)
        for field, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, field, value)

    def renamed(self, name: str) -> Instance:
        """Return the same instance under another name; the numbers are shared, not copied."""
        other = Instance.__new__(Instance)
        for field in self.__dataclass_fields__:
            value = _one_line(name) if field == "name" else getattr(self, field)
            object.__setattr__(other, field, value)
        return other

    @property
    def num_jobs(self) -> int:
        """Number of jobs."""
        return len(self.job_offsets) - 1

    @property
    def num_operations(self) -> int:
        """Number of operations of all jobs together."""
        return len(self.durations)

    @property
    def shape(self) -> str:
        """Size as people write it, such as ``15x10``."""
        return f"{self.num_jobs}x{self.num_machines}"

    @cached_property
    def jobs(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The jobs as nested tuples of ``(machine, duration)``."""
        pairs = list(zip(self.machines.tolist(), self.durations.tolist(), strict=True))
        bounds = self.job_offsets.tolist()
        return tuple(tuple(pairs[a:b]) for a, b in itertools.pairwise(bounds))

    @cached_property
    def job_of(self) -> IntArray:
        """Job of every operation."""
        result = np.repeat(np.arange(self.num_jobs), np.diff(self.job_offsets))
        result.setflags(write=False)
        return result

    @cached_property
    def step_of(self) -> IntArray:
        """Position of every operation in its job."""
        result = np.arange(self.num_operations) - self.job_offsets[self.job_of]
        result.setflags(write=False)
        return result

    @cached_property
    def is_classic(self) -> bool:
        """Whether every job visits every machine exactly once."""
        lengths = np.diff(self.job_offsets)
        if not np.all(lengths == self.num_machines):
            return False
        rows = self.machines.reshape(self.num_jobs, self.num_machines)
        return bool(np.all(np.sort(rows, axis=1) == np.arange(self.num_machines)))

    def job_label(self, job: int) -> str:
        """Name of a job, or its number."""
        return self.job_names[job] if self.job_names else str(job)

    def machine_label(self, machine: int) -> str:
        """Name of a machine, or its number."""
        return self.machine_names[machine] if self.machine_names else str(machine)

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the numbers alone: names do not enter."""
        parts = (np.array([self.num_machines]), self.job_offsets, self.machines, self.durations)
        data = b"".join(np.ascontiguousarray(part, dtype="<i8").tobytes() for part in parts)
        return hashlib.sha256(data).hexdigest()[:16]

    def _key(self) -> tuple[object, ...]:
        return (self.digest, self.name, self.job_names, self.machine_names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        label = f"{self.name!r}, " if self.name else ""
        return f"Instance({label}{self.shape}, {self.num_operations} operations)"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (
            np.array(self.durations),
            np.array(self.machines),
            np.array(self.job_offsets),
            self.name,
            self.num_machines,
            self.job_names,
            self.machine_names,
        )


def _rebuild(p: IntArray, m: IntArray, offsets: IntArray, *labels: Any) -> Instance:
    name, num_machines, job_names, machine_names = labels
    return Instance.from_flat(
        p,
        m,
        offsets,
        name=name,
        num_machines=num_machines,
        job_names=job_names,
        machine_names=machine_names,
    )


def _whole_numbers(values: npt.ArrayLike, what: str, offsets: IntArray) -> IntArray:
    """Copy to int64, refusing fractions, texts and numbers that do not fit."""
    try:
        raw = np.asarray(values)
    except (ValueError, OverflowError):
        raise InstanceError(f"every {what} must be a whole number") from None
    if raw.ndim != 1:
        raise InstanceError(f"every {what} must be a whole number, not a list")
    if raw.size == 0:
        raw = raw.astype(np.int64)
    if raw.dtype.kind in "iu" and raw.dtype != np.uint64:
        return raw.astype(np.int64)
    for index, value in enumerate(raw.ravel().tolist()):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if not whole or isinstance(value, bool):
            raise InstanceError(f"{_place(index, offsets)}: {what} {value!r} is not a whole number")
        if abs(value) > MAX_TOTAL_DURATION:
            raise InstanceError(f"{_place(index, offsets)}: {what} {value} is too large")
    return raw.astype(np.int64)


def _check_offsets(offsets: IntArray, num_durations: int, num_machines: int) -> None:
    if num_durations != num_machines:
        raise InstanceError(f"{num_durations} durations but {num_machines} machines")
    if len(offsets) < 2:
        raise InstanceError("an instance needs at least one job")
    if offsets[0] != 0 or offsets[-1] != num_durations:
        raise InstanceError("job offsets must run from 0 to the number of operations")
    empty = np.flatnonzero(np.diff(offsets) <= 0)
    if len(empty):
        raise InstanceError(f"job {empty[0]} has no operations")


def _place(index: int, offsets: IntArray) -> str:
    job = int(np.searchsorted(offsets, index, side="right")) - 1
    return f"job {job}, operation {index - int(offsets[job])}"


def _reject(bad: npt.NDArray[np.bool_], values: IntArray, offsets: IntArray, text: str) -> None:
    hits = np.flatnonzero(bad)
    if len(hits):
        index = int(hits[0])
        raise InstanceError(f"{_place(index, offsets)}: {text.format(values[index])}")


def _one_line(name: object) -> str:
    """Tidy a name so that it survives every format: single blanks, no control characters."""
    tidy = " ".join(str(name).split())
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in tidy):
        raise InstanceError(f"the name {tidy!r} holds a control character")
    return tidy


def _names(names: Iterable[str] | None, count: int, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    listed = tuple(_one_line(name) for name in names)
    if len(listed) != count:
        raise InstanceError(f"{len(listed)} {what} names for {count} {what}s")
    if "" in listed:
        raise InstanceError(f"the name of {what} {listed.index('')} is empty")
    if len(set(listed)) != count:
        twice = next(name for name in listed if listed.count(name) > 1)
        raise InstanceError(f"{what} name {twice!r} is used twice")
    return listed
