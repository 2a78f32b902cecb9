"""Take a finished job home: schedule, picture, report."""

from __future__ import annotations

import threading
from typing import Any, Literal

import numpy as np
from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from tbgat.instance import Instance
from tbgat.plot.files import gantt_html
from tbgat.schedule import Schedule
from tbgat.schedule_files import schedule_to_csv, schedule_to_json
from tbgat.web.looks import facts, file_stem, restore, starts_of
from tbgat.web.models import Problem
from tbgat.web.store import Record, Store

__all__ = ["add_downloads"]

_TYPES = {
    "json": "application/json",
    "csv": "text/csv",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html",
}


def _file(*kinds: str) -> dict[int | str, dict[str, Any]]:
    schema = {"schema": {"type": "string"}}
    return {
        200: {"content": {_TYPES[kind]: schema if kind != "json" else {} for kind in kinds}},
        409: {"model": Problem},
    }


def add_downloads(app: FastAPI) -> None:
    """Add the routes of schedules, pictures and reports."""
    store: Store = app.state.store
    # matplotlib draws one picture at a time.
    drawing = threading.Lock()

    def fetch(job: str) -> tuple[Record, Instance, Schedule] | JSONResponse:
        record = store.get(job)
        if record is None:
            return JSONResponse({"detail": "there is no such job"}, 404)
        starts = starts_of(record)
        if starts is None:
            return JSONResponse({"detail": f"the job is {record.state}: it has no schedule"}, 409)
        instance = restore(record)
        return record, instance, Schedule.from_starts(instance, np.array(starts, dtype=np.int64))

    @app.get(
        "/api/jobs/{job}/schedule.{kind}", response_class=Response, responses=_file("json", "csv")
    )
    def schedule(job: str, kind: Literal["json", "csv"]) -> Response:
        """Fetch the schedule; ``tbgat check`` reads it."""
        found = fetch(job)
        if isinstance(found, Response):
            return found
        record, instance, best = found
        text = (schedule_to_json if kind == "json" else schedule_to_csv)(best, instance)
        return _attachment(record, kind, text.encode())

    @app.get(
        "/api/jobs/{job}/picture.{kind}", response_class=Response, responses=_file("svg", "png")
    )
    def picture(job: str, kind: Literal["svg", "png"]) -> Response:
        """Fetch a Gantt chart."""
        from tbgat.plot.files import image_bytes, new_figure
        from tbgat.plot.gantt import gantt, gantt_size

        found = fetch(job)
        if isinstance(found, Response):
            return found
        record, instance, best = found
        known = facts(instance)
        with drawing:
            figure = new_figure(gantt_size(instance))
            bound = max(known.lower_bound, (record.result or {}).get("lower_bound", 0))
            gantt(
                figure.subplots(),
                instance,
                best,
                lower_bound=bound,
                best_known=known.best_known,
            )
            return _attachment(record, kind, image_bytes(figure, kind))

    @app.get("/api/jobs/{job}/report.html", response_class=Response, responses=_file("html"))
    def report(job: str) -> Response:
        """Fetch a page with everything known of the result, and an interactive chart."""
        found = fetch(job)
        if isinstance(found, Response):
            return found
        record, instance, best = found
        known = facts(instance)
        page = gantt_html(
            instance,
            best,
            lower_bound=max(known.lower_bound, (record.result or {}).get("lower_bound", 0)),
            best_known=known.best_known,
            facts=_facts(record, instance),
        )
        return _attachment(record, "html", page.encode())


def _attachment(record: Record, kind: str, content: bytes) -> Response:
    name = f"{file_stem(record)}.{kind}"
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=_TYPES[kind], headers=disposition)


def _facts(record: Record, instance: Instance) -> list[tuple[str, str]]:
    result = record.result or {}
    known = facts(instance)
    bound = max(known.lower_bound, result["lower_bound"])
    rows = [
        ("instance", f"{known.name}, {known.jobs} jobs on {known.machines} machines"),
        ("method", str(result["method"])),
        ("makespan", str(result["makespan"])),
        ("lower bound", str(bound)),
        ("best known", "unknown" if known.best_known is None else str(known.best_known)),
        ("gap to the bound", f"{(result['makespan'] - bound) / max(bound, 1):.2%}"),
        ("status", f"{result['status']} {result['reason'] and '(' + result['reason'] + ')'}"),
        ("steps", str(result["steps"])),
        ("seconds", f"{result['seconds']:.2f}"),
        ("seed", str(result["seed"])),
    ]
    return [*rows, *(("", line) for line in result["story"])]
