"""Look into a search: the schedules it found, a recorded walk move by move, moves of one's own."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Query
from fastapi.responses import JSONResponse

from tbgat.dispatching import dispatch
from tbgat.errors import UsageError
from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.trace import NETWORK, Trace, analyse, make_move, record
from tbgat.web.looks import position_view, restore
from tbgat.web.models import Frame, PositionView, ScheduleRequest, TraceView
from tbgat.web.policy import PolicyWeights
from tbgat.web.store import Record, Store

__all__ = ["add_steps"]

TRACE_SECONDS = 5.0


def add_steps(app: FastAPI) -> None:
    """Add the routes of frames, traces and moves."""
    store: Store = app.state.store
    weights: PolicyWeights = app.state.weights
    # Recording takes seconds of computing: one at a time, however many ask.
    recording = threading.Lock()

    @app.get("/api/jobs/{job}/frames", response_model=list[Frame])
    def frames(job: str) -> Any:
        """List the schedules the search found, oldest first."""
        if store.get(job) is None:
            return JSONResponse({"detail": "there is no such job"}, 404)
        return store.frames(job)

    @app.post("/api/jobs/{job}/moves", response_model=PositionView)
    def moves(job: str, request: ScheduleRequest) -> Any:
        """List the N5 moves of a schedule, after a swap if one is given."""
        found = store.get(job)
        if found is None:
            return JSONResponse({"detail": "there is no such job"}, 404)
        instance = restore(found)
        schedule = Schedule.from_starts(instance, np.array(request.start, dtype=np.int64))
        schedule.check(instance)
        if (request.first is None) != (request.second is None):
            raise UsageError("a swap needs both a first and a second operation")
        if request.first is not None and request.second is not None:
            schedule = make_move(instance, schedule, request.first, request.second)
        network = weights.network_for(instance)
        return position_view(instance, analyse(instance, schedule, network))

    @app.post("/api/jobs/{job}/trace", response_model=TraceView)
    def trace(
        job: str,
        chooser: Annotated[str, Query(max_length=40)] = "tabu",
        steps: Annotated[int, Query(ge=1)] = 300,
    ) -> Any:
        """Record a search over N5 move by move, from the FDD/MWKR start with the job's seed."""
        found = store.get(job)
        if found is None:
            return JSONResponse({"detail": "there is no such job"}, 404)
        if steps > app.state.limits.trace_steps:
            raise UsageError(
                f"this service records at most {app.state.limits.trace_steps} steps, not {steps}"
            )
        with recording:
            made = _record(found, chooser, steps, weights)
        store.add_trace(job, chooser, _plain(made))
        return TraceView(chooser=chooser, steps=len(made.swaps), makespans=list(made.makespans))

    @app.get("/api/jobs/{job}/trace/{chooser}/{step}", response_model=PositionView)
    def position(job: str, chooser: str, step: int) -> Any:
        """Go to a step of a recorded search."""
        found = store.get(job)
        kept = None if found is None else store.trace(job, chooser)
        if found is None or kept is None:
            return JSONResponse({"detail": "no such search was recorded"}, 404)
        instance = restore(found)
        network = weights.network_for(instance)
        return position_view(instance, _restored(instance, kept).position(step, network))


def _record(found: Record, chooser: str, steps: int, weights: PolicyWeights) -> Trace:
    instance = restore(found)
    seed = (found.result or found.request).get("seed") or 0
    start = dispatch(instance, rng=np.random.default_rng([seed, 2**31]))
    return record(
        instance,
        chooser,
        steps=steps,
        seed=seed,
        start=start,
        seconds=TRACE_SECONDS,
        network=weights.network_for(instance) if chooser == NETWORK else None,
    )


def _plain(trace: Trace) -> dict[str, Any]:
    return {
        "chooser": trace.chooser,
        "start": trace.start,
        "swaps": trace.swaps,
        "makespans": trace.makespans,
        # As texts: these need all 64 bits.
        "random": [str(state) for state in trace.random],
    }


def _restored(instance: Instance, kept: dict[str, Any]) -> Trace:
    return Trace(
        instance,
        kept["chooser"],
        tuple(tuple(order) for order in kept["start"]),
        tuple((u, v) for u, v in kept["swaps"]),
        tuple(kept["makespans"]),
        tuple(int(state) for state in kept["random"]),
    )
