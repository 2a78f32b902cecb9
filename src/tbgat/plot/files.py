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
    "curves_html",
    "gantt_html",
    "image_bytes",
    "new_figure",
    "run_labels",
    "save",
    "write_figure",
    "write_file",
]

IMAGE_SUFFIXES = (".png", ".svg", ".pdf")


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
        return write_file(target, page.encode())
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
    return _page("gantt.html", ["gantt-paint.js", "gantt.js"], ["gantt.css"], data)


def curves_html(
    results: Sequence[Result],
    *,
    labels: Sequence[str] | None = None,
    against: str = "seconds",
    best_known: int | None = None,
) -> str:
    """Build a page with interactive curves of searches on one instance: one file, no request."""
    if not results:
        raise UsageError("there is nothing to draw: give at least one result")
    if len({result.instance.digest for result in results}) > 1:
        raise UsageError("a page of curves shows searches on one instance")
    name = results[0].instance.name or results[0].instance.shape
    end = "steps" if against == "step" else "seconds"
    series = [
        {
            "name": label,
            "points": [[getattr(found, against), found.makespan] for found in result.history],
            "end": getattr(result, end),
        }
        for result, label in zip(results, labels or run_labels(results), strict=True)
    ]
    bound = max(result.lower_bound for result in results)
    lines = [{"name": "lower bound", "value": bound, "colour": "#d0342c"}]
    if best_known is not None:
        lines.append({"name": "best known", "value": best_known, "colour": "#1a8f4a"})
    unit = "s" if against == "seconds" else ""
    best = min(result.makespan for result in results)
    data = {"title": f"{name}: makespan {best}", "series": series, "lines": lines, "unit": unit}
    return _page("curve.html", ["curve.js"], ["gantt.css", "curve.css"], data)


def run_labels(results: Sequence[Result]) -> list[str]:
    """Name runs by their method, with the instance or seed where they differ."""
    several = len({result.instance.digest for result in results}) > 1
    methods = [result.method for result in results]
    labels = []
    for result in results:
        parts = [result.instance.name or result.instance.shape] if several else []
        parts.append(result.method)
        if methods.count(result.method) > 1 and not several:
            parts.append(f"seed {result.seed}")
        labels.append(" ".join(parts))
    return labels


def _page(template: str, scripts: Sequence[str], styles: Sequence[str], data: Any) -> str:
    """Fill a template with its scripts, in the order in which they import each other, and data."""
    here = files("tbgat.plot")

    def text(names: Iterable[str]) -> str:
        return "\n".join(here.joinpath(name).read_text(encoding="utf-8") for name in names)

    # What the scripts import from each other now stands above.
    lines = [line for line in text(scripts).splitlines() if not line.startswith("import ")]
    # A name may contain "</script>": in JSON its first sign can be written so that it ends nothing.
    plain = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = text([template]).replace("/*STYLE*/", text(styles))
    return page.replace("/*SCRIPT*/", "\n".join(lines)).replace("/*DATA*/null", plain)


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
    return write_file(target, image_bytes(figure, target.suffix[1:].lower(), dpi=dpi))


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


def write_file(target: Path, data: bytes) -> Path:
    """Write a file, making its folder."""
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
