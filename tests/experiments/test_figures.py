"""Figures of groups and of the students' table: what is drawn is what was found."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.utils import Bunch

from experiments import faces, methods, nmnist_groups, paper, pixels, student_figure
from experiments.protocol import standardized
from experiments.store import Store
from groupfs.datasets.parsers import pixel_names

SHAPE = (6, 5)
#: Two blocks of the image that vary together, the rest of the pixels, and one that is constant.
GROUPS = [[0, 1, 6, 7], [22, 23, 28], [i for i in range(29) if i not in (0, 1, 6, 7, 22, 23, 28)]]
KEPT = [True, False, True]
PRINTED = paper.results()["student"]


def test_images_stand_upright():
    names = pixels.as_image(pixel_names(SHAPE), SHAPE)
    assert names[5, 3] == "px_r005_c003" and names[0, 4] == "px_r000_c004"


def test_a_pixel_has_the_rank_of_its_group_and_a_constant_one_has_none():
    ranks = pixels.rank_image(GROUPS, SHAPE)
    for row in range(SHAPE[0]):
        for column in range(SHAPE[1]):
            pixel = row + SHAPE[0] * column  # tables hold images column by column
            own = [rank for rank, group in enumerate(GROUPS, 1) if pixel in group]
            assert ranks[row, column] == (own[0] if own else 0)
    assert ranks[5, 4] == 0


def test_a_map_shows_the_painted_ranks_and_numbers_kept_groups_on_their_own_pixels():
    ax = Figure().subplots()
    record = {"groups": GROUPS, "kept": KEPT, "image_shape": list(SHAPE)}
    pixels.draw_groups(ax, record)
    ranks = pixels.rank_image(GROUPS, SHAPE)
    shown = ax.images[0].get_array()
    np.testing.assert_array_equal(shown, pixels.painted(ranks, KEPT))
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row is at the top
    _, outline = ax.lines
    ends = np.column_stack(outline.get_data())
    around = {tuple(end) for end in ends[~np.isnan(ends[:, 0])].tolist()}
    assert {(-0.5, -0.5), (-0.5, 1.5), (1.5, 1.5), (1.5, -0.5)} <= around  # the block at the corner
    numbers = {text.get_text(): text.get_position() for text in ax.texts}
    assert set(numbers) == {"1", "3"}
    assert all(ranks[y, x] == int(rank) for rank, (x, y) in numbers.items())


def test_differences_are_those_of_the_class_means_in_deviations(rng):
    X, y = 3 * rng.standard_normal((20, 4)), np.arange(20) % 2
    X[:, 1] += 10 * y
    found = nmnist_groups.differences([1, 3], X, y)
    Z = standardized(X)
    apart = [abs(Z[y == 1, j].mean() - Z[y == 0, j].mean()) for j in range(4)]
    assert found["selected"] == pytest.approx((apart[1] + apart[3]) / 2)
    assert found["others"] == pytest.approx((apart[0] + apart[2]) / 2)


def test_digits_are_fitted_by_default_at_the_papers_c_and_with_its_settings():
    by_default, at_c, as_printed = nmnist_groups.cells(seed=4)
    assert (by_default["n_groups"], at_c["n_groups"], as_printed["n_groups"]) == ("auto", 7, 7)
    assert (at_c["method"], as_printed["method"]) == ("GroupFS", "GroupFS paper")
    assert {cell["seed"] for cell in nmnist_groups.cells(seed=4)} == {4}


def test_the_face_shown_of_a_person_is_the_one_most_like_all_of_theirs():
    y = np.array([1, 0, 0, 0, 1, 2, 3])
    X = np.array([[5.0], [0.0], [4.0], [9.0], [5.1], [1.0], [1.0]])
    assert faces.samples(X, y) == [2, 0, 5]


@pytest.mark.slow
@pytest.mark.parametrize("script", [nmnist_groups, faces])
def test_a_finished_fit_is_drawn_again_without_fitting(script, tmp_path, monkeypatch, capsys):
    table = images()
    monkeypatch.setattr(nmnist_groups, "fetch_dataset", lambda name: table)
    monkeypatch.setattr(pixels, "fetch_dataset", lambda name: table)
    monkeypatch.setattr(faces, "fetch_dataset", lambda name: table)
    build = methods.build
    monkeypatch.setattr(methods, "build", lambda *given: methods.shortened(build(*given)))
    arguments = ["--results", str(tmp_path), "--figures", str(tmp_path / "figures")]
    script.main(arguments)
    records = list(Store(tmp_path / f"{script.NAME}.npz"))
    assert [record["key"] for record in records] == list(script.cells())
    for record in records:
        assert set(sum(record["groups"], [])) <= set(range(29))  # never the constant pixel
        kept = zip(record["groups"], record["kept"], strict=True)
        assert sorted(sum((group for group, keep in kept if keep), [])) == record["selected"]
        assert record["image_shape"] == list(SHAPE) and "torch" in record["machine"]
        assert record["settings"]["random_state"] == 0 and record["seconds"] > 0
    if script is nmnist_groups:
        assert all(table.target[r["samples"]].tolist() == [0] * 3 + [1] * 3 for r in records)
        assert len(records[1]["groups"]) <= 7

    said = capsys.readouterr().out
    before = contents(tmp_path / "figures")
    monkeypatch.setattr(nmnist_groups, "fit_groups", lambda *given: pytest.fail("fitted again"))
    monkeypatch.setattr(faces, "fit_groups", lambda *given: pytest.fail("fitted again"))
    script.main(arguments)
    assert capsys.readouterr().out == said
    assert set(before) == {f"{script.NAME}.png", f"{script.NAME}.svg"}
    assert contents(tmp_path / "figures") == before


def test_a_title_says_when_no_gate_is_open():
    key = {"method": "GroupFS", "n_groups": 7}
    record = {"key": key, "groups": GROUPS, "kept": [True, False, False], "gates": [0.5, -1, -1]}
    assert "no gate open" in nmnist_groups.title_of(record)
    record["gates"] = [0.6, -1.0, -1.0]
    assert nmnist_groups.title_of(record).endswith("3 groups, 1 kept")


def test_columns_are_the_selections_and_the_papers_stands_last_of_each_method():
    records = [
        fit("GroupFS paper", ["Dalc", "sex"], [2, 1]),
        fit("LS", ["school", "Fjob"]),
        fit("RANDOM", ["age"]),
        fit("VARIANCE", ["age"]),
        fit("GroupFS", ["Walc"], [1]),
    ]
    found = student_figure.columns(records, PRINTED)
    assert [(c.method, c.label) for c in found if c.fit] == [
        ("VARIANCE", "here"),
        ("LS", "here"),
        ("GroupFS", "default"),
        ("GroupFS", "paper's settings"),
    ]
    printed = {c.method: c.marks for c in found if c.fit is None}
    assert {method: set(marks) for method, marks in printed.items()} == {
        method: set(features) for method, features in PRINTED["selected"].items()
    }
    assert sum(c.fit is None for c in found) == len(printed)
    assert printed["GroupFS"]["Dalc"] == 1 and printed["GroupFS"]["higher"] == 2
    assert printed["LS"]["school"] is None
    assert found[-1].label == "the paper" and found[-1].method == "GroupFS"
    assert found[-2].marks == {"Dalc": 2, "sex": 1}


def test_features_shared_with_the_paper_are_counted_for_every_seed():
    records = [
        fit("CAE", ["age", "paid", "sex"], seed=1),
        fit("CAE", ["age", "sex", "school"], seed=0),
        fit("VARIANCE", ["age"]),
    ]
    shared = {
        (c.method, c.label): c.shared for c in student_figure.columns(records, PRINTED) if c.fit
    }
    assert shared == {("CAE", "here"): [1, 2], ("VARIANCE", "here"): []}


def test_what_is_drawn_of_the_students_is_written_beside_it(tmp_path, capsys):
    store = Store(tmp_path / "student.npz")
    store.add(fit("CompFS", ["sex", "age"], [1, 2]))
    student_figure.main(["--results", str(tmp_path), "--figures", str(tmp_path / "figures")])
    facts = json.loads((tmp_path / "student_figure.json").read_text())
    own = next(column for column in facts["columns"] if column["fit"])
    assert own["marks"] == {"sex": 1, "age": 2} and own["shared"] == [1]
    assert own["fit"]["machine"] == {"device": "none"} and own["fit"]["key"]["seed"] == 0
    assert "CompFS, here: 1 of the paper's features" in capsys.readouterr().out
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {"student_figure.png", "student_figure.svg"}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def images():
    """Images of 6 x 5 pixels of two classes: blocks that vary together, noise, one constant."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    for block, signal in zip(GROUPS[:2], rng.standard_normal((2, 40)), strict=True):
        X[:, block] = signal[:, None] + 0.2 * X[:, block]
    X[:, 29] = 1
    return Bunch(data=X, target=np.arange(40) % 2, target_names=["3", "8"], image_shape=SHAPE)


def fit(method, features, groups=None, seed=0):
    """A record as ``experiments.student`` writes it."""
    return {
        "key": {"table": "student", "method": method, "seed": seed, "budgets": [9]},
        "selections": [{"budget": 9, "features": features, "groups": groups}],
        "settings": {},
        "warnings": [],
        "fit_seconds": 0.1,
        "machine": {"device": "none"},
    }
