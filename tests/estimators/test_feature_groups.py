"""What a user of FeatureGroups may rely on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from groupfs import FeatureGroups, GroupFS, GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.metrics import relevant_group_similarity, selection_rates
from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import SelectionWarning


@pytest.fixture(scope="module")
def moons():
    # in this draw no noise column happens to go with a group (in that of seed 0 one does, r = 0.2)
    return load_two_moons(300, random_state=1)


@pytest.fixture(scope="module")
def fitted(moons):
    return FeatureGroups(random_state=0).fit(moons.data)


CELLS = [
    *({"random_state": seed} for seed in (0, 1, 2)),
    *({"correlation": rho, "random_state": 3} for rho in (0.6, 0.8, 1.0)),
    *({"noise": noise, "random_state": 4} for noise in (0.0, 0.45)),
    *({"n_features": d, "random_state": 5} for d in (17, 24, 40, 100)),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_both_moon_groups_and_nothing_else_without_setting_anything(cell):
    data = load_two_moons(**cell)
    selector = FeatureGroups(random_state=cell["random_state"]).fit(data.data)
    every = selector.select(n_groups_to_select="significant")
    assert selection_rates(range(10), every.features) == (1.0, 0.0)
    assert selection_rates(range(10), selector.get_support(indices=True))[1] == 0.0
    assert relevant_group_similarity(data.groups, selector.groups_) == 1.0


@pytest.mark.slow
def test_fitted_attributes_describe_the_groups(moons, fitted):
    back = fitted.inverse_transform(fitted.transform(moons.data))
    np.testing.assert_array_equal(back, np.where(fitted.get_support(), moons.data, 0))
    assert not fitted.get_support()[10:].any()
    assert len(fitted.groups_) == fitted.n_groups_ == 2
    assert np.array_equal(np.sort(np.concatenate(fitted.groups_)), np.arange(10))
    assert (fitted.group_labels_[10:] == -1).all()
    for rank, group in enumerate(fitted.groups_):
        assert (fitted.group_labels_[group] == rank).all()
        assert fitted.representatives_[rank] in group
        central = group[np.argmax(fitted.centrality_[group])]
        assert fitted.representatives_[rank] == central
    assert fitted.group_kept_.tolist() == [True, True]
    assert (fitted.group_pvalues_ < 1e-5).all() and (fitted.group_replication_ > 0.95).all()
    assert (fitted.group_signs_[:10] == 1).all() and not fitted.group_signs_[10:].any()
    assert (fitted.relatedness_pvalues_[:10] < 1e-3).all()
    assert fitted.levels_[0].agreement > 0.9


@pytest.mark.parametrize("signed", [False, True])
def test_centrality_is_correlation_with_the_first_component_or_mean_of_the_group(moons, signed):
    selector = FeatureGroups(signed=signed, random_state=0).fit(moons.data)
    Z = (moons.data - moons.data.mean(0)) / moons.data.std(0)
    group = selector.groups_[0]
    component = np.linalg.svd(Z[:, group], full_matrices=False)[0][:, 0]
    middle = Z[:, group].mean(1) if signed else component
    for i in group:
        r = np.corrcoef(Z[:, i], middle)[0, 1]
        assert selector.centrality_[i] == pytest.approx(r if signed else abs(r))


@pytest.mark.slow
def test_a_budget_is_met_and_columns_keep_their_order(moons):
    names = np.array(moons.feature_names)
    frame = pd.DataFrame(moons.data, columns=names)
    selector = FeatureGroups(n_features_to_select=7, random_state=0)
    out = selector.set_output(transform="pandas").fit_transform(frame)
    chosen = selector.get_support(indices=True)
    assert out.shape[1] == 7 and (np.diff(chosen) > 0).all()
    assert out.columns.tolist() == names[chosen].tolist()
    assert [np.isin(group, chosen).sum() for group in selector.groups_[:2]] == [4, 3]


def test_selecting_again_takes_what_a_selection_depends_on_and_no_more(fitted):
    with pytest.raises(TypeError, match=r"select\(\) got metric, n_groups, which the selection"):
        fitted.select(metric="rank", n_groups=3)
    for wrong in ({"alpha": 2}, {"output": "names"}, {"n_features_to_select": 0}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            fitted.select(**wrong)
    assert "features" in fitted.select(n_groups_to_select=1, n_features_to_select=9).notes[0]
    with pytest.raises(ValueError, match="not fitted"):
        FeatureGroups().select()


@pytest.mark.parametrize(
    ("parameters", "named"),
    [({"n_groups": 25}, "n_groups"), ({"n_features_to_select": 30}, "n_features_to_select")],
    ids=str,
)
def test_errors_carry_the_name_of_the_parameter(parameters, named, moons):
    with pytest.raises(ParameterError, match=f"{named}=.*choose") as error:
        FeatureGroups(**parameters).fit(moons.data)
    assert error.value.parameter == named


@pytest.mark.parametrize("kind", [FeatureGroups, GroupFS, GroupFSPath])
def test_parameters_are_given_by_name(kind):
    with pytest.raises(TypeError, match="n_groups=20 looks for .* n_features_to_select=20 selects"):
        kind(20)


def test_what_another_estimator_has_is_not_there(fitted):
    assert not hasattr(fitted, "group_gates_") and len(FeatureGroups().get_params()) <= 17


def test_groups_of_one_feature_come_last_by_the_first_of_them(rng):
    X = np.hstack([rng.standard_normal((100, 1)) * [1, 2], rng.standard_normal((100, 4))])
    labels = ["single b", "single a", "pair", "pair", "single c", "single d"]
    selector = FeatureGroups(groups=labels, random_state=0).fit(X[:, [2, 3, 0, 1, 4, 5]])
    assert selector.group_names_[0] == "pair"
    singles = [name for name in selector.group_names_ if name != "pair"]
    assert singles == ["single b", "single a", "single c", "single d"]


def test_noise_alone_gives_a_warning_not_a_finding():
    X = np.random.default_rng(0).standard_normal((200, 30))
    with pytest.warns(SelectionWarning, match="No feature is related to another") as warned:
        selector = FeatureGroups(random_state=0).fit(X)
    assert len(warned) == 1
    assert selector.n_groups_ == 0 and selector.groups_ == [] and not selector.get_support().any()
    assert (selector.group_labels_ == -1).all()
    assert (selector.relatedness_pvalues_ > 0.001).all()
    # a budget is spent all the same, on what explains most of the others
    best = selector.select(n_features_to_select=4).features
    assert set(best) == set(selector.feature_order_[:4])
    assert sorted(selector.feature_order_) == list(range(30)) and selector.explained_[-1] == 1
