import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch

from tbgat.errors import TbgatError, UsageError
from tbgat.training.checkpoint import CheckpointError, write_atomically
from tbgat.training.config import TrainingConfig
from tbgat.training.run import TrainingRun, train

COMMAND = [sys.executable, "-m", "tbgat", "train"]
SMALL = ["--preset", "tiny", "--sizes", "4x4,5x4", "--batch", "4", "--steps", "30"]
SMALL += ["--instances", "24", "--lr", "1e-3"]
QUIET = ["--validation", "4", "--validate-every", "2", "--threads", "1", "--seed", "9"]


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "state.safetensors")


def assert_same_run(one, other):
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name
    for name in ("best.safetensors", "config.json"):
        assert (one / name).exists() == (other / name).exists()
    logs = []
    for folder in (one, other):
        lines = (folder / "log.jsonl").read_text().splitlines()
        logs.append([{k: v for k, v in json.loads(x).items() if k != "seconds"} for x in lines])
    assert logs[0] == logs[1]


def test_kill_at_random_moments_and_resume_ends_with_the_same_weights(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    started = time.monotonic()
    subprocess.run([*COMMAND, "--out", str(whole), *SMALL, *QUIET], check=True)
    spent = time.monotonic() - started
    moments = random.Random(4)
    kills = 0
    first = True
    for _ in range(5):
        options = [*SMALL, *QUIET] if first else ["--resume", "--threads", "1"]
        process = subprocess.Popen(
            [*COMMAND, "--out", str(broken), *options], stderr=subprocess.DEVNULL
        )
        try:
            process.wait(timeout=moments.uniform(0.5, 1.0) * spent)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        first = first and not (broken / "state.safetensors").exists()
    if first:
        subprocess.run([*COMMAND, "--out", str(broken), *SMALL, *QUIET], check=True)
    subprocess.run([*COMMAND, "--out", str(broken), "--resume", "--threads", "1"], check=True)
    assert kills > 0
    assert_same_run(whole, broken)


def test_a_run_validates_keeps_the_best_and_counts(tmp_path):
    config = TrainingConfig(
        sizes=((4, 4),),
        preset="tiny",
        batch=2,
        instances=8,
        steps=10,
        validate_every=2,
        validation=3,
    )
    run = TrainingRun.start(tmp_path / "run", config)
    records = []
    train(run, listen=records.append)
    assert [r["batch"] for r in records] == [1, 2, 3, 4]
    assert [r["instances"] for r in records] == [2, 4, 6, 8]
    gaps = [r["validation_gap"] for r in records if "validation_gap" in r]
    assert len(gaps) == 2
    assert run.best_gap == min(gaps)
    assert (tmp_path / "run" / "best.safetensors").exists()
    assert TrainingRun.resume(tmp_path / "run").best_gap == run.best_gap


def test_a_folder_in_use_is_not_overwritten(tmp_path):
    config = TrainingConfig(preset="tiny", batch=1, instances=1, steps=1, validation=0)
    TrainingRun.start(tmp_path, config)
    with pytest.raises(UsageError, match="--resume"):
        TrainingRun.start(tmp_path, config)


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "state"
    write_atomically(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--sizes", "10by10"], "15x10"),
        (["--preset", "huge"], "preset"),
        (["--jobs", "3"], "go together"),
        (["--batch", "0"], "batch"),
        (["--resume"], "no training run"),
        (["--move-features", "colour"], "colour"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path, options, sentence):
    process = subprocess.run(
        [*COMMAND, "--out", str(tmp_path / "x"), *options], capture_output=True, text=True
    )
    assert process.returncode == 2
    assert sentence in process.stderr
    assert process.stderr.count("\n") == 1


def test_a_damaged_state_is_named(tmp_path):
    config = TrainingConfig(preset="tiny", batch=1, instances=1, steps=1, validation=0)
    TrainingRun.start(tmp_path, config)
    path = tmp_path / "state.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(TbgatError, match=r"state\.safetensors"):
        TrainingRun.resume(tmp_path)
