"""The HTTP service: submit, follow, cancel, fetch. Described by ``/api/openapi.json``."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from tbgat import __version__, library
from tbgat.errors import MissingExtraError, TbgatError, UsageError
from tbgat.web.jobs import QueueFull, Runner
from tbgat.web.limits import Limits
from tbgat.web.policy import PolicyWeights
from tbgat.web.store import Store

try:
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse, Response
    from starlette.exceptions import HTTPException

    from tbgat.web.guard import LOOPBACK, Guard
    from tbgat.web.looks import facts, find_problem, job_view
    from tbgat.web.models import (
        Accepted,
        InstanceFacts,
        JobView,
        LibraryEntry,
        MethodView,
        Problem,
        ProblemRequest,
        Service,
        SolveRequest,
    )
except ModuleNotFoundError as error:
    raise MissingExtraError("the page", "web") from error

from tbgat.search.trace import CHOOSERS, NETWORK
from tbgat.solvers import describe_methods
from tbgat.solvers.registry import find_method

__all__ = ["create_app"]

DEFAULT_SECONDS = 5.0

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_REFUSED: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem} for code in (401, 403, 404, 413, 421, 422)
}


def create_app(
    database: str | os.PathLike[str],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] = LOOPBACK,
    weights: str | None = None,
) -> FastAPI:
    """Build the service.

    Parameters
    ----------
    database
        SQLite file with the jobs; made if there is none.
    token
        Demanded of every request. Give one wherever others can reach the service.
    hosts
        Names the service answers to; empty for any.
    weights
        Set, folder or file of the network whose probabilities are shown beside the moves.
    """
    allowed = limits or Limits()
    store = Store(database)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.runner = Runner(store, allowed)
        yield
        app.state.runner.close()
        store.close()

    app = FastAPI(
        title="tbgat",
        version=__version__,
        description="Job shop schedules over HTTP: submit, follow, cancel, fetch.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # those pages fetch scripts from elsewhere
        redoc_url=None,
        lifespan=life,
        responses=_REFUSED,
    )
    app.state.weights = PolicyWeights(weights)
    app.state.store, app.state.limits, app.state.streams = store, allowed, 0
    app.add_middleware(Guard, token=token, hosts=hosts, upload_bytes=allowed.upload_bytes)
    _add_errors(app)
    _add_page(app)
    _add_service(app, allowed)
    _add_jobs(app, store, allowed)

    from tbgat.web.downloads import add_downloads
    from tbgat.web.follow import add_follow
    from tbgat.web.steps import add_steps

    add_follow(app)
    add_steps(app)
    add_downloads(app)
    return app


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(TbgatError)
    async def user_error(request: Request, error: TbgatError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 422)

    @app.exception_handler(RequestValidationError)
    async def bad_request(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        return JSONResponse({"detail": f"{place}: {first['msg']}" if place else first["msg"]}, 422)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:
            return JSONResponse({"detail": "the body of the request is not JSON"}, 422)
        return JSONResponse({"detail": str(error.detail)}, error.status_code, error.headers)


def _add_page(app: FastAPI) -> None:
    # Read once, by fixed names: no request can name a path.
    pages = _static_files()

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return Response(pages["index.html"], media_type="text/html")

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name not in pages:
            return JSONResponse({"detail": "there is no such file"}, 404)
        suffix = "." + name.rpartition(".")[2]
        return Response(pages[name], media_type=_TYPES[suffix])


def _static_files() -> dict[str, bytes]:
    found = {}
    for folder in (files("tbgat.plot"), files("tbgat.web") / "static"):
        for entry in folder.iterdir():
            if entry.name.endswith(tuple(_TYPES)):
                found[entry.name] = entry.read_bytes()
    return found


def _add_service(app: FastAPI, limits: Limits) -> None:
    @app.get("/api/service")
    def service() -> Service:
        """Version, limits, and how many jobs wait."""
        return Service(
            name="tbgat",
            version=__version__,
            limits=asdict(limits),
            waiting=app.state.runner.waiting(),
            choosers=[*CHOOSERS, *([NETWORK] if app.state.weights.available() else [])],
        )

    @app.get("/api/methods")
    def methods() -> list[MethodView]:
        """All methods."""
        listed = describe_methods().items()
        return [MethodView(name=name, summary=summary) for name, summary in listed]

    @app.get("/api/library")
    def list_library() -> list[LibraryEntry]:
        """All classic instances with their bounds."""
        return [
            LibraryEntry(
                name=entry.name,
                jobs=entry.jobs,
                machines=entry.machines,
                lower_bound=entry.lower_bound,
                best_known=entry.upper_bound,
            )
            for entry in library.entries()
        ]

    @app.post("/api/instances")
    def describe(request: ProblemRequest) -> InstanceFacts:
        """Read an instance and say what is known of it; nothing is kept."""
        return facts(find_problem(request, limits))


def _add_jobs(app: FastAPI, store: Store, limits: Limits) -> None:
    @app.post("/api/jobs", status_code=202, responses={429: {"model": Problem}})
    def submit(request: SolveRequest) -> Any:
        """Queue a search. 429 when too many wait: try again later."""
        find_method(request.method)
        asked = _within(request, limits)
        instance = find_problem(request, limits)
        try:
            job = app.state.runner.submit(instance, asked)
        except QueueFull:
            detail = f"{limits.queue} jobs are waiting already: try again later"
            return JSONResponse({"detail": detail}, 429, {"retry-after": "5"})
        return Accepted(id=job, state="queued")

    @app.get("/api/jobs")
    def jobs() -> list[JobView]:
        """List the latest jobs, newest first."""
        return [job_view(record, with_chart=False) for record in store.latest(limits.kept)]

    @app.get("/api/jobs/{job}")
    def one_job(job: str) -> Any:
        """Look at a job and its result."""
        record = store.get(job)
        return unknown_job() if record is None else job_view(record, with_chart=True)

    @app.post("/api/jobs/{job}/cancel")
    def cancel(job: str) -> Any:
        """Stop a job: a running one keeps its best schedule. Stopping twice changes nothing."""
        app.state.runner.cancel(job)
        record = store.get(job)
        return unknown_job() if record is None else job_view(record, with_chart=False)

    @app.delete("/api/jobs/{job}", status_code=204, responses={409: {"model": Problem}})
    def forget(job: str) -> Response:
        """Forget a finished job."""
        if store.delete(job):
            return Response(status_code=204)
        if store.get(job) is None:
            return unknown_job()
        return JSONResponse({"detail": "the job has not ended: stop it first"}, 409)


def unknown_job() -> JSONResponse:
    """Answer for a job that never was or is no longer kept."""
    return JSONResponse({"detail": "there is no such job"}, 404)


def _within(request: SolveRequest, limits: Limits) -> dict[str, Any]:
    """Check a request against the limits and fill in what was left out."""
    if request.seconds is not None and request.seconds > limits.seconds:
        raise UsageError(
            f"this service searches for at most {limits.seconds:g} seconds, not {request.seconds:g}"
        )
    if request.threads > limits.threads:
        raise UsageError(
            f"this service gives a search at most {limits.threads} threads, not {request.threads}"
        )
    seconds = request.seconds
    if seconds is None and request.steps is None:
        seconds = min(DEFAULT_SECONDS, limits.seconds)
    return {
        "method": request.method,
        "seconds": seconds,
        "steps": request.steps,
        "seed": request.seed,
        "threads": request.threads,
    }
