"""Fitted selectors in files that cannot run code: skops with a list of trusted types, no pickle."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

from groupfs.columns import Preparation
from groupfs.tables import TableError
from groupfs.tables.content import refuse_bomb

FORMAT, VERSION = "groupfs-model", 1
#: Besides the types of numpy and scikit-learn that skops trusts, a model may hold these alone.
TRUSTED = (
    "groupfs.estimator.GroupFS",
    "groupfs.path.GroupFSPath",
    "groupfs.path.GroupPath",
    "groupfs.stability.Stability",
    "scipy.sparse._csr.csr_array",  # memberships, where few of each feature are kept
)


class ModelError(ValueError):
    """A file that is absent, broken or no model; the message is one sentence for people."""


def save(
    selector: Any, path: str | os.PathLike[str], *, preparation: Preparation | None = None
) -> None:
    """Write a fitted selector to a file.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    path : str or path-like
        Where to; by custom it ends in ``.skops``.
    preparation : Preparation or None
        What was done to the columns of a file before, so that :func:`load_model` can do it to
        another.

    Examples
    --------
    >>> import tempfile
    >>> from groupfs import GroupFS, persistence
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(100, random_state=0).data
    >>> selector = GroupFS(n_groups=4, max_epochs=5, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     persistence.save(selector, f"{folder}/model.skops")
    ...     loaded = persistence.load(f"{folder}/model.skops")
    >>> bool((loaded.transform(X) == selector.transform(X)).all())
    True
    """
    skops = _skops_io()
    _refuse_unfit(selector, preparation)
    # one string of json: thousands of columns would be thousands of entries otherwise
    columns = None if preparation is None else json.dumps(preparation.to_dict())
    model = {"format": FORMAT, "version": VERSION, "selector": selector, "columns": columns}
    data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
    strange = sorted(set(skops.get_untrusted_types(data=data)) - set(TRUSTED))
    if strange:
        raise ModelError(
            f"the selector holds {', '.join(strange)}, which a model file may not; give its "
            'parameters as plain values, e.g. device="cuda" and an integer random_state.'
        )
    Path(path).write_bytes(data)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a selector that :func:`save` wrote. Nothing in the file is executed.

    Raises
    ------
    ModelError
        If the file is no such model, or holds types other than a model's.
    """
    return load_model(path)[0]


def load_model(path: str | os.PathLike[str]) -> tuple[Any, Preparation | None]:
    """Read a selector and what is to be done to the columns of a file before it is used."""
    skops = _skops_io()
    data = _read(Path(path))
    _refuse_bomb(data, path)
    try:
        model = skops.loads(data, trusted=list(TRUSTED))
    except Exception as reason:  # a file that was made to do harm may fail in any way
        raise ModelError(_why_not(skops, path, data, reason)) from reason
    if not isinstance(model, dict) or model.get("format") != FORMAT:
        raise ModelError(f"{path} is not a model that groupfs wrote.")
    version = model.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ModelError(
            f"{path} was written by a newer groupfs (model version {version}, here {VERSION}); "
            "upgrade groupfs to read it."
        )
    try:
        if version != VERSION:
            raise ValueError(f"version {version!r}")
        stored = model["columns"]
        preparation = None if stored is None else Preparation.from_dict(json.loads(stored))
        _refuse_unfit(model["selector"], preparation)
    except Exception as reason:  # parts of any type may be in a file that others made
        why = " ".join(str(reason).split()).rstrip(".")
        raise ModelError(f"{path} is not a whole model of groupfs ({why}).") from reason
    return model["selector"], preparation


def _refuse_unfit(selector: Any, preparation: Preparation | None) -> None:
    """A model is a fitted selector of ours, and the columns it was fitted to if it has any."""
    from sklearn.utils.validation import check_is_fitted

    from groupfs import GroupFS, GroupFSPath

    if not isinstance(selector, GroupFS | GroupFSPath):
        raise ModelError(f"{type(selector).__name__} is neither GroupFS nor GroupFSPath.")
    check_is_fitted(selector)
    n_features = len(selector.get_support())
    n_prepared = n_features if preparation is None else len(preparation.names)
    if not n_features == n_prepared == selector.n_features_in_:
        raise ModelError(
            f"The selector was fitted to {selector.n_features_in_} features, but the preparation "
            f"makes {n_prepared}."
        )


def _refuse_bomb(data: bytes, path: str | os.PathLike[str]) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            refuse_bomb(archive, len(data), str(path))
    except TableError as reason:
        raise ModelError(str(reason)) from reason
    except (OSError, ValueError, zipfile.BadZipFile):
        return  # skops says what is wrong with it


def _skops_io() -> Any:
    try:
        import skops.io
    except ImportError as reason:
        raise ImportError(
            'Model files need skops; install it with pip install "groupfs[io]".'
        ) from reason
    return skops.io


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as reason:
        raise ModelError(f"There is no file {path}; check the spelling.") from reason
    except OSError as reason:
        raise ModelError(f"{path} cannot be read: {reason.strerror}.") from reason


def _why_not(skops: Any, path: str | os.PathLike[str], data: bytes, reason: Exception) -> str:
    try:
        strange = sorted(set(skops.get_untrusted_types(data=data)) - set(TRUSTED))
    except Exception:
        strange = []
    if strange:
        return (
            f"{path} holds {', '.join(strange[:3])}, which no groupfs model does, so it was not "
            "loaded."
        )
    what = str(reason).strip().splitlines()[0] if str(reason).strip() else type(reason).__name__
    return f"{path} is broken or not a model that groupfs wrote ({what.rstrip('.')})."
