import json
import pickle
import struct

import pytest
import torch

from tbgat.errors import WeightsError
from tbgat.policy import weights as module
from tbgat.policy.network import TBGAT
from tbgat.policy.weights import (
    find_weights,
    load_weights,
    read_card,
    save_weights,
    weight_sets,
)

CARD = {"preset": "tiny", "sizes": ["10x10"], "instances": 64, "seed": 3, "date": "2026-01-01"}


@pytest.fixture
def saved(tmp_path):
    network = TBGAT("tiny", generator=torch.Generator().manual_seed(5))
    path = tmp_path / "best.safetensors"
    save_weights(path, network, CARD)
    return path, network


def test_round_trip(saved):
    path, network = saved
    found = load_weights(path)
    assert found.network.config == network.config
    for (name, a), b in zip(
        found.network.state_dict().items(), network.state_dict().values(), strict=True
    ):
        assert torch.equal(a, b), name
    assert {k: found.card[k] for k in CARD} == CARD
    assert json.loads(path.with_suffix(".json").read_text()) == found.card == read_card(path)
    other = TBGAT("tiny")
    assert load_weights(path, into=other).network is other
    assert torch.equal(other.scoring[0].weight, network.scoring[0].weight)
    with pytest.raises(WeightsError, match="another network"):
        load_weights(path, into=TBGAT("small"))


def test_every_flipped_byte_is_noticed(saved):
    path, _ = saved
    whole = path.read_bytes()
    for at in [0, 7, 9, 60, 200, 900, len(whole) // 2, len(whole) - 1]:
        data = bytearray(whole)
        data[at] ^= 0x5A
        path.write_bytes(bytes(data))
        with pytest.raises(WeightsError) as caught:
            load_weights(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [0, 4, 8, 100, 5000, -1])
def test_truncated(saved, keep):
    path, _ = saved
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(WeightsError):
        load_weights(path)


class Trap:
    """Would leave a trace if anything in a file were executed."""

    def __reduce__(self):
        return (open, ("trap.txt", "w"))


def test_foreign_files_are_refused_and_never_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(WeightsError, match="no weights file of tbgat"):
        load_weights(path)
    torch.save({"a": torch.zeros(3)}, path)
    with pytest.raises(WeightsError, match="no weights file of tbgat"):
        load_weights(path)
    import safetensors.torch

    safetensors.torch.save_file({"a": torch.zeros(3)}, path)
    with pytest.raises(WeightsError, match="no weights file of tbgat"):
        load_weights(path)
    path.write_bytes(struct.pack("<Q", 1 << 62) + b"{}")
    with pytest.raises(WeightsError, match="no weights file of tbgat"):
        load_weights(path)
    path.write_bytes(struct.pack("<Q", 200_000) + b"[" * 200_000)
    with pytest.raises(WeightsError, match="no weights file of tbgat"):
        load_weights(path)
    assert not (tmp_path / "trap.txt").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 10**9}, "tensors are not those"),
        ({"layers": 10**9}, "tensors are not those"),
        ({"heads": "four"}, "no network of ours"),
        ({"depth": 4}, "no network of ours"),
        ({"move_features": ["luck"]}, "no network of ours"),
    ],
)
def test_a_card_that_lies(saved, change, message):
    """Even with a right checksum: someone may have written it on purpose."""
    import safetensors.torch

    path, network = saved
    card = read_card(path)
    card["network"] = {**card["network"], **change}
    tensors = network.state_dict()
    card["sha256"] = module._checksum(tensors, card)
    path.write_bytes(safetensors.torch.save(tensors, metadata={"card": json.dumps(card)}))
    with pytest.raises(WeightsError, match=message):
        load_weights(path)


def test_closest_training_size(tmp_path):
    network = TBGAT("tiny")
    for size in ("10x10", "15x15", "20x15"):
        save_weights(tmp_path / f"{size}.safetensors", network, {**CARD, "sizes": [size]})
    for size, expected in [
        ((6, 6), "10x10"),
        ((15, 15), "15x15"),
        ((100, 20), "20x15"),
        ((14, 12), "15x15"),
    ]:
        assert find_weights(tmp_path, size).stem == expected
    assert load_weights(tmp_path, size=(30, 20)).card["sizes"] == ["20x15"]


def test_of_equally_close_ones_those_of_fewer_sizes(tmp_path):
    network = TBGAT("tiny")
    for sizes in (["15x10", "20x10"], ["20x10"], ["30x10"]):
        save_weights(tmp_path / f"{'+'.join(sizes)}.safetensors", network, {**CARD, "sizes": sizes})
    assert find_weights(tmp_path, (20, 10)).stem == "20x10"
    assert find_weights(tmp_path, (20, 5)).stem == "20x10"
    assert find_weights(tmp_path, (15, 10)).stem == "15x10+20x10"
    assert find_weights(tmp_path, (25, 10)).stem == "20x10"


def test_registry(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "DATA", tmp_path)
    with pytest.raises(WeightsError, match=r"no weights named 'paper'.*tbgat train"):
        load_weights("paper")
    save_weights(tmp_path / "paper" / "10x10.safetensors", TBGAT("tiny"), CARD)
    assert weight_sets() == ["paper"]
    assert load_weights("paper").card["seed"] == 3


def test_messages_for_people(tmp_path):
    with pytest.raises(WeightsError, match="there is no weights file"):
        load_weights(tmp_path / "none.safetensors")
    (tmp_path / "x.pt").write_bytes(b"x")
    with pytest.raises(WeightsError, match="should end in"):
        load_weights(tmp_path / "x.pt")
    with pytest.raises(WeightsError, match=r"ends in \.safetensors"):
        save_weights(tmp_path / "x.pt", TBGAT("tiny"), CARD)
    with pytest.raises(WeightsError, match="training sizes"):
        save_weights(tmp_path / "x.safetensors", TBGAT("tiny"), {})
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(WeightsError, match="cannot be written"):
        save_weights(blocked / "x.safetensors", TBGAT("tiny"), CARD)


def test_all_shipped_weights_load():
    for name in weight_sets():
        for path in (module.DATA / name).glob("*.safetensors"):
            assert load_weights(path).card["sizes"]
