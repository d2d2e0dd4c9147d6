"""Trainings that are remembered: fits that differ in what they select from one share it.

A grid of budgets trains once for each fold, as the transformers of a Pipeline with ``memory`` are
fitted once. What is remembered is the fitted state; the selection is made anew from it.
"""

import pickle
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_memory

from groupfs import __version__
from groupfs.data.block_sources import is_lazy
from groupfs.training.settings import PRESETS, groups_to_select
from groupfs.utils.errors import ParameterError

#: Parameters that play no part before groups are found, ordered and described, at values that
#: stand for all; the level alpha may, where unrelated features are in groups.
NEUTRAL: dict[str, Any] = {
    "n_features_to_select": None,
    "explain": None,
    "allocation": None,
    "output": "features",
    "memory": None,
    "verbose": 0,
}


def train_or_recall(selector: Any, X: Any) -> None:
    """Give a selector the state that training on X gives, from its memory if that has it."""
    if selector.memory is None:
        selector._train(X)
        return
    if not isinstance(selector.random_state, Integral):
        raise ParameterError(
            f"memory={selector.memory!r} but random_state={selector.random_state!r}: every fit "
            "would draw other seeds, so none could be remembered; set random_state to a number.",
            "memory",
        )
    if is_lazy(X) and not isinstance(X, np.memmap):
        raise ParameterError(
            f"memory={selector.memory!r} but X is {type(X).__name__}, read from elsewhere: whether "
            "it has changed since cannot be told; load it, or leave memory out.",
            "memory",
        )
    parameters = selector.get_params(deep=False)
    shared = {**parameters, **NEUTRAL, "n_groups_to_select": _kind_of_rule(parameters)}
    train = check_memory(selector.memory).cache(_trained_state, ignore=["verbose"])
    try:
        state = train(type(selector)(**shared), X, __version__, selector.verbose)
    except pickle.PicklingError as reason:
        raise ParameterError(
            f"memory={selector.memory!r} but X or a parameter cannot be hashed, as no lambda can; "
            "give functions of a module, or leave memory out.",
            "memory",
        ) from reason
    vars(selector).pop("feature_names_in_", None)  # X may have none this time
    vars(selector).update(state)


def _trained_state(selector: Any, X: Any, version: str, verbose: int) -> dict[str, Any]:
    """Train a selector and return what that has set; another version may find something else."""
    parameters = selector.get_params(deep=False)
    selector.verbose = verbose
    selector._train(X)
    return {name: value for name, value in vars(selector).items() if name not in parameters}


def _kind_of_rule(parameters: dict[str, Any]) -> str:
    """Return what of the rule for groups matters in training: a number is like one of the words.

    Groups are compared with chance and models trained from several seeds as it asks for.
    """
    rule = groups_to_select(parameters)
    if isinstance(rule, str):
        return rule
    ranking = parameters["ranking"] or PRESETS[parameters["preset"]]["ranking"]
    return "significant" if ranking == "excess" else "open"
