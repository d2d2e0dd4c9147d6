"""The base of the estimators: checked settings, fitted attributes, the selection.

What needs torch is imported inside the methods of a fit: estimators can be made without it.
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.data.id_columns import warn_of_ids
from groupfs.data.kinds import has_kinds
from groupfs.data.memory_plan import PER_PRODUCT
from groupfs.estimators.answer_columns import warn_of_answers
from groupfs.estimators.feature_selection import refuse_conflicts, refuse_too_many
from groupfs.estimators.group_transform import GroupTransform
from groupfs.estimators.notebook_repr import NotebookRepr
from groupfs.graphs.sample_graph import METRICS, check_metric
from groupfs.training.settings import PRESETS, Settings, is_signed
from groupfs.utils.errors import ParameterError
from groupfs.utils.sklearn_compat import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    check_feature_names_in,
)
from groupfs.utils.text import format_bytes
from groupfs.utils.types import TorchDevice
from groupfs.utils.warn import SelectionWarning, warn

if TYPE_CHECKING:
    import pandas

    from groupfs.data.table import Table
    from groupfs.graphs.relatedness import Relatedness

#: Features of which all pairs are looked at to find those that go with none.
MOST_RELATED = 20_000
#: Features that go with others, at least, for each group that was asked for: where they are fewer
#: the number counts groups of the other features, too.
FEATURES_PER_GROUP = 4


class GroupSelector(GroupTransform, NotebookRepr):
    """Base of ``GroupFS`` and ``GroupFSPath``; subclasses write ``__init__`` and ``fit``."""

    metric: Any

    _parameter_constraints: dict[str, list[Any]] = {
        "n_groups": [Integral, StrOptions({"auto", "replication", "distortion"})],
        "smoothness_weight": [Interval(Real, 1e-6, 1e6, closed="both"), StrOptions({"auto"})],
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "explain": [Interval(Real, 0, 1, closed="right"), None],
        "allocation": [StrOptions({"explain", "spread", "whole"}), None],
        "n_groups_to_select": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"significant", "open"}),
            None,
        ],
        "signed": ["boolean", None],
        "similarity": [
            StrOptions({"correlation", "rank", "distance", "mutual_information"}),
            callable,
        ],
        "metric": [
            StrOptions(set(METRICS)),
            "array-like",
            "sparse matrix",
            HasMethods("kneighbors_graph"),
        ],
        "keep_unrelated": ["boolean", None],
        "learn_memberships": ["boolean", None],
        "output": [StrOptions({"features", "representatives", "scores"})],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "preset": [StrOptions(set(PRESETS))],
        "bandwidth_gradient": [StrOptions({"exact", "detached"}), None],
        "gate_start": [StrOptions({"excess", "uniform"}), None],
        "start_temperature": [Interval(Real, 0, None, closed="neither"), None],
        "end_temperature": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 2, None, closed="left"), None],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "early_stopping": ["boolean", None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "feature_neighbors": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"all"}),
            None,
        ],
        "diffusion_steps": [Interval(Integral, 1, None, closed="left")],
        "gate_noise": [Interval(Real, 0.2, 2, closed="both")],
        "standardize": ["boolean"],
        "device": [str, TorchDevice],
        "max_memory": [Interval(Real, 0, None, closed="neither"), str, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def to_frame(self, input_features: Any = None) -> "pandas.DataFrame":
        """Return what was found as a table, one row for each feature.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; None takes those that ``fit`` has seen, else x0, x1, ...

        Returns
        -------
        pandas.DataFrame
            Most important group first, and in it the most central feature; features in no group
            come last. ``group`` counts from 1 (or is the group's name, where groups were given) and
            is missing for features in none, ``representative`` is the group's most central feature,
            ``centrality`` is negative for features that run against it; ``reliability`` and
            ``p_adjusted`` are the group's, NaN where they were not looked at; ``selected`` is as in
            ``get_support``, and ``why`` says why in a sentence.

        Examples
        --------
        >>> from groupfs import GroupFS
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> frame = GroupFS(n_groups=4, max_epochs=5, random_state=0).fit(X).to_frame()
        >>> frame.columns[:4].tolist()
        ['feature', 'group', 'representative', 'centrality']
        """
        from groupfs.estimators.feature_frame import feature_frame

        check_is_fitted(self)
        return feature_frame(self, check_feature_names_in(self, input_features).tolist())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _open_table(self, X: Any) -> "Table":
        """Check and standardise X, whatever it is."""
        from groupfs.data.feature_rows import FeatureRows
        from groupfs.data.open_table import open_table

        linear = self.similarity in ("correlation", "rank")
        if not linear and is_signed(self.get_params(deep=False)):
            raise ParameterError(
                f"similarity={self.similarity!r} has no sign; leave signed at None or False.",
                "signed",
            )
        table = open_table(
            self,
            X,
            self.standardize,
            self.max_memory,
            self.n_init,
            bool(self.verbose),
            any_kind=True,
            similarity=self.similarity,
        )
        warn_of_ids(X)
        warn_of_answers(X)
        self._usual_choices = self._resolve_usual()
        self.feature_kinds_ = np.array(table.kinds or ["number"] * len(table.names))
        self._has_kinds = has_kinds(X)  # what transform returns must not depend on other tables
        if isinstance(table.rows, FeatureRows) and self._metric_is_rank:
            table = replace(table, rows=table.rows.ranked())
        return table

    def _learn_columns(self, X: Any, table: "Table") -> None:
        """Remember what scores of new rows need of the columns."""
        from groupfs.data.learned_columns import learn_columns

        found = learn_columns(X, table, self.group_labels_, self.group_signs_)
        self._learned_columns = vars(found)

    @property
    def _metric_is_rank(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "rank"

    def _relatedness(self, table: "Table", settings: Settings, seed: int) -> "Relatedness | None":
        """Measure which features go with others; None where all features shall take part."""
        from groupfs.graphs.relatedness import measure_relatedness

        self.relatedness_pvalues_ = None
        if settings.keep_unrelated or table.rows.shape[1] > MOST_RELATED:
            return None
        found = measure_relatedness(table.rows, seed)
        self.relatedness_pvalues_ = np.full(self.n_features_in_, np.nan)
        self.relatedness_pvalues_[table.columns] = found.p_values
        n_related = int(found.related.sum())
        most = 0 if isinstance(self.n_groups, str) else int(np.max(self.n_groups))
        if n_related < FEATURES_PER_GROUP * most:
            warn(
                f"n_groups={most} but only {n_related} features go with others beyond chance; "
                "groups were looked for among all features.",
                SelectionWarning,
            )
            return None
        return found

    def _settings(self, table: "Table") -> Settings:
        """Fill in presets, and check the parameters against the size of the table."""
        n_samples, n_features = table.rows.shape
        for n_groups in [] if isinstance(self.n_groups, str) else np.atleast_1d(self.n_groups):
            if not 2 <= n_groups < max(n_features, 3):
                raise ParameterError(
                    f"n_groups={n_groups} but X has {n_features} features that vary; a group needs "
                    f"at least one feature, so choose 2 <= n_groups <= {n_features - 1} or "
                    '"auto".',
                    "n_groups",
                )
        refuse_conflicts(self.get_params(deep=False))
        refuse_too_many(self.n_features_to_select, n_features)
        plan = table.rows.plan
        most_rows = None if plan is None else int(plan.batch_rows)
        most_dense = None if plan is None else int(np.sqrt(2 * plan.slab_bytes / PER_PRODUCT))
        parameters = self.get_params(deep=False)
        parameters["metric"] = check_metric(self.metric, n_samples)
        if table.rows.owner is not None and self._metric_is_rank:  # numbers are ranks already
            parameters["metric"] = "euclidean"
        settings = Settings.resolve(parameters, n_samples, n_features, most_rows, most_dense)
        self._refuse_too_large(table, settings)
        if self.end_temperature > settings.start_temperature:
            raise ParameterError(
                f"end_temperature={self.end_temperature} is above start_temperature="
                f"{settings.start_temperature}; temperatures fall, so choose a lower end.",
                "end_temperature",
            )
        fewest = min(settings.batch_size, n_samples)
        if self.n_neighbors >= fewest:
            warn(
                f"n_neighbors={self.n_neighbors} but a batch has {fewest} samples; the graph uses "
                f"{fewest - 1} neighbours instead."
            )
            settings = replace(settings, n_neighbors=fewest - 1)
        return settings

    def _refuse_too_large(self, table: "Table", settings: Settings) -> None:
        """Refuse what was asked for and does not fit beside a streamed table."""
        plan = table.rows.plan
        n_samples, d = table.rows.shape
        if plan is None:
            return
        if min(settings.batch_size, n_samples) > plan.batch_rows:
            raise ParameterError(
                f"batch_size={self.batch_size} does not fit into memory beside the rest; rows of "
                f"{d:,} features allow {plan.batch_rows}: lower it or raise max_memory.",
                "batch_size",
            )
        needed = PER_PRODUCT * d**2
        if settings.feature_neighbors is None and needed > 2 * plan.slab_bytes:
            raise ParameterError(
                f'a feature graph with all neighbours (feature_neighbors="all") of {d:,} features '
                f"takes about {format_bytes(needed)}, more than max_memory leaves; set "
                "feature_neighbors=50 or raise max_memory.",
                "feature_neighbors",
            )
