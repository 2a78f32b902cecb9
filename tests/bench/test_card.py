"""The card that stands beside every figure."""

import json
import re

from tbgat.bench.card import environment_card


def test_card_is_complete_and_plain_data():
    card = environment_card([3, 4], command="make something")
    assert json.loads(json.dumps(card)) == card
    assert card["seeds"] == [3, 4]
    assert card["command"] == "make something"
    assert card["cores"] >= 1
    assert card["cpu"]
    assert card["versions"]["numpy"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", card["date"])
    assert re.fullmatch(r"([0-9a-f]{12,40}(-dirty)?)?", card["commit"])
