"""The map of correlations: ordered, fairly sampled, and tight where groups are tight."""

import numpy as np

from groupfs.groups import Groups
from groupfs.plotting import plot_correlations
from groupfs.plotting.correlations import correlate_features
from tests.support.plots import quick


def test_names_of_reversed_features_have_a_minus(mixed):
    selector, X = mixed
    names = [label.get_text() for label in plot_correlations(selector, X).get_yticklabels()]
    marked = {name[1:] for name in names if name.startswith("−")}
    assert marked == set(X.columns[selector.group_signs_ < 0]) and marked


def test_reversed_features_are_turned_round_unless_the_fit_was_signed(mixed):
    X = mixed[1]
    for settings, expected in (({}, True), ({"signed": True}, False)):
        fitted = quick(X, n_groups=2, keep_unrelated=True, **settings)
        fitted.groups_ = [np.arange(5), np.arange(5, 10)]  # each with a reversed feature
        fitted.group_signs_ = np.where(np.isin(np.arange(15), [1, 7]), -1, 1)
        image = plot_correlations(fitted, X).images[0].get_array()
        assert (image[:5, :5].min() > image[:5, 5:].max()) == expected


def test_correlations_are_ordered_by_group_and_kept_groups_are_framed(selector, table):
    ax = plot_correlations(selector, table)
    assert len(ax.patches) == selector.group_kept_.sum() == 2
    image = ax.images[0].get_array()
    assert image.shape == (20, 20) and image[:5, :5].min() > image[:5, 10:].max()
    names = [label.get_text() for label in ax.get_yticklabels()]
    order = np.concatenate(
        [Groups.of(selector).by_centrality(j) for j in range(selector.n_groups_)]
    )
    assert [name.removeprefix("−") for name in names] == table.columns[order].tolist()
    r = np.abs(np.corrcoef(table.iloc[:, order], rowvar=False))
    others = ~np.eye(20, dtype=bool)
    np.testing.assert_allclose(np.abs(np.asarray(image))[others], r[others], atol=1e-9)


def test_a_features_correlation_with_itself_is_blank_and_does_not_set_the_scale(rng):
    X = rng.standard_normal((300, 1)) + 1.5 * rng.standard_normal((300, 8))
    image = plot_correlations(quick(X), X).images[0]
    assert image.get_array().mask.sum() == 8 and image.get_array().mask.diagonal().all()
    strongest = float(np.abs(image.get_array()).max())
    low, high = image.get_clim()
    assert -low == high < 0.65 and strongest - 0.1 < high


def test_of_a_large_table_every_group_has_its_share_and_a_few_at_least(rng):
    X = rng.standard_normal((60, 3))[:, np.repeat([0, 1, 2], [60, 30, 4])]
    X = X + 0.3 * rng.standard_normal(X.shape)
    fitted = quick(X, n_groups=3)
    found = correlate_features(fitted, X, 30)
    assert dict(zip(map(len, fitted.groups_), found.sizes, strict=True)) == {60: 18, 30: 9, 4: 3}
    assert len(set(found.features)) == 30
    largest = Groups.of(fitted).by_centrality(int(np.argmax([len(g) for g in fitted.groups_])))
    shown = [np.flatnonzero(largest == i)[0] for i in found.features if i in largest]
    assert shown[0] == 0 and shown[-1] >= 54  # from the most to the least central
    ax = plot_correlations(fitted, X, most=30)
    assert ax.get_title().startswith("Correlations of 30 of 94 features")


def test_groups_are_numbered_where_features_are_too_many_to_name(rng):
    factors = rng.standard_normal((60, 3))
    X = factors[:, np.repeat([0, 1, 2], 12)] + 0.3 * rng.standard_normal((60, 36))
    ax = plot_correlations(quick(X, n_groups=3), X)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "2", "3"]
