"""How selectors look in notebooks: scikit-learn's diagram, and the groups once there are any.

Alone, a selector has its groups below the diagram. As a step of a pipeline or of a grid search it
says under its name how much is kept, and the groups unfold with its parameters.
"""

import copy
from typing import Any

from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from groupfs.utils.sklearn_compat import single_block


class NotebookRepr(BaseEstimator):
    """The HTML that notebooks show of a selector."""

    metric: Any
    _is_drawn_alone = False

    def _repr_html_inner(self) -> str:
        """Draw scikit-learn's diagram, and below it the groups."""
        drawn = copy.copy(self)
        drawn._is_drawn_alone = True
        return str(super(NotebookRepr, drawn)._repr_html_inner()) + self._groups_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _sk_visual_block_(self) -> Any:
        """Tell scikit-learn's diagram what to write on the box of a step."""
        caption = None
        if not self._is_drawn_alone and hasattr(self, "group_selected_"):
            from groupfs.estimators.notebook_view import kept_sentence

            caption = kept_sentence(self)
        return single_block(self, caption)

    def _get_params_html(self, *args: Any, **kwargs: Any) -> Any:
        """List the parameters for the diagram, after the groups where the selector is a step."""
        drawn = self
        if issparse(self.metric):  # scikit-learn compares it with the default, which scipy refuses
            drawn = copy.copy(self)
            drawn.metric = repr(self.metric)
        listed = super(NotebookRepr, drawn)._get_params_html(*args, **kwargs)
        return listed if self._is_drawn_alone else _AfterGroups(self._groups_html(), listed)

    def _groups_html(self) -> str:
        """Draw the groups; nothing before a fit, or while parameters contradict each other."""
        if not hasattr(self, "group_selected_"):
            return ""
        from groupfs.estimators.notebook_view import groups_html

        return groups_html(self)


class _AfterGroups:
    """Parameters as the diagram asks for them, the groups before them."""

    def __init__(self, groups: str, listed: Any) -> None:
        self.groups, self.listed = groups, listed

    def _repr_html_inner(self) -> str:
        return self.groups + str(self.listed._repr_html_inner())
