"""The experiment behind the defaults of a budget: what it records and what it makes of it."""

import pytest

from experiments import defaults


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_cell_records_every_way_and_budget():
    record = defaults.compute({"table": "wine", "seed": 0}, "cpu")
    by_way = {}
    for entry in record["entries"]:
        by_way.setdefault(entry["way"], []).append(entry["budget"])
    assert defaults.DEFAULT in by_way and "own: kept groups" in by_way
    for way, numbers in by_way.items():
        assert numbers == ([None] if way.startswith("own: ") else defaults.budgets(13))
    assert len({(e["accuracy"], e["neighbor"]) for e in record["entries"]}) > 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_default_way_is_the_order_of_the_selector():
    fitted = defaults.KeptTable(random_state=0, device="cpu").fit(defaults.data.load("wine").X)
    ways = dict(defaults.orders(fitted))
    assert ways[defaults.DEFAULT].tolist() == fitted.feature_order_.tolist()
    for order in ways.values():
        assert len(set(order.tolist())) == len(order)


def test_the_best_way_is_counted_without_each_table():
    values = {"a": {"steady": 50, "lucky": 49}, "b": {"steady": 50, "lucky": 49}}
    values["c"] = {"steady": 50, "lucky": 60}
    records = [
        {
            "key": {"table": table},
            "entries": [
                {"way": way, "accuracy": score, "neighbor": score} for way, score in ways.items()
            ],
        }
        for table, ways in values.items()
    ]
    found = {one.way: one for one in defaults.compare(records)}
    assert found["lucky"].accuracy == pytest.approx(158 / 3) and found["steady"].neighbor == 50
    assert (found["lucky"].best_without, found["steady"].best_without) == (2, 1)
