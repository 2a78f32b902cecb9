"""Where and when a figure was measured, to stand beside every figure."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tbgat import __version__

__all__ = ["PACKAGES", "environment_card"]

PACKAGES = ("numpy", "numba", "torch", "ortools", "scipy", "pyjobshop")


def environment_card(seeds: Sequence[int] = (), **more: Any) -> dict[str, Any]:
    """Describe the machine, the versions and the commit, ready for JSON.

    Parameters
    ----------
    seeds
        Seeds of the measurement.
    more
        Further entries, such as ``command="make bench"``.
    """
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "cpu": _cpu_model(),
        "cores": _cores(),
        "memory_gb": _memory_gb(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": {"tbgat": __version__} | dict(_versions()),
        "seeds": list(seeds),
        **more,
    }


def _versions() -> Mapping[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> str:
    """Commit of the source tree, with ``-dirty`` if the package differs; empty outside one."""
    package = Path(__file__).resolve().parents[1]
    try:
        commit = _git(package, "rev-parse", "--short=12", "HEAD")
        # Only the package: a measurement adds to its own records, and those may be tracked too.
        changed = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}-dirty" if changed else commit


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def _cores() -> int:
    """Cores this process may use, which in a container is not what the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_gb() -> float | None:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    return round(pages * size / 1e9, 1)
