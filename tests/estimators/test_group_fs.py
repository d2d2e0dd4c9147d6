"""What a user of GroupFS may rely on."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.estimators import group_fs as estimator
from groupfs.metrics import relevant_group_similarity, selection_rates
from tests.support.tables import real_table


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(random_state=0)


@pytest.fixture(scope="module")
def fitted(moons):
    return GroupFS(random_state=0).fit(moons.data)


def recovery(data, selector):
    selected = selector.get_support(indices=True)
    return (
        *selection_rates(range(10), selected),
        relevant_group_similarity(data.groups, selector.groups_),
    )


CELLS = [
    *({"random_state": seed} for seed in (0, 1, 2)),
    *({"correlation": rho, "random_state": 3} for rho in (0.6, 0.8, 1.0)),
    *({"noise": noise, "random_state": 4} for noise in (0.0, 0.45)),
    *({"n_features": d, "random_state": 5} for d in (17, 24, 40, 100)),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_both_moon_groups_and_nothing_else_without_setting_anything(cell):
    data = load_two_moons(**cell)
    selector = GroupFS(random_state=cell["random_state"]).fit(data.data)
    assert recovery(data, selector) == (1.0, 0.0, 1.0)


def test_fitted_attributes_describe_the_groups(moons, fitted):
    C, d = fitted.n_groups_, 20
    assert len(fitted.groups_) == C
    assert np.array_equal(np.sort(np.concatenate(fitted.groups_)), np.arange(d))
    for rank, group in enumerate(fitted.groups_):
        assert (fitted.group_labels_[group] == rank).all()
        assert fitted.representatives_[rank] in group
        central = group[np.argmax(fitted.centrality_[group])]
        assert fitted.representatives_[rank] == central
    assert (np.diff(fitted.group_scores_) <= 0).all()
    assert fitted.membership_.shape == (d, C)
    np.testing.assert_allclose(fitted.membership_.sum(1), 1)
    np.testing.assert_array_equal(fitted.membership_.argmax(1), fitted.group_labels_)
    assert fitted.group_selected_.tolist() == [True, True] + [False] * (C - 2)
    assert (fitted.group_pvalues_[:2] < 1e-5).all()
    assert fitted.gain_ > 0
    assert fitted.sparsity_weight_ == pytest.approx(0.7 * fitted.critical_sparsity_weight_)
    assert fitted.n_iter_ == len(fitted.history_)
    np.testing.assert_allclose(fitted.history_[-1]["gates"], fitted.group_gates_, atol=1e-6)
    assert fitted.distortion_[3] < fitted.distortion_[2]


def test_centrality_is_correlation_with_the_mean_of_the_group(moons, fitted):
    Z = (moons.data - moons.data.mean(0)) / moons.data.std(0)
    group = fitted.groups_[0]
    for i in group:
        r = np.corrcoef(Z[:, i], Z[:, group].mean(1))[0, 1]
        assert fitted.centrality_[i] == pytest.approx(r)


def test_same_seed_same_bits_other_seed_other_noise(moons, fitted):
    again = GroupFS(random_state=0).fit(moons.data)
    other = GroupFS(random_state=1).fit(moons.data)
    np.testing.assert_array_equal(again.group_gates_, fitted.group_gates_)
    np.testing.assert_array_equal(again.membership_, fitted.membership_)
    np.testing.assert_array_equal(again.group_scores_, fitted.group_scores_)
    assert not np.array_equal(other.membership_, fitted.membership_)


@pytest.mark.parametrize("order", ["C", "F"])
def test_permuting_columns_permutes_groups(moons, fitted, order):
    permutation = np.random.default_rng(0).permutation(20)
    permuted = np.asarray(moons.data[:, permutation], order=order)
    selector = GroupFS(random_state=0).fit(permuted)
    moved = [np.sort(permutation[group]).tolist() for group in selector.groups_]
    assert moved == [group.tolist() for group in fitted.groups_]
    np.testing.assert_allclose(selector.group_scores_, fitted.group_scores_, atol=1e-6)
    np.testing.assert_allclose(selector.group_gates_, fitted.group_gates_, atol=1e-6)
    np.testing.assert_array_equal(selector.get_support(), fitted.get_support()[permutation])


def test_units_of_the_columns_do_not_matter(moons, fitted):
    scale = np.geomspace(1e-6, 1e6, 20)
    selector = GroupFS(random_state=0).fit(moons.data * scale + 3 * scale)
    assert [g.tolist() for g in selector.groups_] == [g.tolist() for g in fitted.groups_]
    np.testing.assert_allclose(selector.group_scores_, fitted.group_scores_, atol=1e-3)


def test_duplicates_and_perfectly_correlated_columns_share_a_group():
    X = load_two_moons(200, 14, random_state=0).data
    X = np.column_stack([X, X[:, 3], -0.5 + 2 * X[:, 7], X[:, 12], X[:, 12] * 1e-3])
    selector = GroupFS(random_state=0, n_groups=10).fit(X)
    label = selector.group_labels_
    assert label[14] == label[3] and label[15] == label[7]
    assert label[16] == label[17] == label[12]


def test_a_budget_is_met_and_columns_keep_their_order(moons):
    names = np.array(moons.feature_names)
    frame = pd.DataFrame(moons.data, columns=names)
    for allocation in ("whole", "spread"):
        selector = GroupFS(n_features_to_select=7, allocation=allocation, random_state=0)
        out = selector.set_output(transform="pandas").fit_transform(frame)
        chosen = selector.get_support(indices=True)
        assert out.shape[1] == 7 and (np.diff(chosen) > 0).all()
        assert out.columns.tolist() == names[chosen].tolist()
        per_group = [np.isin(group, chosen).sum() for group in selector.groups_[:2]]
        assert per_group == ([5, 2] if allocation == "whole" else [4, 3])


def test_groups_to_select_and_budget_within_them(moons):
    one = GroupFS(n_groups_to_select=1, random_state=0).fit(moons.data)
    assert one.get_support().sum() == 5
    cut = GroupFS(n_groups_to_select=1, n_features_to_select=3, random_state=0).fit(moons.data)
    assert set(cut.get_support(indices=True)) < set(cut.groups_[0])
    assert cut.get_support().sum() == 3


def test_groups_that_stand_out_are_kept_with_closed_gates_if_asked(moons):
    selector = GroupFS(random_state=0).fit(moons.data)
    selector.group_gates_[1] = -1.0  # as gates do on groups that have little to do with the others
    selector._select()
    assert selector.get_support().sum() == 5
    selector.n_groups_to_select = "significant"
    selector._select()
    np.testing.assert_array_equal(selector.get_support(indices=True), np.arange(10))
    selector.n_features_to_select = 4
    selector._select()
    assert selector.get_support()[:5].sum() == selector.get_support()[5:10].sum() == 2


def test_without_a_group_that_stands_out_gates_decide_as_usual():
    X = np.random.default_rng(0).standard_normal((60, 12))
    with pytest.warns(UserWarning, match="stands out from chance"):
        selector = GroupFS(n_groups_to_select="significant", random_state=0, max_epochs=20).fit(X)
    with pytest.warns(UserWarning, match="stands out from chance"):
        usual = GroupFS(random_state=0, max_epochs=20).fit(X)
    np.testing.assert_array_equal(selector.get_support(), usual.get_support())


def test_representatives_are_one_feature_per_kept_group(moons):
    selector = GroupFS(output="representatives", random_state=0).fit(moons.data)
    chosen = selector.get_support(indices=True)
    assert sorted(selector.group_labels_[chosen]) == [0, 1]
    assert set(chosen) == set(selector.representatives_[:2])


def test_inverse_transform_puts_columns_back(moons, fitted):
    back = fitted.inverse_transform(fitted.transform(moons.data))
    np.testing.assert_array_equal(back[:, :10], moons.data[:, :10])
    assert (back[:, 10:] == 0).all()


def test_polars_output(moons):
    selector = GroupFS(random_state=0, n_init=1).set_output(transform="polars")
    frame = pd.DataFrame(moons.data, columns=moons.feature_names)
    out = selector.fit_transform(frame)
    assert out.columns == moons.feature_names[:10]


def test_pipeline_clone_pickle_and_parameter_setting(moons, fitted):
    pipeline = make_pipeline(StandardScaler(), GroupFS(random_state=0, n_init=1), KMeans(2))
    pipeline.set_params(groupfs__n_groups=3, groupfs__sparsity=0.8)
    assert pipeline.fit_predict(moons.data).shape == (1000,)
    assert clone(pipeline)[1].get_params()["sparsity"] == 0.8
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.transform(moons.data), fitted.transform(moons.data))


@pytest.mark.parametrize("ranking", ["gate", "path"])
def test_other_rankings_put_the_moons_first(moons, ranking):
    selector = GroupFS(ranking=ranking, n_groups=12, random_state=0).fit(moons.data)
    assert recovery(moons, selector) == (1.0, 0.0, 1.0)
    assert selector.group_pvalues_ is None
    if ranking == "path":
        assert selector.group_scores_[1] >= 2 * max(selector.group_scores_[2], 0.25)


def test_path_ranking_does_not_change_the_model():
    X = load_two_moons(300, random_state=0).data
    by_path, by_gate = (
        GroupFS(12, ranking=ranking, random_state=0).fit(X) for ranking in ("path", "gate")
    )
    np.testing.assert_allclose(
        np.sort(by_path.group_gates_), np.sort(by_gate.group_gates_), atol=1e-4
    )
    assert by_path.n_iter_ == by_gate.n_iter_


def test_a_budget_for_representatives_and_budgets_that_cannot_be_met(moons):
    two = GroupFS(12, output="representatives", n_features_to_select=4, random_state=0, n_init=1)
    chosen = two.fit(moons.data).get_support(indices=True)
    assert sorted(two.group_labels_[chosen]) == [0, 1, 2, 3]
    assert two.group_selected_.sum() == 4
    short = GroupFS(n_groups_to_select=1, n_features_to_select=7, random_state=0, n_init=1)
    with pytest.warns(UserWarning, match="n_features_to_select=7, but .* only 5"):
        short.fit(moons.data)


def test_a_budget_marks_the_groups_it_was_spent_on(moons):
    plan = {"n_features_to_select": 3, "random_state": 0, "n_init": 1}
    whole = GroupFS(allocation="whole", **plan).fit(moons.data)
    assert whole.group_selected_.tolist()[:2] == [True, False]
    spread = GroupFS(**plan).fit(moons.data)
    assert spread.group_selected_.tolist()[:3] == [True, True, False]


def test_a_budget_is_spread_over_groups_that_stand_out_open_or_not(moons):
    plan = {"n_features_to_select": 6, "random_state": 0, "n_init": 1}
    closed = GroupFS(sparsity=30.0, **plan).fit(moons.data)
    assert not (closed.group_gates_ > 0.5).any()
    per_group = [np.isin(g, closed.get_support(indices=True)).sum() for g in closed.groups_[:2]]
    assert sum(per_group) == 6 and min(per_group) >= 2


def test_the_paper_spends_a_budget_on_whole_groups(moons):
    paper = GroupFS(
        12, preset="paper", max_epochs=20, n_features_to_select=6, random_state=0, n_init=1
    ).fit(moons.data)
    first = paper.groups_[0]
    taken = np.isin(first, paper.get_support(indices=True)).sum()
    assert taken == min(6, len(first))


def test_closing_all_gates_keeps_less_not_more():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((200, 6)), 6, axis=1)
    X = X + np.repeat(np.linspace(0.2, 1, 6), 6) * rng.standard_normal((200, 36))
    kept = []
    for sparsity in (0.25, 3, 50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            selector = GroupFS(6, sparsity=sparsity, n_init=1, random_state=0).fit(X)
        kept.append(int(selector.group_selected_.sum()))
    assert kept[0] >= kept[1] >= kept[2] == 1


def test_sparsity_weight_overrides_sparsity(moons):
    selector = GroupFS(sparsity=3.0, sparsity_weight=0.7, n_groups=3, random_state=0, n_init=1)
    assert selector.fit(moons.data).sparsity_weight_ == 0.7


def test_higher_sparsity_keeps_fewer_groups():
    X = real_table("yale")[0]
    kept = []
    for sparsity in (0.5, 1.0, 2.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            selector = GroupFS(n_groups=16, sparsity=sparsity, random_state=0, n_init=1).fit(X)
        kept.append(int((selector.group_gates_ > 0.5).sum()))
    assert kept[0] > kept[1] > kept[2]


def test_presets_fill_in_only_what_is_not_set(moons):
    settings = {"preset": "paper", "n_groups": 3, "max_epochs": 2, "n_init": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        as_paper = GroupFS(**settings).fit(moons.data)
        cooler = GroupFS(**settings, start_temperature=2.0, ranking="excess").fit(moons.data)
    assert as_paper.history_[0]["temperature"] == 10
    assert as_paper.group_pvalues_ is None
    assert cooler.history_[0]["temperature"] == 2
    assert cooler.group_pvalues_ is not None


def test_noise_alone_gives_a_warning_not_a_finding():
    X = np.random.default_rng(0).standard_normal((200, 30))
    with pytest.warns(UserWarning, match="stands out|gates are closed"):
        selector = GroupFS(random_state=0).fit(X)
    assert (selector.group_pvalues_ > 0.002).all()
    assert selector.get_support().any()


def test_two_columns_are_enough():
    X = np.random.default_rng(0).standard_normal((30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector = GroupFS(random_state=0).fit(X)
    assert selector.n_groups_ == 2


def test_minibatches_find_the_groups_too(moons):
    selector = GroupFS(batch_size=100, random_state=0).fit(moons.data)
    assert recovery(moons, selector) == (1.0, 0.0, 1.0)


def test_an_operation_that_mps_lacks_sends_the_fit_to_the_cpu(moons, monkeypatch):
    import torch

    solve, devices = estimator._solve, []

    def on_mps_unimplemented(table, settings, seeds, device):
        devices.append(device.type)
        if device.type == "mps":
            raise NotImplementedError("aten::kthvalue")
        return solve(table, settings, seeds, device)

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(estimator, "_solve", on_mps_unimplemented)
    with pytest.warns(UserWarning, match="lacks an operation.*the CPU was used"):
        GroupFS(device="mps", random_state=0, n_init=1).fit(moons.data)
    assert devices == ["mps", "cpu"]
    monkeypatch.setattr(
        estimator, "_solve", lambda *a: (_ for _ in ()).throw(NotImplementedError("else"))
    )
    with pytest.raises(NotImplementedError):
        GroupFS(device="cpu").fit(moons.data)


def test_interrupted_fit_is_a_fitted_estimator(moons, monkeypatch):
    from groupfs.training import loop as trainer

    run, epochs = trainer._run_epoch, []

    def interrupted(*arguments):
        epochs.append(1)
        if len(epochs) > 4:
            raise KeyboardInterrupt
        run(*arguments)

    monkeypatch.setattr(trainer, "_run_epoch", interrupted)
    with pytest.warns(UserWarning, match="interrupted after 4 of"):
        selector = GroupFS(random_state=0).fit(moons.data)
    assert selector.n_iter_ == 4 and selector.transform(moons.data).shape[1] > 0
