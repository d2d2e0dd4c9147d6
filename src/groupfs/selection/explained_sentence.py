"""How many features explain how much of a table, in one sentence."""

from groupfs.graphs.relatedness import related_features
from groupfs.utils.fitted_selector import (
    SAME_SHARE,
    FittedSelector,
    budget_of,
    features_asked_for,
)

#: The share that is told of where nobody has asked for another.
ENOUGH = 0.9
#: Shares from here on are told as 100 %.
ALL = 0.9995


def explained_sentence(selector: FittedSelector, n_features: int) -> str:
    """Say how much the first features of the order explain of what the related ones say."""
    explain = "explains" if n_features == 1 else "explain"
    share = write_share(float(selector.explained_[n_features - 1]))
    n_related, n_varying = count_related(selector), len(selector.feature_order_)
    if n_related < n_varying:
        what = "related feature" + ("" if n_related == 1 else "s")
    else:
        what = "features" if n_varying == selector.n_features_in_ else "features that vary"
    return (
        f"{n_features:,} of {selector.n_features_in_:,} features {explain} {share} of what the "
        f"table's {n_related:,} {what} {'says' if n_related == 1 else 'say'}."
    )


def selection_sentence(selector: FittedSelector) -> str | None:
    """Say how much the selected features explain, or how many would be enough.

    The latter without a budget, and where one is spent in another order than that of the features.
    None where there are no groups and nothing is selected: nothing is worth explaining.
    """
    if not selector.n_groups_ and not selector.get_support().any():
        return None
    n_selected = count_first(selector) if budget_of(selector) else None
    return explained_sentence(selector, n_selected or enough_features(selector))


def count_first(selector: FittedSelector) -> int | None:
    """Count the selected features if they are the first of the order; None if they are others."""
    support = selector.get_support()
    n_selected = int(support.sum())
    is_first = bool(support[selector.feature_order_[:n_selected]].all())
    return n_selected if n_selected and is_first else None


def enough_features(selector: FittedSelector) -> int:
    """Count the features that explain 90 %."""
    number = features_asked_for(selector, None, ENOUGH)
    assert number is not None
    return number


def count_related(selector: FittedSelector) -> int:
    """Count the features whose variance is explained: related ones, or all that vary.

    The latter where it is not known which are related, and where groups were looked for among all.
    """
    order, p_values = selector.feature_order_, selector.relatedness_pvalues_
    if p_values is None:
        return len(order)
    related = related_features(p_values[order])
    all_count = bool(selector.feature_weights_[order[~related]].any())
    return len(order) if all_count else int(related.sum())


def write_share(share: float) -> str:
    """Write a share in whole percent, rounded down; 99.95 % and more are all.

    Examples
    --------
    >>> from groupfs.selection.explained_sentence import write_share
    >>> write_share(0.907), write_share(0.999), write_share(0.004)
    ('90 %', '99 %', 'less than 1 %')
    """
    if share >= ALL:
        return "100 %"
    percent = int(100 * (share + SAME_SHARE))
    return f"{percent} %" if percent else "less than 1 %"
