"""What both estimators share: the selection from groups that were found, and its frames."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.data.columns import has_kinds
from groupfs.data.learned_columns import LearnedColumns
from groupfs.groups import Groups, Request, Selection, feature_names
from groupfs.notebook import NotebookRepr
from groupfs.result import Result
from groupfs.selection.select import (
    features_asked_for,
    keep_groups,
    refuse_conflicts,
    refuse_too_many,
    select,
)
from groupfs.transform import GroupTransform
from groupfs.utils.errors import ParameterError
from groupfs.utils.sklearn_compat import COUNT, SHARE, parameter, validate_parameter_constraints
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray, TorchDevice
from groupfs.utils.warn import SelectionWarning, warn

if TYPE_CHECKING:
    import pandas
    import torch

    from groupfs.data.table import Table
    from groupfs.preservation import Preservation

#: Two ways to say how many features: the other one, which each takes the place of, and unset.
BUDGETS = {"n_features_to_select": ("explain", "auto"), "explain": ("n_features_to_select", None)}
#: Share of the variance of the related features that is explained where nobody says how much.
USUALLY_EXPLAINED = 0.95


class DeclaredParameters:
    """What scikit-learn checks the parameters of a dataclass by."""

    @property
    def _parameter_constraints(self) -> dict[str, list[Any]]:
        declared = fields(self)  # type: ignore[arg-type]
        return {own.name: own.metadata["allowed"] for own in declared if "allowed" in own.metadata}


@dataclass(eq=False, repr=False, kw_only=True)
class GroupSelector(DeclaredParameters, GroupTransform, NotebookRepr):
    """Base of the estimators, with the parameters that they share; subclasses write ``fit``."""

    n_groups: int | str = parameter("auto", Integral, {"auto"})
    n_features_to_select: float | None = parameter(None, COUNT, SHARE, None)
    n_groups_to_select: int | str | None = parameter(None, COUNT, None)
    n_per_group: int | None = parameter(None, COUNT, None)
    output: str = parameter("features", {"features", "scores"})
    standardize: bool = parameter(True, "boolean")
    device: "str | torch.device" = parameter("auto", str, TorchDevice)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")

    #: Parameters that decide what is selected from groups that have been found.
    _selection_parameters = ["n_features_to_select", "n_groups_to_select", "n_per_group", "output"]

    #: Whether budgets take whole groups until they are covered.
    _covers = False

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        if args:
            raise TypeError(
                f"{cls.__name__}({args[0]!r}) does not say what {args[0]!r} is; parameters are "
                f"given by name: n_groups={args[0]!r} looks for as many groups, "
                f"n_features_to_select={args[0]!r} selects as many features."
            )
        return super().__new__(cls)

    def select(self, **changes: Any) -> Selection:
        """Select again with other parameters, without another fit.

        Parameters
        ----------
        **changes : n_features_to_select, n_groups_to_select, n_per_group, ...
            Parameters of the selection that are to be other than in the fit; ``FeatureGroups`` also
            takes ``explain`` and ``alpha``. A number of features takes the place of
            ``explain``, and the other way round.

        Returns
        -------
        Selection
            ``support`` and ``features`` are the selected features as a mask and as indices,
            ``groups`` those that are kept as a mask, ``notes`` sentences on rules that had to be
            relaxed. The selector itself stays as it is.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> selector = FeatureGroups(random_state=0).fit(X)
        >>> len(selector.select(n_features_to_select=4).features)
        4
        """
        check_is_fitted(self)
        if unknown := sorted(changes.keys() - set(self._selection_parameters)):
            raise TypeError(
                f"select() got {', '.join(unknown)}, which the selection does not depend on; it "
                f"takes {', '.join(self._selection_parameters)}."
            )
        values = {name: getattr(self, name) for name in self._selection_parameters} | changes
        for name, (other, unset) in BUDGETS.items():
            if changes.get(name) not in (None, "auto") and other in values and other not in changes:
                values[other] = unset
        constraints = {name: self._parameter_constraints[name] for name in values}
        validate_parameter_constraints(constraints, values, caller_name="select")
        refuse_conflicts(values)
        n_features, n_groups = values["n_features_to_select"], values["n_groups_to_select"]
        output, explain = values["output"], values.get("explain")
        is_default = explain == "auto" and n_features is None and n_groups is None
        is_default &= values["n_per_group"] is None
        share = USUALLY_EXPLAINED if is_default else None if explain == "auto" else explain
        asked = Request(
            n_features=features_asked_for(n_features, share, self.explained_),
            n_groups=n_groups,
            output=output,
            n_per_group=values["n_per_group"],
            alpha=values.get("alpha", 1.0),
            explain=share,
            is_default=is_default,
            among_related=getattr(self, "relatedness_pvalues_", None) is not None,
            covers=self._covers,
        )
        return select(Groups.of(self), self.feature_order_, asked)

    def towards(self, *features: Any) -> Self:
        """Return a fitted copy whose groups run in the direction of some of their features.

        By default a group runs in the direction of its most central feature. Scores and signs of
        the group are turned, at every level, and the group is called after the feature, which
        represents it; other features stay selected as they were.

        Parameters
        ----------
        *features : str or int
            Names or places of features that are not to be reversed, at most one for each group.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> FeatureGroups(random_state=0).fit(-X).towards(0).group_signs_[:5].tolist()
        [1, 1, 1, 1, 1]
        """
        check_is_fitted(self)
        names, other = feature_names(self), copy.copy(self)
        places = {name: i for i, name in enumerate(names)} | {i: i for i in range(len(names))}
        for feature in features:
            if feature not in places:
                raise ParameterError(
                    f"there is no feature {feature!r} to run towards.", "direction"
                )
            i = places[feature]
            if self.group_labels_[i] < 0:
                raise ParameterError(
                    f"{names[i]} is in no group, so none can run towards it; name a feature that "
                    "is in one.",
                    "direction",
                )
            other._turn_towards(i)
        # as representatives other features may be selected
        other.__dict__.pop("_selected_by", None)
        asked = [names[places[of]] for of in features]
        if against := [name for name in asked if other.group_signs_[places[name]] < 0]:
            raise ParameterError(
                f"{join_names(against)} and another of {join_names(asked)} are in one group and "
                "run against each other; name one of them.",
                "direction",
            )
        return other

    def _turn_towards(self, feature: int) -> None:
        """Turn the group of a feature round if the feature is reversed."""
        self._set_groups(Groups.of(self).towards(feature, self.feature_kinds_ == "number"))

    def check(self, X: Any) -> "Preservation":
        """Say whether the groups hold in other rows, without another fit.

        Another cohort, another batch, next year's survey: every group of every level is compared
        with the rows of the fit. It is *preserved* if its features still go together about as much
        and in the same pattern, *weaker* if they do less (surely, and below three quarters), and
        *gone* if no more than shuffled columns do, or surely less than a quarter as much.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Other rows, 20 or more; of more than 5,000 as many are looked at, picked at random. A
            DataFrame with names of text may have its columns in another order, others beside, and
            lack some.

        Returns
        -------
        Preservation
            Prints as a table; ``to_frame()`` has a row for each group, ``features_frame()`` one for
            each feature: whether it holds, is lost, reversed or missing, and where it is now.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(200, random_state=0).data
        >>> held = FeatureGroups(random_state=0).fit(X[:100]).check(X[100:])
        >>> held.to_frame()["verdict"].tolist()
        ['preserved', 'preserved']
        """
        from groupfs.preservation import check_groups

        check_is_fitted(self)
        return check_groups(self, X)

    def to_frame(self, *, wording: Mapping[str, str] | None = None) -> "pandas.DataFrame":
        """Return what was found as a table, one row for each feature.

        Parameters
        ----------
        wording : mapping or None, default=None
            What features say, by name, such as the questions of a survey; a column beside the name.

        Returns
        -------
        pandas.DataFrame
            Largest group first, and in it the most central feature; features in no group come last.
            ``group`` counts from 1 (or is the group's name, where groups were given) and is missing
            for features in none, ``representative`` is the group's most central feature,
            ``centrality`` is negative for features that are reversed; ``item_rest`` is the
            correlation with the sum of the others of the group; ``replication`` and ``p_adjusted``
            are the group's, NaN where they were not looked at; ``selected`` is as in
            ``get_support``, and ``why`` says why in a sentence. ``loading_1`` and so on are the
            loadings on every group, of up to 60: what a feature has of each beside the others.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> FeatureGroups(random_state=0).fit(X).to_frame().columns[:4].tolist()
        ['feature', 'group', 'rank', 'representative']
        """
        return Result.of(self, wording=wording).to_frame()

    def groups_frame(self, *, wording: Mapping[str, str] | None = None) -> "pandas.DataFrame":
        """Return what was found as a table, one row for each group.

        Parameters
        ----------
        wording : mapping or None, default=None
            What features say, by name; a column beside the representative.

        Returns
        -------
        pandas.DataFrame
            Largest group first: ``size``, ``representative``, whether it is ``kept`` and ``why``,
            Cronbach's ``alpha`` and McDonald's ``omega`` of the sum of its standardised features,
            reversed ones turned, with intervals of 95 %, mean and deviation of the scores, with
            ``n_per_group`` the correlation of the short with the full score (``short_r``) and the
            alpha of the short form (``short_alpha``), ``replication`` in halves of the rows,
            ``p_adjusted``, and ``smoothness``. Of up to 60
            groups ``r_1`` and so on are the correlations of the scores with those of every group,
            ``r_disattenuated_1`` and so on these divided by the roots of both omegas: what they
            would be without the items' own noise. Groups of over 100 features have no omega.
        """
        return Result.of(self, wording=wording).groups_frame()

    @property
    def group_kept_(self) -> BoolArray:  # type: ignore[override]
        """Which groups are kept, (n_groups_,)."""
        check_is_fitted(self)
        try:
            return self._selected()[0]
        except ValueError as reason:  # what is not there must not break those who list attributes
            raise AttributeError(str(reason)) from reason

    def _get_support_mask(self) -> BoolArray:
        return self._selected()[1]

    def _selected(self) -> tuple[BoolArray, BoolArray]:
        """Return groups and features, selected again if a parameter was set after the fit."""
        check_is_fitted(self)
        asked = [getattr(self, name) for name in self._selection_parameters]
        if self.__dict__.get("_selected_by") != asked:
            self._select()
        return self._group_mask, self._support_mask

    def _select(self) -> None:
        """Select by the parameters as they are, and warn of rules that were relaxed."""
        selection = self.select()
        refuse_too_many(self.n_features_to_select, len(self.feature_order_))
        for note in selection.notes:
            warn(note, SelectionWarning)
        self._group_mask, self._support_mask = selection.groups, selection.support
        self._selected_by = [getattr(self, name) for name in self._selection_parameters]

    def _set_groups(self, found: Groups) -> None:
        self.n_groups_, self.groups_ = len(found), found.members
        self.group_labels_, self.group_signs_ = found.labels, found.signs
        self.centrality_, self.representatives_ = found.centrality, found.representatives
        self.group_smoothness_, self._items = found.smoothness, found.items

    def _rank(
        self, X: Any, table: "Table", smoothness: FloatArray, last: IntArray, kept_first: bool
    ) -> None:
        """Learn what new rows are measured by, and order the features.

        Features in groups come first, with ``kept_first`` those of groups that are kept where
        nobody says how many; ``last`` are those of the table that come last.
        """
        from groupfs.selection.feature_order import rank_features

        # what transform returns must not depend on other tables
        self._has_kinds = hasattr(X, "columns") and has_kinds(X)
        self._learned_columns = vars(LearnedColumns(table.means, table.deviations))
        comes_first = self.group_labels_ >= 0
        if kept_first:
            kept = keep_groups(Groups.of(self), None, getattr(self, "alpha", 1.0))[0]
            comes_first = np.append(kept, False)[self.group_labels_]
        ranking = rank_features(table, comes_first, smoothness, last)
        self.feature_order_, self.explained_ = ranking.order, ranking.explained
        self.feature_weights_, self.explained_held_out_ = ranking.weights, ranking.held_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def derive_seeds(random_state: np.random.RandomState, n_seeds: int) -> list[int]:
    """Derive seeds that depend only on their index: the first stay when more are drawn."""
    root = int(random_state.randint(np.iinfo(np.int32).max))
    children = np.random.SeedSequence(root).spawn(n_seeds)
    return [int(child.generate_state(1)[0]) for child in children]
