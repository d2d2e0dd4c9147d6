"""Whether two fitted estimators are the same to the last bit."""

import dataclasses
import hashlib

import numpy as np


def fingerprints(selector):
    """Digest every fitted attribute, seconds left out."""
    return {
        name: hashlib.sha256(b"".join(_pieces(value))).hexdigest()
        for name, value in sorted(vars(selector).items())
        if name.endswith("_") or name == "_support_mask"
    }


def _pieces(value):
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            if key != "seconds":
                yield repr(key).encode()
                yield from _pieces(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _pieces(item)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    else:
        yield repr(value).encode()
