"""Every picture by its command."""

import json

import pytest

from tbgat.cli import main


@pytest.mark.parametrize(
    ("arguments", "suffix", "magic"),
    [
        (["gantt", "ft06", "--method", "dispatch"], ".png", b"\x89PNG"),
        (["gantt", "ft06", "--method", "dispatch", "--by", "job"], ".svg", b"<?xml"),
        (["gantt", "ft06", "--method", "dispatch"], ".html", b"<!doctype html>"),
        (["graph", "ft06", "--undecided"], ".pdf", b"%PDF"),
        (["graph", "ft06", "--method", "dispatch"], ".png", b"\x89PNG"),
        (["search", "ft06", "--method", "tabu", "--steps", "500"], ".png", b"\x89PNG"),
        (["compare", "ft06", "--methods", "dispatch,tabu", "--steps", "99"], ".png", b"\x89PNG"),
        (["search", "ft06", "--method", "tabu", "--steps", "99"], ".html", b"<!doctype html>"),
        (
            ["compare", "ft06", "--methods", "dispatch,tabu", "--steps", "9"],
            ".html",
            b"<!doctype html>",
        ),
        (["animation", "ft06", "--method", "dispatch"], ".gif", b"GIF89a"),
    ],
)
def test_pictures(tmp_path, capsys, arguments, suffix, magic):
    out = tmp_path / f"picture{suffix}"
    assert main(["plot", *arguments, "-o", str(out)]) == 0
    assert out.read_bytes().startswith(magic)
    assert capsys.readouterr().out == f"{out}\n"


def test_a_schedule_from_a_file(tmp_path, capsys):
    assert main(["solve", "ft06", "--method", "dispatch", "--out", str(tmp_path)]) == 0
    found = next(tmp_path.glob("*.json"))
    out = tmp_path / "a.html"
    assert main(["plot", "gantt", "ft06", "--schedule", str(found), "-o", str(out)]) == 0
    content = json.loads(found.read_text())
    assert f'"makespan":{content["makespan"]}' in out.read_text()
    content["operations"][0]["start"] += 1
    found.write_text(json.dumps(content))
    capsys.readouterr()
    assert main(["plot", "gantt", "ft06", "--schedule", str(found), "-o", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_learning_curves_of_two_runs(tmp_path):
    paths = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "log.jsonl"
        rows = [{"instances": k, "validation_gap": 1 / (k + 1)} for k in range(9)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(str(path))
    out = tmp_path / "learning.svg"
    assert main(["plot", "learning", *paths, "-o", str(out)]) == 0
    assert "second" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gantt", "ft06", "--method", "dispatch", "-o", "a.bmp"], "end it in .png"),
        (["gantt", "ft06", "--method", "magic", "-o", "a.png"], "there is no method 'magic'"),
        (["animation", "ft06", "--frames", "0"], "at least one frame"),
        (["learning", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
    ],
)
def test_refusals(tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    assert main(["plot", *arguments]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
