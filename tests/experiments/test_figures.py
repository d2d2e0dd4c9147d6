"""Figures of groups and of the students' table: what is drawn is what was found."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from experiments import methods, paper, pixels, student_figure
from experiments.protocol import standardized
from experiments.store import Store
from groupfs.datasets.parsers import pixel_names

SHAPE = (6, 5)
#: Two blocks of the image that vary together, the rest of the pixels, and one that is constant.
GROUPS = [[0, 1, 6, 7], [22, 23, 28], [i for i in range(29) if i not in (0, 1, 6, 7, 22, 23, 28)]]
PRINTED = paper.results()["student"]


def test_images_stand_upright_and_a_constant_pixel_has_no_rank():
    names = pixels.as_image(pixel_names(SHAPE), SHAPE)
    assert names[5, 3] == "px_r005_c003" and names[0, 4] == "px_r000_c004"
    ranks = pixels.rank_image(GROUPS, SHAPE)
    assert ranks[1, 0] == 1 and ranks[4, 3] == 2 and ranks[5, 0] == 3 and ranks[5, 4] == 0


def test_differences_are_those_of_the_class_means_in_deviations(rng):
    X, y = 3 * rng.standard_normal((20, 4)), np.arange(20) % 2
    X[:, 1] += 10 * y
    differences = pixels.differences([1, 3], X, y)
    Z = standardized(X)
    apart = [abs(Z[y == 1, j].mean() - Z[y == 0, j].mean()) for j in range(4)]
    assert differences["selected"] == pytest.approx((apart[1] + apart[3]) / 2)
    assert differences["others"] == pytest.approx((apart[0] + apart[2]) / 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_finished_fits_of_pixels_are_drawn_again_without_fitting(tmp_path, monkeypatch):
    table = images()
    monkeypatch.setattr(pixels, "fetch_dataset", lambda name: table)
    build = methods.build
    monkeypatch.setattr(methods, "build", lambda *given: methods.shortened(build(*given)))
    arguments = ["--results", str(tmp_path), "--figures", str(tmp_path / "figures")]
    pixels.main(arguments)
    for name in ("faces", "nmnist_groups"):
        records = list(Store(tmp_path / f"{name}.npz"))
        assert [record["key"] for record in records] == list(pixels.cells(name))
        for record in records:
            assert set(sum(record["groups"], [])) <= set(range(29))  # never the constant pixel
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert set(drawn) == {f"{n}.{e}" for n in ("faces", "nmnist_groups") for e in ("png", "svg")}
    monkeypatch.setattr(methods, "build", lambda *given: pytest.fail("fitted again"))
    pixels.main(arguments)
    assert drawn == {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}


def test_columns_are_the_selections_and_the_papers_stands_last_of_each_method():
    cae = [fit("CAE", ["age", "paid", "sex"], seed=1), fit("CAE", ["age", "sex", "school"])]
    ours = [fit("GroupFS paper", ["Dalc", "sex"], [2, 1]), fit("GroupFS", ["Walc"], [1])]
    columns = student_figure.columns([ours[0], *cae, fit("RANDOM", ["age"]), ours[1]], PRINTED)
    ours = {(c.method, c.label): (c.marks, c.shared) for c in columns if c.fit}
    groupfs = [("GroupFS", "default"), ("GroupFS", "paper's settings")]
    assert list(ours) == [("CAE", "here"), *groupfs]
    assert ours["CAE", "here"][1] == [1, 2]  # of the paper's features, seed after seed
    assert ours["GroupFS", "paper's settings"][0] == {"Dalc": 2, "sex": 1}
    printed = {c.method: set(c.marks) for c in columns if c.fit is None}
    assert printed == {method: set(some) for method, some in PRINTED["selected"].items()}
    assert (columns[-1].label, columns[-1].marks["higher"]) == ("the paper", 2)


def test_the_students_are_drawn_once_there_are_fits(tmp_path, capsys):
    arguments = ["--results", str(tmp_path), "--figures", str(tmp_path / "figures")]
    with pytest.raises(SystemExit):
        student_figure.main(arguments)
    assert "run python -m experiments.student first" in capsys.readouterr().err
    Store(tmp_path / "student.npz").add(fit("CompFS", ["sex", "age"], [1, 2]))
    student_figure.main(arguments)
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {"student_figure.png", "student_figure.svg"}


def images():
    """Images of 6 x 5 pixels of two classes: blocks that vary together, noise, one constant."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    for block, signal in zip(GROUPS[:2], rng.standard_normal((2, 40)), strict=True):
        X[:, block] = signal[:, None] + 0.2 * X[:, block]
    X[:, 29] = 1
    return Bunch(data=X, target=np.arange(40) % 2, image_shape=SHAPE)


def fit(method, features, groups=None, seed=0):
    """A record as ``experiments.student`` writes it."""
    return {
        "key": {"table": "student", "method": method, "seed": seed, "budgets": [9]},
        "selections": [{"budget": 9, "features": features, "groups": groups}],
    }
