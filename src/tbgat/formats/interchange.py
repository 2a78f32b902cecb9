"""To and from the objects of other packages, none of which is needed to import this."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from tbgat.errors import FormatError, InstanceError, MissingExtraError
from tbgat.instance import Instance

if TYPE_CHECKING:
    from pyjobshop import Model, ProblemData

__all__ = ["from_job_shop_lib", "from_pyjobshop", "to_job_shop_lib", "to_pyjobshop"]


def to_job_shop_lib(instance: Instance) -> dict[str, Any]:
    """Make the dict that ``JobShopInstance.from_matrices(**dict)`` of job_shop_lib takes."""
    metadata: dict[str, Any] = {"num_machines": instance.num_machines}
    if instance.job_names:
        metadata["job_names"] = list(instance.job_names)
    if instance.machine_names:
        metadata["machine_names"] = list(instance.machine_names)
    return {
        "name": instance.name,
        "duration_matrix": [[p for _, p in job] for job in instance.jobs],
        "machines_matrix": [[m for m, _ in job] for job in instance.jobs],
        "metadata": metadata,
    }


def from_job_shop_lib(content: Mapping[str, Any]) -> Instance:
    """Read the dict that ``JobShopInstance.to_dict()`` of job_shop_lib makes."""
    durations, machines = content.get("duration_matrix"), content.get("machines_matrix")
    for key, rows in (("duration_matrix", durations), ("machines_matrix", machines)):
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise FormatError(f"'{key}' must be a list of lists")
    assert isinstance(durations, list)
    assert isinstance(machines, list)
    if [len(row) for row in durations] != [len(row) for row in machines]:
        raise FormatError("'duration_matrix' and 'machines_matrix' differ in shape")
    if any(isinstance(machine, list) for row in machines for machine in row):
        raise FormatError("operations with a choice of machines are no job shop")
    metadata = content.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise FormatError("'metadata' must be an object")
    return Instance(
        [list(zip(*rows, strict=True)) for rows in zip(machines, durations, strict=True)],
        name=str(content.get("name", "")),
        num_machines=_count_of(metadata),
        job_names=_names_of(metadata, "job_names"),
        machine_names=_names_of(metadata, "machine_names"),
    )


def _count_of(metadata: Mapping[str, Any]) -> int | None:
    count = metadata.get("num_machines")
    if count is not None and type(count) is not int:
        raise FormatError("'metadata': 'num_machines' must be a whole number")
    return count


def _names_of(metadata: Mapping[str, Any], key: str) -> list[str] | None:
    names = metadata.get(key)
    if names is not None and not isinstance(names, list):
        raise FormatError(f"'metadata': '{key}' must be a list of names")
    return names


def to_pyjobshop(instance: Instance) -> Model:
    """Build a PyJobShop model: one task per operation, in order of the operations."""
    try:
        from pyjobshop import Model
    except ImportError:
        raise MissingExtraError("converting to PyJobShop", "bench") from None
    model = Model()
    machines = [
        model.add_machine(name=instance.machine_names[m] if instance.machine_names else "")
        for m in range(instance.num_machines)
    ]
    for j, operations in enumerate(instance.jobs):
        job = model.add_job(name=instance.job_names[j] if instance.job_names else "")
        before = None
        for machine, duration in operations:
            task = model.add_task(job=job)
            model.add_mode(task, machines[machine], duration)
            if before is not None:
                model.add_end_before_start(before, task)
            before = task
    return model


def from_pyjobshop(model: Model | ProblemData, name: str = "") -> Instance:
    """Read a PyJobShop model or its data, if it is a job shop and nothing more."""
    data = model.data() if hasattr(model, "add_machine") else model
    _refuse_extras(data)
    operations = [_operation(data, task) for task in range(data.num_tasks)]
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    for link in data.constraints.end_before_start:
        if link.delay or link.task1 in after or link.task2 in before:
            raise InstanceError("not a job shop: the tasks of a job must follow each other in line")
        before[link.task2], after[link.task1] = link.task1, link.task2
    chains = [_chain(data, job, before, after) for job in range(data.num_jobs)]
    if sum(map(len, chains)) != data.num_tasks:
        raise InstanceError("not a job shop: a task belongs to no job")
    return Instance(
        [[operations[task] for task in chain] for chain in chains],
        name=name,
        num_machines=data.num_resources,
        job_names=_labels([job.name for job in data.jobs]),
        machine_names=_labels([machine.name for machine in data.resources]),
    )


def _refuse_extras(data: ProblemData) -> None:
    kinds = (field for field in dir(data.constraints) if not field.startswith("_"))
    for kind in kinds:
        value = getattr(data.constraints, kind)
        if kind != "end_before_start" and isinstance(value, list) and value:
            raise InstanceError(f"not a job shop: the model has constraints {kind!r}")
    for kind, resource in ((type(r).__name__, r) for r in data.resources):
        if kind != "Machine" or resource.breaks:
            raise InstanceError("not a job shop: every resource must be a machine without breaks")
    for item, plain in [(job, _plain("job")) for job in data.jobs] + [
        (task, _plain("task")) for task in data.tasks
    ]:
        for field, value in plain.items():
            if getattr(item, field) != value:
                raise InstanceError(f"not a job shop: {field} is set to {getattr(item, field)}")
    for field in (field for field in dir(data.objective) if field.startswith("weight_")):
        if bool(getattr(data.objective, field)) != (field == "weight_makespan"):
            raise InstanceError("not a job shop: the objective is not the makespan alone")


@cache
def _plain(kind: str) -> dict[str, Any]:
    """Fields of a job or a task without any wishes."""
    from pyjobshop import Model

    item = Model().add_job() if kind == "job" else Model().add_task()
    fields = (field for field in dir(item) if not field.startswith("_"))
    own = ("job", "name", "tasks", "weight", "add_task")
    return {field: getattr(item, field) for field in fields if field not in own}


def _operation(data: ProblemData, task: int) -> tuple[int, int]:
    modes = data.task2modes(task)
    if len(modes) != 1 or len(data.modes[modes[0]].resources) != 1:
        raise InstanceError(f"not a job shop: task {task} has a choice of machines, or none")
    mode = data.modes[modes[0]]
    return mode.resources[0], mode.duration


def _chain(data: ProblemData, job: int, before: dict[int, int], after: dict[int, int]) -> list[int]:
    """Tasks of a job in their order."""
    tasks = set(data.jobs[job].tasks)
    firsts = [task for task in tasks if before.get(task) not in tasks]
    chain = []
    at = firsts[0] if len(firsts) == 1 else None
    while at is not None and at in tasks and at not in chain:
        chain.append(at)
        at = after.get(at)
    if set(chain) != tasks or (chain and chain[0] in before) or (chain and chain[-1] in after):
        raise InstanceError(
            f"not a job shop: the tasks of job {job} must follow each other in line"
        )
    return chain


def _labels(names: list[str]) -> list[str] | None:
    return [name or str(k) for k, name in enumerate(names)] if any(names) else None
