"""From instances, results and positions to what the service answers."""

from __future__ import annotations

import re
from typing import Any

from tbgat import formats, library
from tbgat.bounds import lower_bound
from tbgat.errors import FormatError, InstanceError, UsageError
from tbgat.formats.json_text import instance_from_dict, instance_to_dict
from tbgat.instance import Instance
from tbgat.plot.view import critical_blocks, view
from tbgat.schedule import Schedule
from tbgat.search.trace import Position
from tbgat.web.limits import Limits
from tbgat.web.models import (
    Chart,
    InstanceFacts,
    JobView,
    MoveView,
    PositionView,
    ProblemRequest,
)
from tbgat.web.store import Record

__all__ = [
    "chart",
    "facts",
    "file_stem",
    "find_problem",
    "job_view",
    "moving_parts",
    "position_view",
    "restore",
    "starts_of",
]


def find_problem(request: ProblemRequest, limits: Limits) -> Instance:
    """Load from the library, or read the text; complaints are those of the command line."""
    if (request.library is None) == (request.text is None):
        raise UsageError("give either the name of a library instance or a text")
    if request.library is not None:
        instance = library.load(request.library)
    else:
        instance = _parse(request.text or "", request.filename or "")
    if instance.num_operations > limits.operations:
        raise UsageError(
            f"the instance has {instance.num_operations} operations, "
            f"this service takes at most {limits.operations}"
        )
    return instance


def _parse(text: str, filename: str) -> Instance:
    # The last part alone: browsers and people send all kinds of paths, none is ever opened.
    shown = re.split(r"[\\/]", filename)[-1]
    try:
        instance = formats.parse(text)
    except InstanceError as error:
        raise FormatError(f"{shown}: {error}" if shown else str(error)) from None
    if instance.name or not shown:
        return instance
    stem = re.sub(r"\.[^.]*$", "", shown)
    return instance_from_dict({**instance_to_dict(instance), "name": stem})


def facts(instance: Instance) -> InstanceFacts:
    """Size, bound and, for a classic instance under whatever name, its best known makespan."""
    known = library.identify(instance)
    entry = None if known is None else library.bounds(known)
    return InstanceFacts(
        name=instance.name or instance.shape,
        jobs=instance.num_jobs,
        machines=instance.num_machines,
        operations=instance.num_operations,
        lower_bound=max(lower_bound(instance), entry.lower_bound if entry else 0),
        best_known=None if entry is None else entry.upper_bound,
    )


def restore(record: Record) -> Instance:
    """Build the instance of a job again."""
    return instance_from_dict(record.instance)


def starts_of(record: Record) -> list[int] | None:
    """Start times of the best schedule of a finished job."""
    if record.result is None:
        return None
    return [start for row in record.result["starts"] for start in row]


def chart(instance: Instance) -> Chart:
    """Everything about the bars that does not change."""
    return Chart(
        title=instance.name or instance.shape,
        jobs=[instance.job_label(j) for j in range(instance.num_jobs)],
        machines=[instance.machine_label(m) for m in range(instance.num_machines)],
        job=instance.job_of.tolist(),
        step=instance.step_of.tolist(),
        machine=instance.machines.tolist(),
        duration=instance.durations.tolist(),
    )


def moving_parts(instance: Instance, starts: Any) -> dict[str, Any]:
    """Everything about the bars that changes from schedule to schedule."""
    seen = view(instance, Schedule.from_starts(instance, starts))
    return {
        "start": seen.start.tolist(),
        "end": seen.end.tolist(),
        "makespan": seen.makespan,
        "critical": seen.critical.astype(int).tolist(),
        "blocks": critical_blocks(instance, seen.path),
    }


def position_view(instance: Instance, position: Position) -> PositionView:
    """Show a position with the critical path that was drawn in it."""
    parts = moving_parts(instance, position.schedule.starts(instance))
    parts["blocks"] = critical_blocks(instance, list(position.path))
    moves = [
        MoveView(
            first=move.first,
            second=move.second,
            makespan=move.makespan,
            probability=move.probability,
            policy=move.policy,
        )
        for move in position.moves
    ]
    return PositionView(**parts, moves=moves, chosen=position.chosen)


def job_view(record: Record, *, with_chart: bool) -> JobView:
    """Show a job."""
    instance = restore(record)
    return JobView(
        id=record.id,
        state=record.state,  # type: ignore[arg-type]  # the store writes no other
        created=record.created,
        finished=record.finished,
        method=record.request["method"],
        instance=facts(instance),
        request=record.request,
        result=record.result,
        error=record.error,
        chart=chart(instance) if with_chart else None,
    )


def file_stem(record: Record) -> str:
    """Name for a download: letters, digits and little else."""
    name = str(record.instance.get("name") or "schedule")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60]
    return f"{plain or 'schedule'}-{record.request['method']}-{record.id[:6]}"
