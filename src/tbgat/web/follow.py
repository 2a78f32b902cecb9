"""Follow a search while it runs: server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse, StreamingResponse

from tbgat.web.jobs import Job
from tbgat.web.looks import moving_parts, restore, starts_of
from tbgat.web.models import Problem
from tbgat.web.store import FINISHED, Record, Store

__all__ = ["add_follow"]

# Ten pictures a second look like motion; more only cost.
PAUSE = 0.1
KEEP_ALIVE = 10.0


def add_follow(app: FastAPI) -> None:
    """Add the route of the events."""
    store: Store = app.state.store
    kinds = {"event": {"enum": ["progress", "schedule", "end"]}, "data": {"type": "string"}}
    schema = {"type": "object", "properties": kinds}
    stream: dict[int | str, dict[str, Any]] = {
        200: {"content": {"text/event-stream": {"schema": schema}}},
        429: {"model": Problem},
    }

    @app.get("/api/jobs/{job}/events", response_class=StreamingResponse, responses=stream)
    async def events(job: str) -> Any:
        """Stream ``progress`` and ``schedule`` events, and one ``end`` when the job has ended."""
        live = app.state.runner.live(job)
        record = None if live else await asyncio.to_thread(store.get, job)
        if live is None and record is None:
            return JSONResponse({"detail": "there is no such job"}, 404)
        if app.state.streams >= app.state.limits.streams:
            detail = "too many pages follow searches already: try again later"
            return JSONResponse({"detail": detail}, 429, {"retry-after": "5"})
        body = _ended(record) if record else _running(app, live)
        return StreamingResponse(body, media_type="text/event-stream")


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


async def _running(app: FastAPI, job: Job) -> AsyncIterator[str]:
    app.state.streams += 1
    seen, told, shown, silent = -1, 0, None, 0.0
    try:
        while True:
            state = job.state
            if job.version != seen:
                seen, silent = job.version, 0.0
                found = job.improvements[told:]
                told += len(found)
                yield _event("progress", _progress(job, state, found))
                if job.starts is not None and job.starts is not shown:
                    shown = job.starts
                    # Off the loop: for thousands of operations it takes a while.
                    yield _event(
                        "schedule", await asyncio.to_thread(moving_parts, job.instance, shown)
                    )
            if state in FINISHED:
                break
            await asyncio.sleep(PAUSE)
            silent += PAUSE
            if silent >= KEEP_ALIVE:
                silent = 0.0
                yield ": still here\n\n"
    finally:
        app.state.streams -= 1
    yield _event("end", {"state": job.state, "error": job.error})


def _progress(job: Job, state: str, found: list[Any]) -> dict[str, Any]:
    return {
        "state": state,
        "step": job.step,
        "seconds": job.seconds,
        "best": job.best,
        "lowerBound": job.lower_bound,
        "improvements": [[f.step, f.seconds, f.makespan] for f in found],
    }


async def _ended(record: Record) -> AsyncIterator[str]:
    result = record.result
    if result is not None:
        history = [[f["step"], f["seconds"], f["makespan"]] for f in result["history"]]
        yield _event(
            "progress",
            {
                "state": record.state,
                "step": result["steps"],
                "seconds": result["seconds"],
                "best": result["makespan"],
                "lowerBound": result["lower_bound"],
                "improvements": history,
            },
        )
        starts = starts_of(record)
        yield _event("schedule", await asyncio.to_thread(moving_parts, restore(record), starts))
    yield _event("end", {"state": record.state, "error": record.error})
