"""Broken files through the real command: one sentence with the place, exit code 2, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tbgat.cli import main

HEAD = "job,step,machine,duration\n"
GOOD_JSON = '{"jobs": [[[0, 5], [1, 3]], [[1, 4], [0, 2]]]}'

# File name (it plays no role), content, and a part of the sentence that is expected.
BROKEN = {
    "empty": (b"", "it is empty"),
    "only blanks": (b" \n\t\n\n", "it is empty"),
    "only comments": (b"# instance x\n# nothing else\n", "no numbers"),
    "binary": (b"\x7fELF\x02\x01\x00\x00\x03", "not a text file"),
    "utf-16": ("2 2\n0 5 1 3\n1 4 0 2\n".encode("utf-16"), "not a text file"),
    "latin-1": (
        "job,step,machine,duration\nM\xfcller,1,0,3\n".encode("latin-1"),
        "line 2: this is not UTF-8",
    ),
    "prose": (b"Dear planner,\nsee you tomorrow.\n", "line 1: unknown column 'Dear planner'"),
    "one word": (b"hello\n", "line 1: 'hello' is neither numbers nor the header"),
    # standard text
    "no size": (b"2\n0 5 1 3\n1 4 0 2\n", "line 1: expected two numbers"),
    "zero jobs": (b"0 2\n", "line 1: 0 jobs and 2 machines"),
    "truncated row": (b"2 2\n0 5 1 3\n1 4 0\n", "line 3: 3 numbers are not pairs"),
    "short row": (b"2 2\n0 5 1 3\n\n1 4\n", "line 4: 1 operations where 2"),
    "long row": (b"2 2\n0 5 1 3 0 9\n1 4 0 2\n", "line 2: 3 operations where 2"),
    "missing job": (b"3 2\n0 5 1 3\n1 4 0 2\n", "line 1 promises 3 jobs, but there are 2"),
    "extra job": (b"1 2\n0 5 1 3\n1 4 0 2\n", "line 1 promises 1 jobs, but there are 2"),
    "letters": (b"2 2\n0 5 1 x\n1 4 0 2\n", "line 2: 'x' is not a number"),
    "negative duration": (b"2 2\n0 5 1 -3\n1 4 0 2\n", "line 2: '-3' is negative"),
    "fractional duration": (b"2 2\n0 5 1 3.5\n1 4 0 2\n", "line 2: '3.5' is not a whole number"),
    "decimal comma": (b"2 2\n0 5 1 3,5\n1 4 0 2\n", "line 2: '3,5' is not a whole number"),
    "machine out of range": (b"2 2\n0 5 2 3\n1 4 0 2\n", "line 2: machine 2 is out of range"),
    "huge duration": (b"2 2\n0 5 1 3\n1 4 0 " + b"9" * 40 + b"\n", "line 3: '999999999"),
    "huge sum": (b"1 2\n0 900000000000000 1 900000000000000\n", "add up to more than"),
    "huge size": (b"# ragged\n1 999999999999\n0 5\n", "999999999999 machines are more than"),
    "wrong names": (b'# job names: ["a"]\n2 1\n0 5\n0 6\n', "1 job names for 2 jobs"),
    "names that are no list": (
        b"# job names: a, b\n2 1\n0 5\n0 6\n",
        "line 1: 'a, b' is not a list",
    ),
    # Taillard
    "Taillard machine 0": (
        b"2 3\n1 2 3\n4 5 6\n0 1 2\n1 2 3\n",
        "line 4: machine 0 is out of range",
    ),
    "Taillard without machines": (b"1 2\nTimes\n 3 4\n", "line 2: no section 'Machines'"),
    "Taillard without size": (b"Times\n 3 4\nMachines\n1 2\n", "line 1: the numbers of jobs"),
    "Taillard short row": (b"2 2\nTimes\n3 4\n5\nMachines\n1 2\n2 1\n", "line 4: 1 times where 2"),
    "Taillard missing row": (b"2 2\nTimes\n3 4\nMachines\n1 2\n", "there are 1 lines of times"),
    # OR-Library
    "OR-Library title only": (b"instance a\n\n+++\nno numbers\n", "instance 'a' has no numbers"),
    "OR-Library letters": (b"instance a\n+++\ntext\n1 1\n0 z\n", "line 5: 'z' is not a number"),
    # CSV
    "CSV header alone": (HEAD.encode(), "no operations below"),
    "CSV unknown column": (
        b"job,step,machine,duration,colour\n0,0,0,5,red\n",
        "unknown column 'colour'",
    ),
    "CSV missing column": (
        b"job,step,machine\n0,0,0\n",
        "line 1: there is no column for the duration",
    ),
    "CSV column twice": (
        b"job,step,machine,duration,order\n0,0,0,5,0\n",
        "two columns are the job",
    ),
    "CSV duplicate step": (
        f"{HEAD}0,0,0,5\n0,0,1,6\n".encode(),
        "line 3: job '0' has step 0 twice",
    ),
    "CSV short line": (
        f"{HEAD}0,0,0,5\n0,1,1\n".encode(),
        "line 3: 3 cells where the header has 4",
    ),
    "CSV empty cell": (f"{HEAD}0,0,,5\n".encode(), "line 2: the cell of column 'machine' is empty"),
    "CSV text as duration": (
        f"{HEAD}0,0,0,long\n".encode(),
        "line 2: duration 'long' is not a number",
    ),
    "CSV fraction": (f"{HEAD}0,0,0,2.5\n".encode(), "line 2: duration '2.5' is not a whole number"),
    "CSV negative": (f"{HEAD}0,0,0,-2\n".encode(), "line 2: duration '-2' is negative"),
    "CSV huge": (f"{HEAD}0,0,0,{'9' * 30}\n".encode(), "line 2: duration '999"),
    "CSV open quote": (f'{HEAD}0,0,"0,5\n'.encode(), "line 2: "),
    # JSON
    "JSON cut off": (GOOD_JSON[:-3].encode(), "line 1, column 44: this is not JSON"),
    "JSON without jobs": (b'{"name": "x"}', "no key 'jobs'"),
    "JSON list of numbers": (b"[1, 2]", "entry 0: expected an object"),
    "JSON bad operation": (
        b'{"jobs": [[[0, 5], [1]]]}',
        "jobs[0][1]: expected [machine, duration]",
    ),
    "JSON fraction": (b'{"jobs": [[[0, 5.5]]]}', "jobs[0][0]: duration '5.5' is not a whole"),
    "JSON truth value": (b'{"jobs": [[[0, true]]]}', "jobs[0][0]: duration 'True' is not a whole"),
    "JSON negative": (b'{"jobs": [[[0, -5]]]}', "job 0, operation 0: duration -5 is negative"),
    "JSON empty job": (b'{"jobs": [[[0, 5]], []]}', "job 1 has no operations"),
    "JSON no jobs": (b'{"jobs": []}', "at least one job"),
    "JSON unknown key": (b'{"jobs": [[[0, 5]]], "due": 3}', "unknown key 'due'"),
    "JSON other version": (b'{"version": 9, "jobs": [[[0, 5]]]}', "version 9"),
    "JSON unknown machine": (
        b'{"machine_names": ["a"], "jobs": [[["b", 5]]]}',
        "machine 'b' is not in",
    ),
    "JSON huge": (b'{"jobs": [[[0, 1' + b"0" * 30 + b"]]]}", "is too large"),
    "JSON endless digits": (b'{"jobs": [[[0, 1' + b"0" * 9999 + b"]]]}", "not JSON we can read"),
    "JSON nested": (b"[" * 100_000, "nested too deeply"),
    "JSON of job_shop_lib": (
        b'{"duration_matrix": [[1, 2]], "machines_matrix": [[0]]}',
        "differ in shape",
    ),
    "JSON of job_shop_lib, count": (
        b'{"duration_matrix": [[1]], "machines_matrix": [[0]], "metadata": {"num_machines": "x"}}',
        "'num_machines' must be a whole number",
    ),
    "JSON of job_shop_lib, names": (
        b'{"duration_matrix": [[1]], "machines_matrix": [[0]], "metadata": {"job_names": 5}}',
        "'job_names' must be a list of names",
    ),
    "JSON of job_shop_lib, nested": (
        b'{"duration_matrix": [[[1]]], "machines_matrix": [[0]]}',
        "every duration must be a whole number",
    ),
    "JSON flexible": (
        b'{"duration_matrix": [[1]], "machines_matrix": [[[0, 1]]]}',
        "choice of machines",
    ),
}


def complaint(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tbgat: ")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize("kind", BROKEN)
def test_content(kind, tmp_path, capsys):
    content, expected = BROKEN[kind]
    path = tmp_path / "shop.txt"
    path.write_bytes(content)
    said = complaint(capsys, "convert", path, "-")
    assert str(path) in said
    assert expected in said
    assert len(said) < len(str(path)) + 250


def test_at_least_twenty_kinds():
    assert len(BROKEN) >= 20


def test_no_such_file(tmp_path, capsys):
    assert "there is no such file" in complaint(capsys, "convert", tmp_path / "none.txt", "-")
    assert "there is no file 'nonesuch'" in complaint(capsys, "convert", "nonesuch", "-")


def test_a_folder(tmp_path, capsys):
    assert "this is a folder" in complaint(capsys, "convert", tmp_path, "-")


def test_no_permission(tmp_path, capsys, monkeypatch):
    path = tmp_path / "secret.txt"
    path.write_text("1 1\n0 5\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        # The superuser may read everything: then the system's refusal has to be played.
        def refuse(self):
            raise PermissionError(13, "Permission denied", str(self))

        monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "no permission to read it" in complaint(capsys, "convert", path, "-")


def test_name_too_long_or_impossible(capsys):
    assert "cannot be read" in complaint(capsys, "convert", "x" * 5000 + ".txt", "-")
    assert "cannot be read" in complaint(capsys, "convert", "a\0b.txt", "-")


def test_target_cannot_be_written(tmp_path, capsys):
    assert "cannot be written" in complaint(capsys, "convert", "ft06", tmp_path / "no" / "x.txt")
    assert "cannot be written" in complaint(capsys, "convert", "ft06", tmp_path)


@pytest.mark.parametrize("kind", ["letters", "binary", "JSON cut off"])
def test_in_a_process_of_its_own(kind, tmp_path):
    content, expected = BROKEN[kind]
    done = subprocess.run(
        [sys.executable, "-m", "tbgat", "convert", "-", "-"], input=content, capture_output=True
    )
    assert done.returncode == 2
    assert expected in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
