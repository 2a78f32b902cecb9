"""What the HTTP service takes and gives, as OpenAPI describes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Accepted",
    "Chart",
    "Frame",
    "InstanceFacts",
    "JobView",
    "LibraryEntry",
    "MethodView",
    "MoveView",
    "PositionView",
    "Problem",
    "ProblemRequest",
    "ScheduleRequest",
    "Service",
    "SolveRequest",
    "TraceView",
]

State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
Whole = Annotated[int, Field(ge=0, le=2**53)]
# No lone surrogates: they are no text that could be sent back.
Text = Annotated[str, Field(max_length=4_000_000)]


class Strict(BaseModel):
    """A body in which a misspelt key is an error."""

    model_config = ConfigDict(extra="forbid")


class ProblemRequest(Strict):
    """An instance: the name of a library one, or a text in any format."""

    library: Annotated[str, Field(max_length=40)] | None = None
    text: Text | None = None
    filename: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="only to name the instance and in messages; nothing is read from it"
    )


class SolveRequest(ProblemRequest):
    """A search to be made. Without seconds and steps it takes five seconds."""

    method: Annotated[str, Field(max_length=40)] = "auto"
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    steps: Annotated[int, Field(ge=1, le=10**12)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    threads: Annotated[int, Field(ge=1, le=1024)] = 1


class ScheduleRequest(Strict):
    """A schedule to look at, perhaps after one swap."""

    start: Annotated[list[Whole], Field(max_length=1_000_000)]
    first: Whole | None = None
    second: Whole | None = None


class Problem(BaseModel):
    """What was wrong, in one sentence."""

    detail: str


class Service(BaseModel):
    """The service and what it lets its users ask for."""

    name: str
    version: str
    limits: dict[str, float]
    waiting: int
    choosers: list[str]


class MethodView(BaseModel):
    """A method and a sentence on it."""

    name: str
    summary: str


class LibraryEntry(BaseModel):
    """A classic instance with its bounds."""

    name: str
    jobs: int
    machines: int
    lower_bound: int
    best_known: int


class InstanceFacts(BaseModel):
    """What is known of an instance before any search."""

    name: str
    jobs: int
    machines: int
    operations: int
    lower_bound: int
    best_known: int | None


class Accepted(BaseModel):
    """A queued job."""

    id: str
    state: State


class Chart(BaseModel):
    """Everything that does not change while a search runs, per operation."""

    title: str
    jobs: list[str]
    machines: list[str]
    job: list[int]
    step: list[int]
    machine: list[int]
    duration: list[int]


class JobView(BaseModel):
    """A job; ``result`` holds the keys of ``tbgat solve --json`` and a few more."""

    id: str
    state: State
    created: float
    finished: float | None
    method: str
    instance: InstanceFacts
    request: dict[str, Any]
    result: dict[str, Any] | None
    error: str | None
    chart: Chart | None = None


class Frame(BaseModel):
    """A schedule that a search found."""

    step: int
    seconds: float
    makespan: int
    start: list[int]


class MoveView(BaseModel):
    """A swap on the critical path; ``policy`` is the network's probability where it is there."""

    first: int
    second: int
    makespan: int
    probability: float | None
    policy: float | None


class PositionView(BaseModel):
    """A schedule, what is critical in it, and its N5 moves."""

    start: list[int]
    end: list[int]
    makespan: int
    critical: list[int]
    blocks: list[list[int]]
    moves: list[MoveView]
    chosen: int | None


class TraceView(BaseModel):
    """A search recorded move by move."""

    chooser: str
    steps: int
    makespans: list[int]
