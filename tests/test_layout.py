"""The folders stand in the order in which data flows, and nothing heavy loads before its time."""

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tbgat.cli import COMMANDS

SOURCE = Path(__file__).resolve().parents[1] / "src" / "tbgat"

# Who may import whom: only what stands in an earlier line, or in the same part.
LAYERS = [
    {"errors"},
    {"graph.compiled"},
    {"instance"},
    {"formats", "schedule"},
    {"schedule_files", "generate", "library"},
    {"dispatching", "bounds"},
    {"graph"},
    {"policy"},
    {"search"},
    {"solvers"},
    {"training"},
    {"bench"},
    {"plot"},
    {"web", "cluster"},
    {"cli"},
    {"__main__"},
]
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}


def part_of(module):
    """Part of the layout that a dotted module name below ``tbgat`` belongs to."""
    return module if module in RANK else module.partition(".")[0]


def modules():
    """Module names below ``tbgat`` and their files."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path
    del found["__init__"]
    return found


def imported(path):
    """Modules below ``tbgat`` that a file imports, wherever in it; type checking alone is free."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "tbgat":
            names = [f"tbgat.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            if name.startswith("tbgat.") and not name.startswith("tbgat.__"):
                yield name.removeprefix("tbgat."), node.lineno


@pytest.mark.parametrize("name", modules())
def test_no_arrow_points_up(name):
    own, path = part_of(name), modules()[name]
    assert own in RANK, f"tell tests/test_layout.py where {own} stands"
    for module, line in imported(path):
        other = part_of(module)
        if other not in RANK:
            # Names that the package itself hands out: their home is what counts.
            continue
        assert other == own or RANK[other] < RANK[own], f"{path}:{line}: {own} imports {other}"


@pytest.mark.parametrize("name", modules())
def test_no_file_is_endless(name):
    assert len(modules()[name].read_text(encoding="utf-8").splitlines()) < 400


HEAVY = ("numba", "torch", "ortools", "matplotlib", "scipy", "fastapi", "pyjobshop", "pandas")


def loaded_by(code):
    """Which heavy packages a fresh process has loaded after some code."""
    report = f"import sys\n{code}\nprint([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    )
    return ast.literal_eval(done.stdout.splitlines()[-1])


HELP = """
from tbgat.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
"""


@pytest.mark.parametrize(
    "code",
    [
        "import tbgat",
        HELP,
        "import tbgat; tbgat.load('ft06')",
        "import tbgat; tbgat.generate.uniform(3, 3, seed=0); tbgat.dispatching.RULES",
        "import tbgat.formats, tbgat.schedule_files, tbgat.bounds",
        "from tbgat.cli import main; main(['instances', 'show', 'ft06'])",
        "from tbgat.cli import main; main(['convert', 'ft06', '-'])",
    ],
)
def test_nothing_heavy_loads_before_its_time(code):
    assert loaded_by(code) == []


def test_import_and_help_do_not_even_load_numpy():
    for code in ("import tbgat", HELP):
        with_numpy = f"import sys\n{code}\nassert 'numpy' not in sys.modules"
        subprocess.run([sys.executable, "-c", with_numpy], check=True, capture_output=True)


@pytest.mark.parametrize("arguments", [["-c", "import tbgat"], ["-m", "tbgat", "--help"]])
def test_answers_at_once(arguments):
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        seconds.append(time.perf_counter() - begin)
    assert min(seconds) < 0.4


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    done = subprocess.run(
        [sys.executable, "-m", "tbgat", command, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.startswith("usage: tbgat")
