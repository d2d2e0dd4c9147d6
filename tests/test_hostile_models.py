"""Models and results made to do harm: refused, and nothing in them runs."""

import json
import pickle
import sys
import zipfile

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("skops")
pytest.importorskip("typer")

from groupfs import persistence
from groupfs.persistence import ModelError
from tests.support.fuzz import models, seeds
from tests.support.fuzz.structure import Spy
from tests.support.hostile import HUGE, described, npy, write


@pytest.fixture(scope="module")
def model():
    return dict(seeds.unzipped(seeds.skops()[0]))


def stored(model, folder, schema=None, **more):
    members = model | more
    if schema is not None:
        members["schema.json"] = json.dumps(schema)
    data = seeds.zipped(members, compression=zipfile.ZIP_DEFLATED)
    return write(folder, "m.skops", data)


def refused_model(path):
    with pytest.raises(ModelError) as caught:
        persistence.load_model(path)
    assert str(caught.value).isprintable() and not isinstance(caught.value.__cause__, MemoryError)
    return str(caught.value)


@pytest.fixture
def events(monkeypatch):
    """What runs while a file is read: imports, programs, pickles."""
    seen = []
    watched = ("import", "exec", "os.system", "subprocess.Popen", "pickle.find_class")

    def watch(event, arguments):
        if seen is not None and event in watched:
            seen.append((event, str(arguments[0])[:80]))

    sys.addaudithook(watch)
    yield seen
    seen = None


@pytest.mark.parametrize("number", range(len(models.HOSTILE_NODES)))
@pytest.mark.parametrize("place", ["selector", "columns", "attribute", "key"])
def test_a_model_with_a_hostile_part_runs_nothing(number, place, model, events, tmp_path):
    persistence.load_model(stored(model, tmp_path))  # so that all it needs is imported
    schema = json.loads(model["schema.json"])
    node = models.HOSTILE_NODES[number]
    if place == "attribute":
        schema["content"]["selector"]["content"]["content"]["history_"] = node
    elif place == "key":
        schema["key_types"]["content"][0] = node
    else:
        schema["content"][place] = node
    spy = npy(described((1,), "|O"), pickle.dumps(Spy()))
    path = stored(model, tmp_path, schema, **({"spy.npy": spy} if "spy" in str(node) else {}))
    events.clear()
    refused = True
    try:
        persistence.load_model(path)
        refused = False
    except ModelError:
        pass
    assert not events
    harmless = {"NdArrayNode", "DictNode"}
    assert refused or (place == "attribute" and node["__loader__"] in harmless)


@pytest.mark.parametrize("protocol", [0, 1, -1, True, None, 99])
def test_a_hostile_part_is_refused_whatever_version_the_file_claims(protocol, model, tmp_path):
    schema = json.loads(model["schema.json"]) | {"protocol": protocol}
    schema["content"]["selector"]["content"]["content"]["history_"] = models.SYSTEM
    assert "os.system" in refused_model(stored(model, tmp_path, schema))


@pytest.mark.parametrize("name", ["transform", "get_support", "fit", "__class__"])
def test_a_value_in_place_of_a_method_is_refused(name, model, tmp_path):
    schema = json.loads(model["schema.json"])
    attributes = schema["content"]["selector"]["content"]
    attributes["content"][name] = models._json(1)
    attributes["key_types"]["content"].append(models._node("TypeNode", "builtins", "str"))
    refused_model(stored(model, tmp_path, schema))


def test_an_array_of_a_model_that_lies_or_is_named_too_often_is_refused(
    model, tmp_path, monkeypatch
):
    name = min(set(model) - {"schema.json"})
    lie = npy(described((HUGE,)), bytes(64))
    assert "1000000000000" in refused_model(stored(model, tmp_path, **{name: lie}))
    schema = json.loads(model["schema.json"])
    array = models._node("NdArrayNode", "numpy", "ndarray", type="numpy", file=name)
    many = models._node("ListNode", "builtins", "list", content=[array] * 2000)
    schema["content"]["selector"]["content"]["content"]["history_"] = many
    monkeypatch.setattr("groupfs.tables.file_content.MOST_TIMES", 20)
    monkeypatch.setattr("groupfs.tables.file_content.MOST_BYTES", 0)
    assert "fill the memory" in refused_model(stored(model, tmp_path, schema))


@pytest.mark.parametrize(
    "change",
    [{"name": {}}, {"name": None}, {"kind": "odd"}, {"values": [1]}, {"fill": []}, {"why": 3}],
)
def test_columns_of_a_model_that_are_of_a_wrong_type_are_refused(change, tmp_path):
    model = dict(seeds.unzipped(seeds.skops()[1]))
    schema = json.loads(model["schema.json"])
    columns = json.loads(json.loads(schema["content"]["columns"]["content"]))
    columns["columns"][0] |= change
    schema["content"]["columns"] = models._json(json.dumps(columns))
    assert "not a whole model" in refused_model(stored(model, tmp_path, schema))


# result.json and the command line


@pytest.mark.parametrize("odd", ["NaN", "-Infinity", "9" * 5000, "[" * 90_000])
def test_json_that_is_none_is_refused_in_a_sentence(odd, tmp_path):
    from groupfs.report import read

    text = seeds.result()[0].decode().replace('"created": "2020-01-01"', f'"created": {odd}')
    with pytest.raises(ValueError, match="is not json"):
        read(write(tmp_path, "r.json", text))


def test_half_a_letter_in_a_result_is_no_fault_of_ours(tmp_path):
    from typer.testing import CliRunner

    from groupfs.cli import app

    text = seeds.result()[1].decode().replace('"t.csv"', '"\\ud800"')
    ended = CliRunner().invoke(app, ["report", str(write(tmp_path, "r.json", text))])
    assert ended.exit_code == 3 and "not a whole result" in ended.output


@pytest.mark.parametrize("part", ["groups", "features", "selection", "reasons", "embedding"])
def test_a_result_with_a_part_of_a_wrong_type_is_no_fault_of_ours(part, tmp_path):
    from typer.testing import CliRunner

    from groupfs.cli import app

    summary = json.loads(seeds.result()[0])
    value = summary[part][0] if isinstance(summary[part], list) else summary[part]
    summary[part] = dict.fromkeys(value, "x") if isinstance(value, dict) else 3
    path = write(tmp_path, "r.json", json.dumps(summary))
    ended = CliRunner().invoke(app, ["report", str(path)])
    assert ended.exit_code == 3 and "write it again with groupfs select" in ended.output
    assert not (tmp_path / "report.html").exists()


def test_an_image_of_endless_digits_is_wrong_usage(tmp_path):
    from typer.testing import CliRunner

    from groupfs.cli import app

    path = write(tmp_path, "t.csv", "a,b\n1,2\n3,5\n")
    ended = CliRunner().invoke(app, ["select", str(path), "--image", "9" * 5000 + "x1"])
    assert ended.exit_code == 2
