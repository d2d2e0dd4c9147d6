"""A fitted selector asked for more: budgets without a refit, and all it knows as a table."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone

from groupfs import FeatureGroups, GroupFSPath, persistence
from tests.support.report_tables import mixed_table, noise_table

QUICK = {"random_state": 0}


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module", params=[FeatureGroups, GroupFSPath])
def fitted(request, table):
    more = {"sparsities": [0.5, 1.0]} if request.param is GroupFSPath else {}
    return request.param(**QUICK, **more).fit(table)


@pytest.fixture
def selector(fitted):
    return pickle.loads(pickle.dumps(fitted))


@pytest.mark.parametrize(
    "changes",
    [
        {"n_features_to_select": 3},
        {"n_groups_to_select": 1},
        {"n_per_group": 1},
        {"explain": 0.8},
        {"alpha": 1e-200, "n_per_group": 1},
    ],
)
@pytest.mark.filterwarnings("ignore:No group stands out")
def test_a_parameter_of_the_selection_is_heeded_without_a_refit(changes, selector, table):
    if not set(changes) <= set(selector.get_params()):
        pytest.skip(f"{type(selector).__name__} has no {', '.join(changes)}")
    before = selector.get_support()
    refitted = clone(selector).set_params(**changes).fit(table)
    selection = selector.select(**changes)
    np.testing.assert_array_equal(selector.get_support(), before)  # it stays as it is
    np.testing.assert_array_equal(selection.support, refitted.get_support())
    np.testing.assert_array_equal(selection.groups, refitted.group_kept_)
    selector.set_params(**changes)
    np.testing.assert_array_equal(selector.get_support(), refitted.get_support())
    np.testing.assert_array_equal(selector.group_kept_, refitted.group_kept_)
    np.testing.assert_array_equal(
        selector.transform(table), table[selector.get_feature_names_out()].to_numpy()
    )
    assert not np.array_equal(before, selector.get_support())


def test_a_share_of_the_features_goes_through_a_file(selector, table, tmp_path):
    pytest.importorskip("skops")
    selector.set_params(n_features_to_select=2)
    persistence.save(selector, tmp_path / "m.skops")
    loaded = persistence.load(tmp_path / "m.skops")
    assert loaded.get_support().sum() == 2
    assert loaded.set_params(n_features_to_select=0.5).get_support().sum() == 7
    assert loaded.n_features_in_ == table.shape[1]


def test_a_wrong_parameter_is_refused_when_it_is_used(selector):
    with pytest.raises(ValueError, match="n_features_to_select=99 but X has 14 features that vary"):
        selector.set_params(n_features_to_select=99).get_support()
    with pytest.raises(ValueError, match="'n_features_to_select' parameter of select"):
        selector.set_params(n_features_to_select=-1).get_support()
    if hasattr(selector, "explain"):
        with pytest.raises(ValueError, match="are both given"):
            selector.set_params(n_features_to_select=3, explain=0.5).get_support()
    assert not hasattr(selector, "group_kept_")
    with pytest.raises(AttributeError, match="n_features_to_select|are both given"):
        selector.group_kept_  # noqa: B018
    assert "groupfs-groups" not in selector._repr_html_()  # and yet it can be looked at


def test_other_parameters_wait_for_the_next_fit(selector):
    before = selector.get_support()
    selector.set_params(n_groups=3, standardize=False)
    np.testing.assert_array_equal(selector.get_support(), before)
    by_budget = selector.select(n_features_to_select=4).features
    np.testing.assert_array_equal(
        selector.set_params(n_features_to_select=4).get_support(indices=True), by_budget
    )
    assert set(by_budget) == set(selector.feature_order_[:4])  # not whole groups, as the paper does


def test_an_unfitted_selector_has_no_selection():
    assert not hasattr(FeatureGroups(), "group_kept_")
    with pytest.raises(ValueError, match="not fitted"):
        FeatureGroups().get_support()
    with pytest.raises(ValueError, match="not fitted"):
        FeatureGroups().to_frame()


def test_the_table_follows_the_fit_and_a_budget(selector, table):
    frame = selector.set_params(n_features_to_select=3).to_frame()
    place = [list(table.columns).index(name) for name in frame["feature"]]
    assert sorted(place) == list(range(table.shape[1])) and frame["selected"].sum() == 3
    np.testing.assert_array_equal(frame["selected"], selector.get_support()[place])
    labels = frame["group"].fillna(0).to_numpy(dtype=int) - 1
    np.testing.assert_array_equal(labels, selector.group_labels_[place])
    assert frame["representative"].sum() == len(selector.groups_frame()) == selector.n_groups_


def test_known_groups_and_tables_without_groups_have_tables_too(table):
    known = {"first": table.columns[:7], "second": table.columns[7:]}
    frame = FeatureGroups(groups=known, **QUICK).fit(table).to_frame()
    assert set(frame["group"].dropna()) == {"first", "second"}
    with pytest.warns(UserWarning, match="nothing is selected"):
        nothing = FeatureGroups(**QUICK).fit(noise_table()).to_frame()
    assert nothing["group"].isna().all() and not nothing["selected"].any()


def test_without_pandas_a_sentence_says_what_to_do(selector, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        selector.to_frame()
