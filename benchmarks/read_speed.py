"""Read a standard file of a million operations, against numpy parsing the same numbers.

    python benchmarks/read_speed.py

writes ``results/read_speed.json``. Times are medians of runs that take turns in one process; the
peak of memory is that of a fresh process that does nothing but read the file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tbgat import formats, generate
from tbgat.bench.card import environment_card

PEAK = """
import resource, sys
from tbgat import formats
instance = formats.read(sys.argv[1])
assert instance.num_operations == int(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def with_loadtxt(path: Path) -> int:
    return np.loadtxt(path, dtype=np.int64, skiprows=1, comments=None).size


def with_fromstring(path: Path) -> int:
    return np.fromstring(path.read_bytes(), dtype=np.int64, sep=" ").size


def with_tbgat(path: Path) -> int:
    return formats.read(path).num_operations


def measure(jobs: int, machines: int, repeats: int, seed: int) -> dict[str, object]:
    readers = {"loadtxt": with_loadtxt, "fromstring": with_fromstring, "tbgat": with_tbgat}
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.txt"
        instance = generate.uniform(jobs, machines, seed)
        path.write_text(formats.to_text(instance, "standard"))
        assert formats.read(path).digest == instance.digest
        for _ in range(repeats):
            for name, reader in readers.items():
                begin = time.perf_counter()
                reader(path)
                seconds[name].append(time.perf_counter() - begin)
        command = [sys.executable, "-c", PEAK, str(path), str(instance.num_operations)]
        peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        size = path.stat().st_size
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        "operations": instance.num_operations,
        "file_mb": size / 1e6,
        "median_seconds": medians,
        "ratio_to_loadtxt": medians["tbgat"] / medians["loadtxt"],
        "ratio_to_fromstring": medians["tbgat"] / medians["fromstring"],
        "peak_memory_gb": peak / 1e9,
        "repeats": repeats,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("results/read_speed.json"))
    args = parser.parse_args()
    seed = 1
    report = measure(args.jobs, args.machines, args.repeats, seed)
    card = environment_card([seed], command="python benchmarks/read_speed.py")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"card": card, **report}, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
