"""What both estimators share: the selection from groups that were found, and its frames."""

from dataclasses import dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.data.columns import has_kinds
from groupfs.data.learned_columns import LearnedColumns
from groupfs.groups import Groups, Request, Selection
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
from groupfs.utils.sklearn_compat import (
    COUNT,
    Interval,
    RealNotInt,
    StrOptions,
    parameter,
    validate_parameter_constraints,
)
from groupfs.utils.types import BoolArray, FloatArray, IntArray, TorchDevice
from groupfs.utils.warn import SelectionWarning, warn

if TYPE_CHECKING:
    import pandas
    import torch

    from groupfs.data.table import Table

SHARE_BELOW_ONE = Interval(RealNotInt, 0, 1, closed="neither")
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

    n_groups: int | str = parameter("auto", Integral, StrOptions({"auto"}))
    n_features_to_select: float | None = parameter(None, COUNT, SHARE_BELOW_ONE, None)
    n_groups_to_select: int | str | None = parameter(None, COUNT, None)
    output: str = parameter("features", StrOptions({"features", "representatives", "scores"}))
    standardize: bool = parameter(True, "boolean")
    device: "str | torch.device" = parameter("auto", str, TorchDevice)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")

    #: Parameters that decide what is selected from groups that have been found.
    _selection_parameters = ["n_features_to_select", "n_groups_to_select", "output"]

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
        **changes : n_features_to_select, n_groups_to_select, output, ...
            Parameters of the selection that are to be other than in the fit; ``FeatureGroups`` also
            takes ``explain`` and ``alpha``. A number of features takes the place of
            ``explain``, and the other way round.

        Returns
        -------
        Selection
            ``support`` and ``features`` are the selected features as a mask and as indices,
            ``groups`` the groups they come from as a mask, ``notes`` sentences on rules that had to
            be relaxed. The selector itself stays as it is.

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
        unknown = sorted(changes.keys() - set(self._selection_parameters))
        if unknown:
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
        is_default &= output != "representatives"
        share = USUALLY_EXPLAINED if is_default else None if explain == "auto" else explain
        asked = Request(
            n_features=features_asked_for(n_features, share, self.explained_),
            n_groups=n_groups,
            output=output,
            alpha=values.get("alpha", 1.0),
            explain=share,
            is_default=is_default,
            among_related=getattr(self, "relatedness_pvalues_", None) is not None,
            covers=self._covers,
        )
        found = Groups.of(self)
        return select(found, self.feature_order_, asked)

    def to_frame(self) -> "pandas.DataFrame":
        """Return what was found as a table, one row for each feature.

        Returns
        -------
        pandas.DataFrame
            Most important group first, and in it the most central feature; features in no group
            come last. ``group`` counts from 1 (or is the group's name, where groups were given) and
            is missing for features in none, ``representative`` is the group's most central feature,
            ``centrality`` is negative for features that are reversed; ``replication`` and
            ``p_adjusted`` are the group's, NaN where they were not looked at; ``selected`` is as in
            ``get_support``, and ``why`` says why in a sentence.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> FeatureGroups(random_state=0).fit(X).to_frame().columns[:4].tolist()
        ['feature', 'group', 'rank', 'representative']
        """
        return Result.of(self).to_frame()

    def groups_frame(self) -> "pandas.DataFrame":
        """Return what was found as a table, one row for each group.

        Returns
        -------
        pandas.DataFrame
            Most important group first: ``size``, ``representative``, whether it is ``kept`` and
            ``why``, ``replication`` in halves of the rows, ``p_adjusted`` and ``smoothness``.
        """
        return Result.of(self).groups_frame()

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
        self.group_smoothness_ = found.smoothness

    def _rank(
        self, X: Any, table: "Table", smoothness: FloatArray, last: IntArray, kept_first: bool
    ) -> None:
        """Learn what new rows are measured by, and order the features.

        Features in groups come first, with ``kept_first`` those of groups that are kept where
        nobody says how many; ``last`` are those of the table that come last.
        """
        from groupfs.selection.feature_order import rank_features

        learned = LearnedColumns(table.means, table.deviations)
        # what transform returns must not depend on other tables
        self._has_kinds = hasattr(X, "columns") and has_kinds(X)
        self._learned_columns = vars(learned)
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
