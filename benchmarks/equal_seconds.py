"""``auto`` against its opponents at 1, 5, 20 and 60 seconds, two threads each.

    python benchmarks/equal_seconds.py                      # everything, resumes where it stopped
    python benchmarks/equal_seconds.py taillard --group 15x15 --seeds 1 --methods auto,tabu
    python benchmarks/equal_seconds.py --table              # only the table of what is recorded

One record per run goes to ``results/equal_seconds`` (see ``tbgat.bench.records``); a second call
does only what is missing. Each run takes the longest time; its history holds the shorter ones, for
none of these methods does anything differently because its time is short. The table says so where
the machine was shared: ``cores`` is processor time per second, at best the number of threads.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tbgat import library
from tbgat.bench.plan import parse_method, plan
from tbgat.bench.records import Record, read_records
from tbgat.bench.run import measure
from tbgat.bench.suites import load_suites

SUITES = ("taillard", "swv", "yn", "orb", "abz", "dmu", "la", "ft")
METHODS = "auto,tspr,tabu,cpsat,pyjobshop"
TIMES = (1.0, 5.0, 20.0, 60.0)
OUT = Path(__file__).resolve().parent.parent / "results" / "equal_seconds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", default=SUITES)
    parser.add_argument("--group", default="", help="only these sizes, such as 15x15,20x15")
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=TIMES[-1])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="only every so many-th instance")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--table", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.table:
        cases = load_suites(options.suites, [g for g in options.group.split(",") if g])
        jobs = plan(
            cases[:: options.every],
            [parse_method(text) for text in options.methods.split(",")],
            seconds=[options.seconds],
            seeds=options.seeds,
            second_threads=options.threads,
        )
        measure(jobs, options.out)
    print(table(read_records(options.out)))


def table(records: Sequence[Record]) -> str:
    """Mean gap in percent to the best known makespan, by group, method and time."""
    known = {entry.digest: entry.upper_bound for entry in library.entries()}
    by_row: dict[tuple[str, str, float], list[Record]] = defaultdict(list)
    for record in records:
        if record.digest in known and record.max_seconds:
            group = _group(record)
            for name in (group, "ta01-80") if group.startswith("ta") else (group,):
                by_row[name, record.label, record.max_seconds].append(record)
    head = "".join(f"{f'{time:g} s':>8}" for time in TIMES)
    lines = [f"{'group':12} {'method':10} {'runs':>4}{head}{'optimal':>9}{'cores':>7}"]
    for (group, label, limit), runs in sorted(by_row.items()):
        cells = "".join(
            f"{_gap(runs, known, time):8.2f}" if time <= limit else f"{'':8}" for time in TIMES
        )
        proved = sum(run.status == "optimal" for run in runs)
        cores = sum(run.cpu_seconds for run in runs) / max(sum(run.seconds for run in runs), 1e-9)
        lines.append(f"{group:12} {label:10} {len(runs):4}{cells}{proved:9}{cores:7.2f}")
    return "\n".join(lines)


def _group(record: Record) -> str:
    """Split dmu, whose second half is harder at the same sizes."""
    if record.suite != "dmu":
        return record.group
    return "dmu01-40" if int(record.instance.removeprefix("dmu")) <= 40 else "dmu41-80"


def _gap(runs: Sequence[Record], known: dict[str, int], time: float) -> float:
    return 100 * statistics.fmean(
        run.makespan_at(seconds=time) / known[run.digest] - 1 for run in runs
    )


if __name__ == "__main__":
    main()
