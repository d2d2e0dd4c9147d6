"""Models in files: the same selector comes back, and no file runs code."""

import dataclasses
import json
import pickle
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.preprocessing import StandardScaler

from groupfs import GroupFS, GroupFSPath, persistence
from groupfs.datasets import load_two_moons
from groupfs.persistence import ModelError
from groupfs.tables.columns import learn_columns

skops_io = pytest.importorskip("skops.io")
SMALL = {"n_groups": 4, "max_epochs": 5, "n_init": 1, "random_state": 0}
HEAD = {"format": persistence.FORMAT, "version": persistence.VERSION, "columns": None}


@pytest.fixture(scope="module")
def table():
    moons = load_two_moons(60, random_state=0)
    return pd.DataFrame(moons.data, columns=moons.feature_names)


@pytest.fixture(scope="module")
def selector(table):
    return GroupFS(**SMALL).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("make", [GroupFS, lambda **s: GroupFSPath(n_resamples=2, **s)])
def test_a_selector_comes_back_as_it_was(make, table, tmp_path):
    selector = make(**SMALL).fit(table)
    persistence.save(selector, tmp_path / "m.skops")
    loaded = persistence.load(tmp_path / "m.skops")
    assert type(loaded) is type(selector) and loaded.get_params() == selector.get_params()
    pd.testing.assert_frame_equal(
        loaded.set_output(transform="pandas").transform(table), table.loc[:, selector.get_support()]
    )
    np.testing.assert_array_equal(loaded.group_scores_, selector.group_scores_)
    np.testing.assert_array_equal(loaded.membership_, selector.membership_)
    assert loaded.history_[-1]["loss"] == selector.history_[-1]["loss"]
    if selector.__class__ is GroupFSPath:
        np.testing.assert_array_equal(loaded.path_.gates, selector.path_.gates)
        np.testing.assert_array_equal(loaded.stability_.labels, selector.stability_.labels)


def test_how_far_halves_agree_on_the_number_of_groups_comes_along(table, tmp_path):
    selector = GroupFS(**{**SMALL, "n_groups": "auto"}).fit(table)
    persistence.save(selector, tmp_path / "m.skops")
    loaded = persistence.load(tmp_path / "m.skops")
    assert loaded.replication_.best == selector.replication_.best
    np.testing.assert_array_equal(loaded.replication_.agreement, selector.replication_.agreement)
    assert (loaded.select().support == selector.get_support()).all()


def test_which_columns_were_used_and_as_what_comes_along(table, selector, tmp_path):
    preparation = learn_columns(table.assign(x1_1=np.where(table["x1_1"] > 0, "f", "m")))
    preparation = dataclasses.replace(preparation, header=False)
    persistence.save(selector, tmp_path / "m.skops", preparation=preparation)
    assert persistence.load_model(tmp_path / "m.skops")[1] == preparation


def test_a_selector_that_was_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        persistence.save(GroupFS(), tmp_path / "m.skops")
    assert not (tmp_path / "m.skops").exists()


def test_a_parameter_that_is_no_plain_value_is_refused(table, tmp_path):
    selector = GroupFS(**{**SMALL, "device": torch.device("cpu")}).fit(table)
    with pytest.raises(ModelError, match='e.g. device="cuda"'):
        persistence.save(selector, tmp_path / "m.skops")


class Spy:
    """Would leave a file behind if it were made while loading."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_a_pickle_is_refused_and_not_run(tmp_path):
    (tmp_path / "m.skops").write_bytes(pickle.dumps(Spy(str(tmp_path / "spy"))))
    with pytest.raises(ModelError, match="not a model"):
        persistence.load(tmp_path / "m.skops")
    assert not (tmp_path / "spy").exists()


def node(loader, module, kind, **more):
    return {"__class__": kind, "__module__": module, "__loader__": loader, "__id__": 10**6, **more}


ARGUMENTS = node("JsonNode", "builtins", "str", content='["touch sprung"]', is_json=True)


@pytest.mark.parametrize(
    "hostile",
    [
        node("FunctionNode", "os", "system"),
        node("TypeNode", "trap", "Trap"),
        node("ObjectNode", "trap", "Trap"),
        node("ConstructorFromReduceNode", "os", "system", content=ARGUMENTS),
        node("OperatorFuncNode", "operator", "methodcaller", attrs=ARGUMENTS),
        node("ListNode", "os", "system", content=[ARGUMENTS]),
    ],
)
def test_a_part_that_would_run_code_is_refused_and_not_run(
    hostile, selector, tmp_path, monkeypatch
):
    persistence.save(selector, tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as good:
        members = {name: good.read(name) for name in good.namelist()}
    tree = json.loads(members["schema.json"])
    tree["content"]["selector"]["content"]["content"]["history_"] = hostile
    members["schema.json"] = json.dumps(tree)
    with zipfile.ZipFile(tmp_path / "m.skops", "w") as changed:
        for name, data in members.items():
            changed.writestr(name, data)
    (tmp_path / "trap.py").write_text("open('sprung', 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match="holds .*, which no model of this groupfs does"):
        persistence.load(tmp_path / "m.skops")
    assert not (tmp_path / "sprung").exists() and "trap" not in sys.modules


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelError, match="There is no file"):
        persistence.load(tmp_path / "m.skops")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"format": "other"}, "not a model that groupfs wrote"),
        ({"version": 99}, "version 99, but this groupfs reads version 5; .* upgrade"),
        ({"selector": GroupFS()}, "not fitted"),
        ({"selector": StandardScaler()}, "StandardScaler is neither GroupFS nor GroupFSPath"),
        ({"columns": "{}"}, "broken or not a model"),
    ],
)
def test_a_model_with_a_wrong_part_is_refused_in_one_sentence(wrong, says, selector, tmp_path):
    skops_io.dump({**HEAD, "selector": selector} | wrong, tmp_path / "m.skops")
    with pytest.raises(ModelError, match=says) as caught:
        persistence.load_model(tmp_path / "m.skops")
    assert "\n" not in str(caught.value)
