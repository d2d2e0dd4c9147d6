"""Models in files: the same selector comes back, and no file runs code."""

import dataclasses
import io
import json
import pickle
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.preprocessing import StandardScaler

import groupfs
from groupfs import FeatureGroups, persistence
from groupfs.datasets import load_two_moons
from groupfs.files.columns import decide_columns
from groupfs.persistence import ModelError

skops_io = pytest.importorskip("skops.io")
SMALL = {"n_groups": 4, "random_state": 0}
HEAD = {"format": persistence.FORMAT, "version": persistence.VERSION, "columns": None}


@pytest.fixture(scope="module")
def table():
    moons = load_two_moons(60, random_state=0)
    return pd.DataFrame(moons.data, columns=moons.feature_names)


@pytest.fixture(scope="module")
def selector(table):
    return FeatureGroups(**SMALL).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("name", persistence.SELECTORS)
def test_a_selector_comes_back_as_it_was(name, table, tmp_path):
    selector = getattr(groupfs, name)(random_state=0).fit(table)
    persistence.save(selector, tmp_path / "m.skops")
    loaded = persistence.load(tmp_path / "m.skops")
    assert type(loaded) is type(selector) and loaded.get_params() == selector.get_params()
    for attribute in ("group_smoothness_", "group_labels_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(selector, attribute))
    np.testing.assert_array_equal(loaded.transform(table), selector.transform(table))
    for one, other in zip(
        getattr(loaded, "levels_", []), getattr(selector, "levels_", []), strict=True
    ):
        assert one.labels.tolist() == other.labels.tolist() and one.agreement == other.agreement


def test_which_columns_were_used_and_as_what_comes_along(table, selector, tmp_path):
    preparation = decide_columns(table.assign(x1_1=np.where(table["x1_1"] > 0, "f", "m")))
    preparation = dataclasses.replace(preparation, header=False)
    persistence.save(selector, tmp_path / "m.skops", preparation=preparation)
    assert persistence.load_model(tmp_path / "m.skops")[1] == preparation


def test_a_selector_that_was_not_fitted_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        persistence.dumps(FeatureGroups())
    with pytest.raises(ModelError, match="There is no file"):
        persistence.load(tmp_path / "m.skops")


def test_a_parameter_that_is_no_plain_value_is_refused(table):
    selector = FeatureGroups(**SMALL, device=torch.device("cpu")).fit(table)
    with pytest.raises(ModelError, match='e.g. device="cuda"'):
        persistence.dumps(selector)


class Spy:
    """Would leave a file behind if it were unpickled."""

    def __reduce__(self):
        return open, ("sprung", "w")


def test_a_pickle_is_refused_and_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="not a model"):
        persistence.loads(pickle.dumps(Spy()))
    assert not (tmp_path / "sprung").exists()


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
    ],
)
def test_a_part_that_would_run_code_is_refused_and_not_run(
    hostile, selector, tmp_path, monkeypatch
):
    with zipfile.ZipFile(io.BytesIO(persistence.dumps(selector))) as good:
        members = {name: good.read(name) for name in good.namelist()}
    tree = json.loads(members["schema.json"])
    tree["content"]["selector"]["content"]["content"]["group_smoothness_"] = hostile
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


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"format": "other"}, "not a model that groupfs wrote"),
        ({"version": 6}, "version 6, but this groupfs reads version 10; fit it again"),
        ({"selector": FeatureGroups()}, "not fitted"),
        ({"selector": StandardScaler()}, "StandardScaler is no .*GroupFSPath"),
        ({"columns": "{}"}, "broken or not a model"),
    ],
)
def test_a_model_with_a_wrong_part_is_refused_in_one_sentence(wrong, says, selector):
    with pytest.raises(ModelError, match=says) as caught:
        persistence.loads(skops_io.dumps({**HEAD, "selector": selector} | wrong))
    assert "\n" not in str(caught.value)
