"""fetch_dataset: the paper's tables by name, from the files their sources publish.

A file may lie in a folder, packed or not; it is checked by its sha256, and downloaded if absent.
"""

import gzip
import hashlib
import io
import os
import tempfile
import tomllib
import zipfile
import zlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from groupfs.datasets import parsers


class BrokenFileError(OSError):
    """A file that is at hand but is not what its source publishes."""


@dataclass(frozen=True)
class File:
    """One published file. It may lie in a folder as it is or packed; what counts is the content."""

    name: str  #: once unpacked
    home: str  #: who publishes it, in words
    sha256: str  #: of the unpacked content
    url: str | None = None  #: of the file or of an archive that holds it; None: fetched by hand


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


def obtain_file(file: File, folder: Path, download: bool) -> bytes:
    """Read and check a file of the folder, downloaded first if it is absent and may be."""
    names = [file.name, f"{file.name}.gz", f"{file.name}.zip", Path(file.url or file.name).name]
    source = "fetch again" if file.url else f"get it again from {file.home}"
    for path in (folder / name for name in names):
        if path.is_file():
            return _checked(file, path, str(path), f"delete it and {source}")
    absent = (
        f"{file.name} is not in {folder}; get it from {file.home} and put it there, as it is or "
        f"packed as {file.name}.zip or {file.name}.gz"
    )
    if file.url is None or not download:
        raise FileNotFoundError(absent)
    return _download(file, file.url, folder, absent)


def _checked(file: File, path: Path, what: str, remedy: str) -> bytes:
    packed = path.read_bytes()
    try:
        data = _unpacked(packed, path, file.name)
    except (EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error) as reason:
        raise BrokenFileError(f"{what} cannot be unpacked ({reason}); {remedy}.") from reason
    if (sha256 := hashlib.sha256(data).hexdigest()) != file.sha256:
        raise BrokenFileError(
            f"{what} is truncated or not the published version: the sha256 of {file.name} begins "
            f"with {sha256[:12]}, expected {file.sha256[:12]}; {remedy}."
        )
    return data


def _unpacked(packed: bytes, path: Path, name: str) -> bytes:
    """Return the file of that name, in whatever folder or inner archive of a zip it lies."""
    if path.name == name:
        return packed
    if path.suffix == ".gz":
        return gzip.decompress(packed)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for member in archive.namelist():
            if Path(member).name == name or member.endswith(".zip"):
                return _unpacked(archive.read(member), Path(member), name)
    raise zipfile.BadZipFile(f"no {name} in it")


def _download(file: File, url: str, folder: Path, absent: str) -> bytes:
    """Download into a temporary folder, check, and only then move the file to its folder."""
    try:
        import pooch
    except ImportError as reason:
        raise FileNotFoundError(
            f'{absent}; or install pooch to have it downloaded (the extra "data").'
        ) from reason
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as aside:
        fetched = Path(aside) / Path(url).name
        try:
            # not pooch.retrieve, which prints the hash of the archive; we check the file inside
            pooch.HTTPDownloader()(url, str(fetched), None)
        except Exception as reason:
            failure = f"downloading {url} failed ({type(reason).__name__}: {reason})"
            raise FileNotFoundError(f"{absent}; {failure}.") from reason
        content = _checked(file, fetched, f"the download from {url}", "try again later")
        os.replace(fetched, folder / fetched.name)
        return content
