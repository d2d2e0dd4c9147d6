"""Fitted selectors in files that cannot run code: skops with a list of trusted types, no pickle."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

from groupfs.files.columns import Preparation
from groupfs.utils.packages import import_optional
from groupfs.utils.text import join_names, one_line

FORMAT, VERSION = "groupfs-model", 10
NEEDS_SKOPS = 'Model files need skops; install it with pip install "groupfs[io]".'
#: Names in ``groupfs`` of the estimators that a model may be.
SELECTORS = ("FeatureGroups", "GroupFS", "GroupFSPath")
#: Besides the types of numpy, scipy and scikit-learn that skops trusts, a model may hold these.
TRUSTED = (
    *(f"groupfs.{name}" for name in (*SELECTORS, "GroupPath", "Level")),
    # a graph of the samples given as metric
    *("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"),
)


class ModelError(ValueError):
    """A file that is absent, broken or no model; the message is one sentence for people."""

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence))


def save(
    selector: Any, path: str | os.PathLike[str], *, preparation: Preparation | None = None
) -> None:
    """Write a fitted selector to a file.

    Parameters
    ----------
    selector : fitted estimator of this package
    path : str or path-like
        Where to; by custom it ends in ``.skops``.
    preparation : Preparation or None
        Which columns of a file were used, and as what; :func:`load_model` gives it back.

    Examples
    --------
    >>> import tempfile
    >>> from groupfs import FeatureGroups, persistence
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(100, random_state=0).data
    >>> selector = FeatureGroups(random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     persistence.save(selector, f"{folder}/model.skops")
    ...     loaded = persistence.load(f"{folder}/model.skops")
    >>> bool((loaded.transform(X) == selector.transform(X)).all())
    True
    """
    Path(path).write_bytes(dumps(selector, preparation=preparation))


def dumps(selector: Any, *, preparation: Preparation | None = None) -> bytes:
    """Return what :func:`save` writes, for files of other formats that hold a selector."""
    _check_selector(selector)
    # one string of json: thousands of columns would be thousands of entries otherwise
    columns = None if preparation is None else json.dumps(preparation.to_dict())
    model = {"format": FORMAT, "version": VERSION, "selector": selector, "columns": columns}
    data: bytes = _skops().dumps(model, compression=zipfile.ZIP_DEFLATED)
    if untrusted := _untrusted_types(data):
        raise ModelError(
            f"the selector holds {join_names(untrusted)}, which a model file may not; give its "
            'parameters as plain values, e.g. device="cuda" and an integer random_state.'
        )
    return data


def load(path: str | os.PathLike[str]) -> Any:
    """Read a selector that :func:`save` wrote. Nothing in the file is executed.

    Raises
    ------
    ModelError
        If the file is no such model, or holds types other than a model's.
    """
    return load_model(path)[0]


def loads(data: bytes, name: str = "the model") -> Any:
    """Read a selector from what :func:`dumps` gave; ``name`` is what errors call it."""
    return _read_model(data, name)[0]


def load_model(path: str | os.PathLike[str]) -> tuple[Any, Preparation | None]:
    """Read a selector, and which columns of a file it was fitted on and as what."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as reason:
        raise ModelError(f"There is no file {path}; check the spelling.") from reason
    return _read_model(data, str(path))


def _read_model(data: bytes, name: str) -> tuple[Any, Preparation | None]:
    skops = _skops()
    try:
        if untrusted := _untrusted_types(data):
            raise ModelError(
                f"{name} holds {join_names(untrusted, 3)}, which no model of this groupfs does, so "
                "it was not loaded; fit it again, or upgrade groupfs if a newer one wrote it."
            )
        model = skops.loads(data, trusted=list(TRUSTED))
        if model["format"] != FORMAT:
            raise ModelError(f"{name} is not a model that groupfs wrote.")
        if model["version"] != VERSION:
            raise ModelError(
                f"{name} is of model version {model['version']}, but this groupfs reads version "
                f"{VERSION}; fit it again, or upgrade groupfs if a newer one wrote it."
            )
        _check_selector(model["selector"])
        columns = model["columns"]
        return model["selector"], columns and Preparation.from_dict(json.loads(columns))
    except ModelError:
        raise
    except Exception as reason:  # a damaged file may fail in any way
        what = str(reason).strip().rstrip(".") or type(reason).__name__
        sentence = f"{name} is broken or not a model that groupfs wrote ({what})."
        raise ModelError(sentence) from reason


def _untrusted_types(data: bytes) -> list[str]:
    """Return the names of types in a file that neither skops nor we trust; none is imported."""
    return sorted(set(_skops().get_untrusted_types(data=data)) - set(TRUSTED))


def _check_selector(selector: Any) -> None:
    from sklearn.utils.validation import check_is_fitted

    import groupfs

    if not isinstance(selector, tuple(getattr(groupfs, name) for name in SELECTORS)):
        kinds = " or ".join(SELECTORS)
        raise ModelError(f"{type(selector).__name__} is no {kinds}, so it is no model of groupfs.")
    check_is_fitted(selector)


def _skops() -> Any:
    return import_optional("skops.io", NEEDS_SKOPS)
