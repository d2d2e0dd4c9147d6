"""What may be asked of a fit to any table, and estimators with any settings, for hypothesis."""

import copy
import dataclasses
import os
import re
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from groupfs import FeatureGroups, GroupFS, baselines

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def examples(n):
    """So many of them, always the same; or twelve times as many in a long run, and new ones."""
    return settings(
        max_examples=12 * n if LONG else n,
        derandomize=not LONG,
        print_blob=LONG,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


#: All that a fit may say of a table it does not take, or takes with a word of caution.
REFUSALS = (
    r"all \d+ columns of X are constant; there is nothing to select from\.",
    r"only one column of X varies \(.+\); a choice needs at least 2 columns that are not constant",
    r"values of X overflow when squared, as distances need \(columns .+\); rescale these columns",
)
CAUTIONS = (
    r"\d+ constant columns? carr(y|ies) no information and (was|were) (left out|ranked last)",
    r"n_(eigenvectors|neighbors)=\d+ but (a batch|X) has \d+ samples; \d+ are used instead",
    r"All gates are (closed|open), so",
    r"The open groups have no lower loss than all or none",
    r"No group stands out from chance",
    r"No group that stands out from chance is found again",
    r"No feature is related to another beyond chance",
    r"n_groups=\d+ but only \d+ features are related to others beyond chance",
    r"no feature reaches threshold=",
    r"The selectors had not decided after \d+ epochs",
    r"n_features_to_select=\d+, but the groups to select from give only",
    r"n_features_to_select=\d+, but only \d+ features are in groups",
    r"n_features_to_select=\d+ leaves \d+ of the \d+ kept groups without a feature",
    r"X has \d+ rows, but only \d+ different ones",
)

SHORT = {"random_state": 0, "n_init": 1, "max_epochs": 4}
BOTH = st.booleans()
COMMON = {
    "standardize": BOTH,
    "n_groups": st.just(2),
    "n_features_to_select": st.just(2),
    "n_per_group": st.sampled_from([1, 3]),
}
GROUP_SETTINGS = st.fixed_dictionaries(
    {},
    optional=COMMON
    | {
        "signed": BOTH,
        "keep_unrelated": BOTH,
        "n_groups_to_select": st.sampled_from([1, "significant"]),
    },
)
JOINT_SETTINGS = st.fixed_dictionaries(
    {},
    optional=COMMON
    | {
        "preset": st.just("paper"),
        "n_neighbors": st.integers(1, 7),
        "feature_neighbors": st.integers(1, 4),
        "batch_size": st.integers(2, 60),
        "bandwidth_gradient": st.sampled_from(["exact", "detached"]),
        "early_stopping": BOTH,
    },
)
#: What is tried of the parameters of baselines.
CHOICES = {
    "standardize": BOTH,
    "kernel": st.sampled_from(["self-tuning", "median"]),
    "loss": st.sampled_from(["ratio", "sum"]),
    "max_epochs": st.just(4),
    "max_iter": st.just(2),
    "random_state": st.just(0),
}
BASELINES = {
    kind.__name__: st.builds(kind, **{p: CHOICES[p] for p in kind().get_params() if p in CHOICES})
    for kind in map(vars(baselines).get, baselines.__all__)
    if isinstance(kind, type)
}
ANY = st.one_of(
    st.builds(FeatureGroups, random_state=st.just(0)),
    st.builds(GroupFS, **{name: st.just(value) for name, value in SHORT.items()}),
    *BASELINES.values(),
)


def fitted(estimator, X):
    """The estimator fitted to X, or None where X was refused by one of the sentences above.

    Every warning must be one of ours, and X must come out as it went in.
    """
    before = snapshot(X)
    y = np.arange(X.shape[0] if hasattr(X, "shape") else len(X)) % 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, y)
        except ValueError as error:
            assert any(re.match(words, str(error)) for words in REFUSALS), error
            if isinstance(X, np.ndarray):  # it cannot be used indeed
                n_varying, largest = varying(X.astype(float))[1].sum(), np.abs(X).max()
                assert n_varying < 2 or ("overflow" in str(error) and largest > 1e140), error
            estimator = None
    for warning in caught:
        assert issubclass(warning.category, UserWarning), warning
        assert any(re.match(words, str(warning.message)) for words in CAUTIONS), warning
    assert snapshot(X) == before
    return estimator


def snapshot(X):
    """Everything about X that a fit must leave alone."""
    if isinstance(X, np.ndarray):
        base = X.base if isinstance(X.base, np.ndarray) else X
        return X.dtype, X.strides, X.flags.writeable, X.tobytes(), base.tobytes()
    if isinstance(X, torch.Tensor):
        return X.dtype, X.requires_grad, X.detach().numpy().tobytes()
    if isinstance(X, pd.DataFrame):
        return list(X.columns), list(X.index), list(X.dtypes), X.to_numpy(float).tobytes()
    if sp.issparse(X):
        return X.format, X.dtype, *(part.tobytes() for part in (X.data, X.indices, X.indptr))
    return copy.deepcopy(X)


def not_numbers(value, where):
    """Names of the parts of a fitted attribute that are NaN or infinite."""
    if isinstance(value, float | np.floating | np.ndarray):
        is_text = np.asarray(value).dtype.kind in "OSU"
        return [] if is_text or np.isfinite(value).all() else [where]
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, list | tuple):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        return [bad for key, part in value.items() for bad in not_numbers(part, f"{where}.{key}")]
    return []


def varying(X):
    """Columns that vary at all, and columns that surely do, not by rounding alone."""
    spread, size = np.ptp(X, axis=0), np.abs(X).max(0)
    rounding = 20 * np.finfo(float).eps * len(X) * size
    return spread > 0, spread > np.maximum(rounding, 1e-130)  # squares need all their digits


def check(estimator, X, form=np.asarray):
    """Fit a table in some form, and check that what is found is numbers and fits together."""
    if fitted(estimator, form(X)) is None:
        return
    attributes = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    scores = attributes.pop("scores_", np.zeros(0))
    related = attributes.pop("relatedness_pvalues_", None)  # constants have none
    assert not [bad for name, value in attributes.items() for bad in not_numbers(value, name)]
    at_all, surely = varying(X)
    for by_feature in (scores, np.zeros(0) if related is None else related):
        assert np.isfinite(by_feature[surely[: len(by_feature)]]).all()
    assert not np.isnan(scores).any()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No features were selected", UserWarning)
        np.testing.assert_array_equal(estimator.transform(X), X[:, estimator.get_support()])
    check_more = check_ranking if hasattr(estimator, "ranking_") else check_groups
    check_more(estimator, at_all, surely)


def check_groups(selector, at_all, surely):
    support, labels = selector.get_support(), selector.group_labels_
    assert (labels[~at_all] < 0).all()
    if getattr(selector, "keep_unrelated", True):
        assert (labels[surely] >= 0).all()
    members = np.sort(np.concatenate([np.zeros(0, int), *selector.groups_]))
    np.testing.assert_array_equal(members, np.flatnonzero(labels >= 0))
    for rank, group in enumerate(selector.groups_):
        assert (labels[group] == rank).all() and selector.representatives_[rank] in group
    for name in ("groups_", "group_smoothness_", "group_kept_"):
        assert len(getattr(selector, name)) == selector.n_groups_
    if hasattr(selector, "membership_"):
        np.testing.assert_allclose(selector.membership_.sum(1), labels >= 0, atol=1e-6)
    assert (np.abs(selector.centrality_) <= 1 + 1e-6).all()
    assert (selector.group_signs_ != 0).tolist() == (labels >= 0).tolist()
    kept = np.append(selector.group_kept_, False)[labels]
    asked = selector.n_features_to_select, selector.n_groups_to_select
    usual = hasattr(selector, "explain") and asked == (None, None)  # what explains 95 %
    if asked[0] is None and (kept.any() or not usual):
        assert not support[~kept].any()
    if (each := selector.n_per_group) is not None:
        inside = kept if asked[0] is None else labels >= 0
        most = np.minimum(each, np.bincount(labels[inside], minlength=selector.n_groups_))
        found = np.bincount(labels[support], minlength=selector.n_groups_)
        assert (found <= most).all() and (asked[0] is not None or (found == most).all())
        assert each > 1 or set(np.flatnonzero(support)) <= set(selector.representatives_)
    elif asked[0] is None and not usual:
        np.testing.assert_array_equal(support, kept)
    elif asked[0] is not None and asked[1] is None:
        n_more = support.sum() - selector.n_features_to_select
        assert n_more == 0 or (n_more > 0 and getattr(selector, "preset", None) == "paper")


def check_ranking(selector, at_all, surely):
    support, ranking = selector.get_support(), selector.ranking_
    assert support.any()
    np.testing.assert_array_equal(np.sort(ranking), np.arange(1, len(ranking) + 1))
    assert ranking[surely].max(initial=0) < ranking[~at_all].min(initial=len(ranking) + 1)
    if not isinstance(selector, baselines.AllFeatures):
        assert not support[~at_all].any()
