"""fetch_dataset: the paper's tables by name, from the files their sources publish."""

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from groupfs.datasets import parsers
from groupfs.datasets.published_files import File, obtain_file

REGISTRY = tomllib.loads(resources.files(__package__).joinpath("registry.toml").read_text("utf-8"))
FILES = {name: File(name, **stored) for name, stored in REGISTRY["files"].items()}
DATASETS = tuple(REGISTRY["tables"])


def fetch_dataset(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    return_X_y: bool = False,
    download_if_missing: bool = True,
) -> Bunch | tuple[Any, Any]:
    """Load one of the paper's tables, downloading its files if needed and possible.

    A file is checked by its sha256 before it is read.

    Parameters
    ----------
    name : str
        One of ``groupfs.datasets.DATASETS``.
    data_home : str or path-like, default=None
        Folder of the published files, into which absent ones are downloaded; nothing else is
        written to it. None means the one that the environment variable ``GROUPFS_DATA`` names, or
        else ``~/groupfs_data``.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    download_if_missing : bool, default=True
        Whether an absent file may be downloaded; this needs pooch. Two tables, lung500 and
        metabric, have no address to download from: the error says where to get the file.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n_samples, n_features) as published, not standardised; ``target`` (n_samples,),
        codes from 0; ``feature_names`` and ``target_names``, lists; ``image_shape``, (height,
        width) of tables of images, else None, for ``row.reshape(image_shape, order="F")``;
        ``DESCR``.
    (data, target) : tuple if ``return_X_y`` is True

    Examples
    --------
    >>> from groupfs.datasets import fetch_dataset
    >>> heart = fetch_dataset("heart_disease")  # doctest: +SKIP
    >>> heart.data.shape  # doctest: +SKIP
    (297, 13)
    """
    if name not in DATASETS:
        raise ValueError(f"There is no dataset {name!r}; choose one of {', '.join(DATASETS)}.")
    home = data_home if data_home is not None else os.environ.get("GROUPFS_DATA")
    folder = Path(home or "~/groupfs_data").expanduser()
    table = REGISTRY["tables"][name]
    contents = [obtain_file(FILES[file], folder, download_if_missing) for file in table["files"]]
    read = getattr(parsers, table.get("read", name))
    shape = tuple(table["image_shape"]) if "image_shape" in table else None
    parsed = read(*contents, shape) if shape else read(*contents)

    data = parsed.data.astype(np.float64, order="C")
    if return_X_y:
        return data, parsed.target
    description = " ".join(table["description"].split())
    return Bunch(**parsed._replace(data=data)._asdict(), image_shape=shape, DESCR=description)
