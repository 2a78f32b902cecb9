"""The commands instances, check, convert and generate, run as a person runs them."""

import io
import json
import sys

import pytest

import tbgat
from tbgat import dispatching, formats, generate, library
from tbgat.cli import main


def run(capsys, *arguments, code=0):
    assert main([str(argument) for argument in arguments]) == code
    return capsys.readouterr().out


def test_instances_lists_all(capsys):
    out = run(capsys, "instances")
    assert len(out.splitlines()) == 244
    assert out.endswith("242 instances, 182 with a known optimum\n")


def test_instances_filters(capsys):
    names = [line.split()[0] for line in run(capsys, "instances", "--family", "abz").splitlines()]
    assert names[1:-1] == ["abz5", "abz6", "abz7", "abz8", "abz9"]
    listed = json.loads(
        run(capsys, "instances", "--jobs", 30, "--machines", 20, "--open", "--json")
    )
    assert listed
    assert all(entry["lower_bound"] < entry["upper_bound"] for entry in listed)
    assert run(capsys, "instances", "--jobs", 3) == "0 instances, 0 with a known optimum\n"


def test_instances_show(capsys):
    out = run(capsys, "instances", "show", "ta01")
    assert "15 jobs, 15 machines" in out
    assert "upper bound    1231 (OptalCP 2026-06-01)" in out
    assert "Taillard (1993)" in out
    facts = json.loads(run(capsys, "instances", "show", "TA1", "--json"))
    assert facts["name"] == "ta01"
    assert facts["preemptive_bound"] <= facts["lower_bound"] == facts["upper_bound"] == 1231


@pytest.mark.parametrize("format", formats.FORMATS)
def test_instances_export(format, tmp_path, capsys):
    folder = tmp_path / "new" / "folder"
    run(capsys, "instances", "export", "ft06", "la01", "--to", format, "--out", folder)
    written = {tbgat.read(path) for path in folder.iterdir()}
    assert written == {library.load("ft06"), library.load("la01")}


def test_convert_there_and_back(tmp_path, capsys):
    table, text = tmp_path / "a.csv", tmp_path / "a.txt"
    run(capsys, "convert", "la05", table)
    run(capsys, "convert", table, text, "--to", "taillard")
    assert "Times" in text.read_text()
    assert tbgat.read(text) == library.load("la05")


def test_convert_through_pipes(capsys, monkeypatch):
    source = io.TextIOWrapper(io.BytesIO(b"1 2\n1 5 0 3\n"))
    monkeypatch.setattr(sys, "stdin", source)
    out = run(capsys, "convert", "-", "-", "--to", "json")
    assert json.loads(out)["jobs"] == [[[1, 5], [0, 3]]]


def test_convert_files_of_many(tmp_path, capsys):
    both = [library.load("ft06"), library.load("ft10")]
    many = tmp_path / "many.txt"
    formats.write_all(both, many)
    run(capsys, "convert", many, tmp_path / "one.txt", "--pick", "ft10")
    assert tbgat.read(tmp_path / "one.txt") == both[1]
    run(capsys, "convert", many, tmp_path / "again.txt", "--to", "orlib")
    assert tbgat.read_all(tmp_path / "again.txt") == both
    run(capsys, "convert", many, tmp_path / "none.txt", code=2)
    run(capsys, "convert", many, tmp_path / "none.txt", "--pick", "ft99", code=2)
    assert not (tmp_path / "none.txt").exists()


def test_generate(tmp_path, capsys):
    path = tmp_path / "g.txt"
    run(capsys, "generate", 4, 3, "--seed", 7, "--out", path)
    expected = generate.uniform(4, 3, seed=7, name="uniform-4x3-seed7")
    assert tbgat.read(path) == expected
    assert formats.parse(run(capsys, "generate", 4, 3, "--seed", 7)) == expected
    run(capsys, "generate", 15, 15, "--kind", "taillard", "--seed", 840612802,
        "--machine-seed", 398197754, "--out", path)  # fmt: skip
    assert library.identify(tbgat.read(path)) == "ta01"
    flow = formats.parse(run(capsys, "generate", 3, 4, "--kind", "flow-shop", "--stages", 4))
    assert [machine for machine, _ in flow.jobs[0]] == [0, 1, 2, 3]
    ragged = formats.parse(run(capsys, "generate", 9, 4, "--kind", "general", "--high", 5))
    assert ragged.durations.max() <= 5


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", 0, 3),
        ("generate", 3, 3, "--seed", -1),
        ("generate", 3, 3, "--low", 9, "--high", 3),
        ("generate", 3, 3, "--kind", "taillard"),
        ("generate", 3, 3, "--kind", "taillard", "--machine-seed", 3, "--low", 2),
        ("instances", "show", "ta99"),
        ("instances", "--family", "zz"),
        ("instances", "export", "nonesuch"),
        ("check", "ft06", "nonesuch.json"),
    ],
)
def test_impossible_wishes(arguments, capsys):
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1


@pytest.fixture
def schedule_file(tmp_path):
    ft06 = library.load("ft06")
    path = tmp_path / "s.json"
    tbgat.write_schedule(dispatching.dispatch(ft06), ft06, path)
    return path


def test_check_accepts(schedule_file, capsys):
    out = run(capsys, "check", "ft06", schedule_file)
    makespan = dispatching.dispatch(library.load("ft06")).makespan
    assert f"legal, makespan {makespan}" in out
    assert "best known 55 (ft06)" in out
    report = json.loads(run(capsys, "check", "ft06", schedule_file, "--json"))
    assert report["legal"]
    assert report["makespan"] == makespan
    assert (report["lower_bound"], report["best_known"]) == (55, 55)


def test_check_rejects_with_reasons(schedule_file, capsys):
    content = json.loads(schedule_file.read_text())
    del content["operations"][3], content["makespan"]
    schedule_file.write_text(json.dumps(content))
    out = run(capsys, "check", "ft06", schedule_file, code=1)
    assert "not a legal schedule" in out
    assert "is missing" in out
    report = json.loads(run(capsys, "check", "ft06", schedule_file, "--json", code=1))
    assert not report["legal"]
    assert len(report["violations"]) == 1
    assert report["makespan"] is None


def test_check_refuses_a_schedule_of_another_instance(schedule_file, capsys):
    assert main(["check", "la01", str(schedule_file)]) == 2
    assert "another instance (ft06)" in capsys.readouterr().err


def test_check_knows_a_library_instance_by_its_numbers(tmp_path, schedule_file, capsys):
    mine = tmp_path / "mine.csv"
    tbgat.write(library.load("ft06").renamed("plant"), mine)
    assert "best known 55 (ft06)" in run(capsys, "check", mine, schedule_file)
    other = generate.uniform(3, 3, seed=1)
    path = tmp_path / "other.txt"
    tbgat.write(other, path)
    tbgat.write_schedule(dispatching.dispatch(other), other, tmp_path / "other.csv")
    assert "best known" not in run(capsys, "check", path, tmp_path / "other.csv")
