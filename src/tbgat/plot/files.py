"""Write a picture to a file whose suffix says what it is."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tbgat.errors import MissingExtraError, UsageError
from tbgat.instance import Instance
from tbgat.plot.view import chart_data
from tbgat.schedule import Schedule
from tbgat.search.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "IMAGE_SUFFIXES",
    "check_suffix",
    "gantt_html",
    "image_bytes",
    "new_figure",
    "save",
    "write_figure",
]

IMAGE_SUFFIXES = (".png", ".svg", ".pdf")

# In the order in which they import each other.
SCRIPTS = ("gantt-paint.js", "gantt.js")


def save(
    what: Result | Schedule,
    path: str | os.PathLike[str],
    *,
    instance: Instance | None = None,
    best_known: int | None = None,
    **options: Any,
) -> Path:
    """Draw a Gantt chart into a .png, .svg, .pdf or (interactive, offline) .html file.

    Parameters
    ----------
    what
        A result, or a schedule together with its ``instance``.
    options
        For pictures: whatever :func:`tbgat.plot.gantt` takes, such as ``by="job"``.
    """
    bound: int | None = options.pop("lower_bound", None)
    if isinstance(what, Result):
        instance, schedule, bound = what.instance, what.schedule, bound or what.lower_bound
    else:
        schedule = what
    if instance is None:
        raise UsageError("a schedule alone cannot be drawn: give its instance too")
    target = Path(path)
    if target.suffix.lower() == ".html":
        page = gantt_html(
            instance,
            schedule,
            lower_bound=bound,
            best_known=best_known,
            title=options.get("title") or "",
        )
        return _write(target, page.encode())
    from tbgat.plot.gantt import gantt, gantt_size

    check_suffix(target, (*IMAGE_SUFFIXES, ".html"))
    figure = new_figure(gantt_size(instance, options.get("by", "machine")))
    gantt(
        figure.subplots(), instance, schedule, lower_bound=bound, best_known=best_known, **options
    )
    return write_figure(figure, target)


def gantt_html(
    instance: Instance,
    schedule: Schedule,
    *,
    lower_bound: int | None = None,
    best_known: int | None = None,
    title: str = "",
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """Build a page with an interactive Gantt chart: one file, no request to anywhere.

    ``facts`` are shown in a table above the chart.
    """
    data = chart_data(
        instance, schedule, lower_bound=lower_bound, best_known=best_known, title=title
    )
    data["facts"] = list(facts)
    here = files("tbgat.plot")
    template = here.joinpath("gantt.html").read_text(encoding="utf-8")
    script = _one_module(here.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = here.joinpath("gantt.css").read_text(encoding="utf-8")
    # A name may contain "</script>": in JSON the slash can be written so that it ends nothing.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = template.replace("/*STYLE*/", style).replace("/*GANTT*/", script)
    return page.replace("/*DATA*/null", text)


def _one_module(sources: Iterable[str]) -> str:
    """Join scripts into one: what they import from each other now stands above."""
    lines = "\n".join(sources).splitlines()
    return "\n".join(line for line in lines if not line.startswith("import "))


def new_figure(size: tuple[float, float]) -> Figure:
    """Make a figure that belongs to no window and no global list."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtraError("drawing", "plot") from error
    return Figure(figsize=size, layout="constrained")


def write_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: int = 150) -> Path:
    """Save a figure; the same drawing gives the same bytes (no date, fixed identifiers)."""
    target = Path(path)
    check_suffix(target, IMAGE_SUFFIXES)
    return _write(target, image_bytes(figure, target.suffix[1:].lower(), dpi=dpi))


def image_bytes(figure: Figure, kind: str, *, dpi: int = 150) -> bytes:
    """Render a figure as ``png``, ``svg`` or ``pdf``."""
    from matplotlib import rc_context

    undated: dict[str, Any] = {
        "svg": {"Date": None},
        "pdf": {"CreationDate": None, "ModDate": None},
    }.get(kind, {})
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "tbgat"}):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=undated)
    return buffer.getvalue()


def check_suffix(target: Path, allowed: tuple[str, ...]) -> None:
    """Refuse a file name that does not say which of the allowed kinds is meant."""
    if target.suffix.lower() not in allowed:
        raise UsageError(
            f"cannot tell the kind of picture from {target.name!r}: end it in {', '.join(allowed)}"
        )


def _write(target: Path, data: bytes) -> Path:
    with creating(target):
        target.write_bytes(data)
    return target


class creating:
    """Make the folder of a file, and turn what the system says into one sentence."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __enter__(self) -> None:
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {self.target}: {error.strerror}") from None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError):
            raise UsageError(f"cannot write {self.target}: {error.strerror}") from None
