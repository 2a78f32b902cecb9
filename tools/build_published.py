"""Make the three published_*.csv files of the package from the paper's source and a table of gaps.

    python tools/build_published.py PAPER.tex GAPS.csv

PAPER.tex is the LaTeX source of the TBGAT paper: its Tables 1-7 are read out of it. GAPS.csv has
the columns method,group,gap_pct,n,reference,time_s,hardware,source,status, one row per figure read
in some other publication; rows that were not read in a source are left out. Where both have a
figure they must agree.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tbgat.bench.suites import PAPER_GROUPS, SYNTHETIC_GROUPS

PACKAGE = Path(__file__).resolve().parents[1] / "src/tbgat/bench"
RENAMED = {
    "ft06": "ft6x6",
    "ft10": "ft10x10",
    "ft20": "ft20x5",
    "orb": "orb10x10",
    "yn": "yn20x20",
}
PAPER = "tbgat"
QUOTED = "tbgat-quoted"
SOURCES = {
    PAPER: (
        "Zhang, Cao, Wu, Song, Sun (2024), Learning Topological Representations with Bidirectional"
        " Graph Attention Network for Solving Job Shop Scheduling Problem, UAI 2024, Tables 1-7",
        "AMD Threadripper 3960X and Nvidia RTX A6000",
        "read",
        "best known of its time",
    ),
    QUOTED: (
        "other methods as given in the TBGAT paper, Tables 1-7",
        "not stated there",
        "read",
        "best known of its time",
    ),
}
# Tokens of GAPS.csv's source column, and the name and citation we give that source.
OTHERS = {
    "step-and-reconsider": ("tasar-notes", "third-party notes on Pirnay, Grimm (ECAI 2024)"),
    "Paper-Notes BOPO": ("bopo-notes", "third-party notes on the BOPO paper (ICML 2025)"),
    "ijcai.org": ("ijcai-966", "IJCAI 2025, paper 966, abstract"),
    "Starjob": ("starjob", "text of the Starjob paper"),
    "zcaicaros/L2S": (
        "l2s-results",
        "zcaicaros/L2S, test_results/conventional_results, gaps recomputed",
    ),
    "optalcp": ("scheduleopt-optalcp", "ScheduleOpt/benchmarks, results of OptalCP 2026.4.0"),
    "cpo_22": ("scheduleopt-cpo", "ScheduleOpt/benchmarks, results of CP Optimizer 22.1.1"),
    "cpsat_9": ("scheduleopt-cpsat", "ScheduleOpt/benchmarks, results of CP-SAT 9.15.6755"),
    "cplex_22": ("scheduleopt-cplex", "ScheduleOpt/benchmarks, results of CPLEX 22.1.1"),
    "SelfLabelingJobShop": (
        "slim-results",
        "AndreaCorsini1/SelfLabelingJobShop, output/Results.xlsx, gaps recomputed",
    ),
    "jsspInstancesAndResults": (
        "weise",
        "thomasWeise/jsspInstancesAndResults, all_results.txt, gaps recomputed",
    ),
}
TABLES_SHARED_WITH_PAPER = "paper/tbgat.tex"


def tables(tex: str) -> dict[int, list[list[str]]]:
    """Cells of every row of the tables labelled table:1 ... table:7."""
    found: dict[int, list[list[str]]] = {}
    for block in re.findall(r"\\begin\{tabular\}.*?\\label\{table:\d\}", tex, re.DOTALL):
        number = int(re.search(r"\\label\{table:(\d)\}", block)[1])
        found[number] = [
            [plain(cell) for cell in row.split("&")] for row in block.split(r"\\") if "&" in row
        ]
    return found


def plain(cell: str) -> str:
    """Text of a cell without its LaTeX."""
    text = re.sub(r"~?\\cite\{[^}]*\}", "", cell)
    text = re.sub(r"\\(midrule|toprule|bottomrule|hline|cmidrule\S*)", "", text)
    text = re.sub(r"\\multicolumn\{\d+\}\{[^}]*\}", "", text)
    text = re.sub(r"\\(colorb|textBF)", "", text)
    return re.sub(r"[{}\\$]", "", text).replace("%", "").strip()


def seconds(text: str) -> str:
    """Seconds of a time such as 7.7m."""
    unit = {"s": 1, "m": 60, "h": 3600}
    match = re.fullmatch(r"([\d.]+)([smh]?)", text)
    return f"{float(match[1]) * unit[match[2] or 's']:g}"


def method_name(text: str) -> str:
    return "CP-SAT 3600 s" if text == "CP-SAT" else text


def is_result(row: list[str]) -> bool:
    return len(row) > 2 and re.fullmatch(r"[\d.]+", row[1]) is not None


def source_of(method: str) -> str:
    return PAPER if method.startswith("TBGAT") else QUOTED


def paper_gaps(found: dict[int, list[list[str]]]) -> Iterator[tuple[str, str, str, str]]:
    """Method, group, gap and seconds of Tables 1, 2, 3, 4 and 5."""
    small = tuple(SYNTHETIC_GROUPS[i] for i in (0, 2, 4))
    for number, decks in (
        (1, [SYNTHETIC_GROUPS]),
        (2, PAPER_GROUPS),
        (3, PAPER_GROUPS),
        (4, [small]),
    ):
        rows = [row for row in found[number] if is_result(row)]
        upper = len(rows) // len(decks)
        for place, row in enumerate(rows):
            groups = decks[place // upper]
            cells = row[1:]
            assert len(cells) == 2 * len(groups), (number, row)
            for group, gap, time in zip(groups, cells[::2], cells[1::2], strict=True):
                yield method_name(row[0]), group, gap, seconds(time)
    for row in found[5]:
        if is_result(row) and row[0] == "ACL":
            for group, gap in zip(PAPER_GROUPS[0][:8], row[1:], strict=True):
                yield row[0], group, gap, ""


def paper_makespans(found: dict[int, list[list[str]]]) -> Iterator[tuple[str, str, str, str]]:
    """Method, instance, makespan and seconds of Tables 6 and 7."""
    for row in filter(is_result, found[6]):
        cells = row[1:-1]
        for k, (makespan, time) in enumerate(zip(cells[::2], cells[1::2], strict=True)):
            yield row[0], f"ta{41 + k}", makespan, seconds(time)
    names = [f"ta{tens}{unit}" for tens in "01234567" for unit in "12"]
    for row in filter(is_result, found[7]):
        for name, makespan in zip(names, row[1:], strict=True):
            yield row[0], name, makespan, ""


def main() -> None:
    tex, gaps = (Path(word).read_text(encoding="utf-8") for word in sys.argv[1:3])
    found = tables(tex)
    figures: dict[tuple[str, str, str], tuple[str, str, str]] = {}
    for method, group, gap, time in paper_gaps(found):
        key = method, group, source_of(method)
        before = figures.setdefault(key, (gap, time, ""))
        if before[0] != gap:
            print(f"{method} {group}: {before[0]} in one table, {gap} in another")
    sources = dict(SOURCES)
    for row in csv.DictReader(gaps.splitlines()):
        group = RENAMED.get(row["group"], row["group"])
        if row["source"].startswith(TABLES_SHARED_WITH_PAPER):
            name = row["method"].partition(" ")[0].replace("CP-SAT", "CP-SAT 3600 s")
            key = name, group, source_of(name)
            if abs(float(figures[key][0]) - float(row["gap_pct"])) > 1e-9:
                raise SystemExit(
                    f"{key}: the paper has {figures[key][0]}, GAPS.csv {row['gap_pct']}"
                )
            continue
        if row["status"] == "unverified":
            continue
        name, citation = next(v for token, v in OTHERS.items() if token in row["source"])
        hardware = {"authors": "the authors'", "see file": "various"}.get(
            row["hardware"], row["hardware"]
        )
        reference = "current" if "recomputed vs" in row["reference"] else "of the source"
        sources.setdefault(name, (citation, hardware, row["status"], reference))
        time = row["time_s"] if re.fullmatch(r"[\d.]+", row["time_s"]) else ""
        figures[row["method"], group, name] = (row["gap_pct"], time, row["n"])
    write(
        "published_sources",
        ["source", "citation", "hardware", "status", "reference"],
        [[name, *rest] for name, rest in sources.items()],
    )
    write(
        "published_gaps",
        ["method", "group", "source", "gap", "seconds", "instances"],
        [[*key, *value] for key, value in figures.items()],
    )
    makespans: dict[tuple[str, str], tuple[str, str]] = {}
    for method, name, makespan, time in paper_makespans(found):
        before = makespans.setdefault((method, name), (makespan, time))
        if before[0] != makespan:
            print(f"{method} {name}: {before[0]} in Table 6, {makespan} in Table 7")
    write(
        "published_makespans",
        ["method", "instance", "source", "makespan", "seconds"],
        [[m, i, source_of(m), *value] for (m, i), value in makespans.items()],
    )


def write(name: str, header: list[str], rows: list[list[str]]) -> None:
    with (PACKAGE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"{name}.csv: {len(rows)} rows")


if __name__ == "__main__":
    main()
