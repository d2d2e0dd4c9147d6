"""Fitted selectors in files that cannot run code: skops with a list of trusted types, no pickle."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables import TableError
from groupfs.tables.columns import Preparation
from groupfs.tables.file_content import most_bytes, refuse_bomb
from groupfs.tables.numpy_and_matlab import check_array
from groupfs.utils.text import one_line

FORMAT, VERSION = "groupfs-model", 2
#: Besides the types of numpy and scikit-learn that skops trusts, a model may hold these alone.
TRUSTED = (
    "groupfs.GroupFS",
    "groupfs.GroupFSPath",
    "groupfs.GroupPath",
    "groupfs.Stability",
    "scipy.sparse._csr.csr_array",  # memberships, where few of each feature are kept
)


#: The parts a model is made of, by the names skops gives them, and the types each may be of. skops
#: trusts many more, and what it makes of them may change from version to version.
PARTS = {
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "TupleNode": ("builtins.tuple",),
    "JsonNode": ("builtins.str",),
    "TypeNode": ("builtins.str", "builtins.int", "builtins.float", "builtins.bool"),
    "NdArrayNode": ("numpy.",),
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
    "ObjectNode": TRUSTED,
    "SparseMatrixNode": ("scipy.sparse._csr.csr_array",),
}
SCHEMA = "schema.json"


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
    strange = _strange_parts(_schema(data))
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
    try:
        _refuse_harm(data, path)
        model = skops.loads(data, trusted=list(TRUSTED))
    except ModelError:
        raise
    except TableError as reason:
        raise ModelError(str(reason)) from reason
    except Exception as reason:  # a file that was made to do harm may fail in any way
        what = str(reason).strip().rstrip(".") or type(reason).__name__
        raise ModelError(
            f"{path} is broken or not a model that groupfs wrote ({what})."
        ) from reason
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


def _refuse_harm(data: bytes, path: str | os.PathLike[str]) -> None:
    """Refuse a file with parts that no model has, or that claims more than there is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_bomb(archive, len(data), str(path))
        strange = _strange_parts(schema := _schema(data))
        if strange:
            raise ModelError(
                f"{path} holds {', '.join(strange[:3])}, which no groupfs model does, so it was "
                "not loaded."
            )
        sizes = {member.filename: member.file_size for member in archive.infolist()}
        for name in sizes.keys() - {SCHEMA}:
            if name.endswith(".npz"):  # a sparse matrix
                _check_arrays(archive.read(name), f"{path} ({name})")
                continue
            with archive.open(name) as file:
                check_array(file, sizes[name], f"{path} ({name})")
    # an array that is named a thousand times is read as often
    named = [node["file"] for node in _nodes(schema) if "file" in node]
    if sum(sizes[name] for name in named) > most_bytes(len(data)):
        raise ModelError(f"{path} holds arrays that would fill the memory, so it was not loaded.")


def _check_arrays(data: bytes, source: str) -> None:
    """Look at what the arrays of an npz file announce."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_bomb(archive, len(data), source)
        for member in archive.infolist():
            with archive.open(member) as file:
                check_array(file, member.file_size, source)


def _schema(data: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read(SCHEMA))


def _strange_parts(schema: Any) -> list[str]:
    """Types, or kinds of parts, that no model of ours has."""
    strange = set()
    for node in _nodes(schema):
        loader, kind = node["__loader__"], f"{node.get('__module__')}.{node.get('__class__')}"
        known = PARTS.get(loader if isinstance(loader, str) else "", ())
        if not (kind in known or (loader == "NdArrayNode" and kind.startswith(known))):
            strange.add(kind if known else f"{kind} ({loader})")
    return sorted(strange)


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a tree that skops could make an object of."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _refuse_unfit(selector: Any, preparation: Preparation | None) -> None:
    """A model is a fitted selector of ours, and the columns it was fitted to if it has any."""
    from sklearn.utils.validation import check_is_fitted

    from groupfs import GroupFS, GroupFSPath

    if not isinstance(selector, GroupFS | GroupFSPath):
        raise ModelError(f"{type(selector).__name__} is neither GroupFS nor GroupFSPath.")
    hidden = [name for name in vars(selector) if hasattr(type(selector), name)]
    if hidden:
        raise ModelError(f"The selector has values in place of its methods ({hidden[0]}).")
    check_is_fitted(selector)
    M: Any = getattr(selector, "membership_", None)
    if sp.issparse(M):  # scipy trusts the places of the values, wherever they lead
        if (np.diff(M.indptr) < 0).any():
            raise ModelError("The selector's memberships go back.")
        M.check_format(full_check=True)
    selector.get_params()
    support = selector.get_support()
    names = getattr(selector, "feature_names_in_", None)
    n_features, n_names = len(support), len(support) if names is None else len(names)
    if support.dtype != bool or not (names is None or all(isinstance(n, str) for n in names)):
        raise ModelError("The selector has a support or names of features of a wrong type.")
    n_prepared = n_features if preparation is None else len(set(preparation.names))
    if not n_features == n_prepared == n_names == selector.n_features_in_:
        raise ModelError(
            f"The selector was fitted to {selector.n_features_in_} features, but the preparation "
            f"makes {n_prepared}."
        )


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
