"""The scripts of two moons: printed settings, what a fit is measured by, and what is left out."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from experiments import ablations, choosing_c, figure2, figure3, readings, two_moons
from groupfs import GroupFS
from tests import reference

QUICK = ["--quick", "--jobs", "1", "--out"]


def found(groups, gates):
    return SimpleNamespace(groups_=[np.array(g) for g in groups], group_gates_=np.array(gates))


def test_groups_are_taken_until_ten_features_are_covered():
    halves = two_moons.TRUE_GROUPS
    right = two_moons.measures(found([*halves, range(10, 20)], [0.9, 0.8, 0.1]))
    assert (right["rg_sim"], right["tpr"], right["fdr"]) == (1, 1, 0)
    assert right["exact"] and right["kept_exact"] and right["n_open"] == 2
    wrong = two_moons.measures(found([halves[0], range(10, 20), halves[1]], [0.9, 0.8, 0.1]))
    assert (wrong["tpr"], wrong["fdr"]) == pytest.approx((0.5, 10 / 15))
    assert not wrong["exact"] and not wrong["kept_exact"]


def test_settings_are_the_printed_ones():
    names = ("n_groups", "smoothness_weight", "sparsity_weight")
    at = {"noise": 0.05, "correlation": 0.7}
    by_study = [tuple(two_moons.printed(s, v)[n] for n in names) for s, v in at.items()]
    assert by_study == [(12, 1.0, 6.2), (3, 1.0, 0.8)]
    assert two_moons.printed("grid", C=20, d=20)["sparsity_weight"] == 9.6  # every C up to d


def test_figure_3_counts_what_lies_in_its_frame():
    rows = pd.DataFrame(
        [
            {"variant": "100 rows", "n_features": 20, "C": C, "seed": 0, "exact": C != 12}
            for C in (2, 3, 12, 13)
        ]
    ).assign(kept_exact=False, rg_sim=1.0, tpr=1.0, fdr=0.0)
    assert figure3.inside(rows).tolist() == [False, True, True, False]
    assert "| 1 of 2 (50.0%) | 0 of 2 (0.0%) |" in figure3.table(rows)


@pytest.mark.slow
def test_figures_are_computed_and_drawn_from_an_empty_folder(tmp_path):
    figure3.main([*QUICK, str(tmp_path / "3"), "--variants", "100 rows"])
    rows = pd.read_csv(tmp_path / "3" / "fits.csv")
    assert rows["C"].tolist() == [2, 3, 8, 12, 15, 20] and rows["exact"][1:4].all()
    figure2.main([*QUICK, str(tmp_path / "2")])
    assert {p.name for p in (tmp_path / "2").glob("*.png")} == {"figure2.png"}
    assert {p.name for p in (tmp_path / "3").glob("*.png")} == {"figure3.png"}


def test_nothing_left_out_is_the_estimator_itself():
    X = two_moons.load(100, 3).data
    settings = {**two_moons.printed("noise", 0.05), "max_epochs": 20}
    ours = ablations.fit(ablations.Parts(), X, settings, seed=3)
    fitted = GroupFS(preset="paper", **settings, n_init=1, random_state=3, device="cpu").fit(X)
    assert ours == {**two_moons.measures(fitted), "moved": 0.0, "machine": ours["machine"]}


def test_the_norm_of_F_held_fixed_has_the_gradient_of_a_constant_norm(rng):
    M = torch.from_numpy(rng.dirichlet(np.ones(3), 7)).requires_grad_()
    Q = torch.from_numpy(rng.standard_normal((3, 3))).requires_grad_()
    W = torch.from_numpy(rng.random((7, 7)))
    L = reference.laplacian(W + W.T)
    F = M @ Q
    mean, norm = F.mean(0).detach(), (F - F.mean(0)).norm(dim=0).detach()
    F = (F - mean) / norm
    overlap = ((F.T @ F - torch.eye(3)) ** 2).sum()
    expected = (torch.trace(F.T @ L @ F) + 0.5 * overlap) / 21
    gradients = torch.autograd.grad(expected, [M, Q])
    walk = torch.eye(7).double() - L
    value, *ours = ablations.fixed_norm(M.detach()[None], Q.detach()[None], walk, 0.5)
    np.testing.assert_allclose(value[0], expected.detach())
    for own, gradient in zip(ours, gradients, strict=True):
        np.testing.assert_allclose(own[0], gradient, rtol=1e-9)


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [("L_reg", {"n_open": 12}), ("L_s", {"n_open": 0, "tpr": 0}), ("learns_M", {"moved": 0})],
)
def test_a_part_that_is_left_out_is_missed(left_out, expected):
    X = two_moons.load(100, 0).data
    parts = ablations.Parts(**{left_out: False})
    row = ablations.fit(parts, X, two_moons.printed("noise", 0.05), seed=0)
    assert {name: row[name] for name in expected} == expected


@pytest.mark.slow
def test_readings_and_numbers_of_groups_are_written(tmp_path, capsys):
    readings.main([*QUICK, str(tmp_path / "r")])
    rows = pd.read_csv(tmp_path / "r" / "fits.csv")
    assert set(rows["part"]) == set(readings.PARTS)
    readings.main([*QUICK, str(tmp_path / "again"), "--join", str(tmp_path / "r")])
    texts = [(tmp_path / name / "short.md").read_text() for name in ("r", "again")]
    assert texts[0] == texts[1]
    curve = choosing_c.curve_of(two_moons.load(1000, 0).data)
    assert {3, 12} <= set(choosing_c.minima(curve)) and min(curve, key=curve.get) == 12
