"""What is selected from a fitted selector's groups, and the order of its features."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.estimators.attributes import GroupAttributes
from groupfs.selection.select import RankedGroups, Request, Selection, select
from groupfs.training.settings import PRESETS, groups_to_select
from groupfs.utils.errors import ParameterError
from groupfs.utils.fitted_selector import features_asked_for
from groupfs.utils.sklearn_compat import validate_parameter_constraints
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import SelectionWarning, warn

if TYPE_CHECKING:
    from groupfs.data.table import Table
    from groupfs.graphs.relatedness import Relatedness
    from groupfs.graphs.sample_graph import SampleGraph

#: Two ways to say how many features.
BUDGETS = ("n_features_to_select", "explain")
#: Parameters that decide what is selected from groups that have been found.
SELECTION_PARAMETERS = (*BUDGETS, "n_groups_to_select", "allocation", "output", "alpha")


class FeatureSelection(GroupAttributes):
    """Selection from groups that have been found, whatever is asked for."""

    n_features_to_select: float | None
    explain: float | None
    n_groups_to_select: int | str | None
    n_neighbors: int
    alpha: float
    preset: str
    feature_order_: IntArray
    explained_: FloatArray
    feature_weights_: FloatArray
    _parameter_constraints: dict[str, list[Any]]

    def select(self, **changes: Any) -> Selection:
        """Select again with other parameters, without another fit.

        Parameters
        ----------
        **changes : n_features_to_select, explain, n_groups_to_select, allocation, output, alpha
            What is to be other than in the fit. A number of features takes the place of
            ``explain``, and the other way round.

        Returns
        -------
        Selection
            ``support`` and ``features`` are the selected features as a mask and as indices,
            ``groups`` the groups they come from as a mask, ``notes`` sentences on rules that had to
            be relaxed. The selector itself stays as it is.

        Examples
        --------
        >>> from groupfs import GroupFS
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> selector = GroupFS(n_groups=4, max_epochs=5, random_state=0).fit(X)
        >>> len(selector.select(n_features_to_select=4).features)
        4
        """
        check_is_fitted(self)
        unknown = sorted(changes.keys() - set(SELECTION_PARAMETERS))
        if unknown:
            raise TypeError(
                f"select() got {', '.join(unknown)}, which the selection does not depend on; it "
                f"takes {', '.join(SELECTION_PARAMETERS)}."
            )
        values = {name: getattr(self, name) for name in SELECTION_PARAMETERS} | changes
        for name, other in (BUDGETS, BUDGETS[::-1]):
            if changes.get(name) is not None and other not in changes:
                values[other] = None
        constraints = {name: self._parameter_constraints[name] for name in values}
        validate_parameter_constraints(constraints, values, caller_name="select")
        refuse_conflicts(values)
        usual_rule, usual_allocation = self._usual
        allocation = values["allocation"] or usual_allocation
        request = Request(
            n_features=features_asked_for(self, values["n_features_to_select"], values["explain"]),
            n_groups=values["n_groups_to_select"],
            usual_rule=usual_rule,
            allocation="explain" if values["explain"] else allocation,
            output=values["output"],
            alpha=values["alpha"],
        )
        return select(self._ranked_groups(self.feature_order_), request)

    @property
    def group_selected_(self) -> BoolArray:
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
        asked = [getattr(self, name) for name in SELECTION_PARAMETERS]
        if getattr(self, "_selected_by", None) != asked:
            self._select()
        return self._group_mask, self._support_mask

    def _select(self) -> None:
        """Select by the parameters as they are, and warn of rules that were relaxed."""
        selection = self.select()
        refuse_too_many(self.n_features_to_select, len(self.feature_order_))
        for note in selection.notes:
            warn(note, SelectionWarning)
        self._group_mask, self._support_mask = selection.groups, selection.support
        self._selected_by = [getattr(self, name) for name in SELECTION_PARAMETERS]

    def _order(
        self,
        table: "Table",
        relatedness: "Relatedness | None",
        seed: int,
        metric: "str | SampleGraph",
    ) -> None:
        """Set the order of the features and what the first of them explain."""
        from groupfs.scoring.smoothness import feature_smoothness
        from groupfs.selection.feature_order import order_features

        d = table.rows.shape[1]
        related, last = np.arange(d), np.zeros(0, dtype=np.int64)
        if relatedness is not None and relatedness.related.any():
            related = np.flatnonzero(relatedness.related)
            last = np.flatnonzero(~relatedness.related)
            last = last[np.argsort(relatedness.p_values[last], kind="stable")]
        weights = np.zeros(d)
        smooth = feature_smoothness(table.rows, related, self.n_neighbors, seed, metric)
        weights[related] = smooth[related] if smooth[related].any() else 1.0
        comes_first = self._first_features(relatedness is not None)[table.columns[related]]
        stages = [related[comes_first], related[~comes_first]]
        found = order_features(table.rows, weights, stages, last)
        self.feature_order_ = table.columns[found.order]
        self.explained_ = found.explained
        self.feature_weights_ = np.zeros(self.n_features_in_)
        self.feature_weights_[table.columns] = found.weights

    def _first_features(self, unrelated_left_out: bool) -> BoolArray:
        """Find features to choose before others: those in groups, (n_features_in_,).

        Where groups hold unrelated features too, those in groups that would be kept.
        """
        if unrelated_left_out:
            return self.group_labels_ >= 0
        request = Request(None, None, self._usual[0], "explain", "features", self.alpha)
        return select(self._ranked_groups(np.zeros(0, dtype=np.int64)), request).support

    @property
    def _usual(self) -> tuple[str, str]:
        """The rule by which groups are kept, and how a budget is spent, where nobody has said."""
        found: tuple[str, str] | None = getattr(self, "_usual_choices", None)
        return self._resolve_usual() if found is None else found

    def _resolve_usual(self) -> tuple[str, str]:
        """Look them up by parameters that count when a fit begins."""
        rule = groups_to_select({**vars(self), "n_groups_to_select": None})
        return str(rule), str(PRESETS[self.preset]["allocation"])

    def _ranked_groups(self, order: IntArray) -> RankedGroups:
        return RankedGroups(
            groups=self.groups_,
            labels=self.group_labels_,
            centrality=self.centrality_,
            representatives=self.representatives_,
            scores=self.group_scores_,
            gates=self.group_gates_,
            p_values=self.group_pvalues_,
            order=order,
            replicates=self._group_replicates,
        )


def refuse_too_many(wanted: float | None, n_features: int) -> None:
    """Refuse a budget of more features than vary."""
    if wanted is not None and wanted > n_features:
        raise ParameterError(
            f"n_features_to_select={wanted} but X has {n_features} features that vary; choose "
            f"at most {n_features}.",
            "n_features_to_select",
        )


def refuse_conflicts(values: dict[str, Any]) -> None:
    """Refuse a share of variance to explain beside what would set the number in another way."""
    if values["explain"] is None:
        return
    clashes = {
        "n_features_to_select": None,
        "n_groups_to_select": None,
        "output": "features",
        "allocation": "explain",
    }
    for name, neutral in clashes.items():
        if values[name] not in (None, neutral, "scores"):
            raise ParameterError(
                f"explain={values['explain']} and {name}={values[name]!r} are both given; explain "
                f"chooses as many features of all groups as it takes, so leave {name} out.",
                "explain",
            )
