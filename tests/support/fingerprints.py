"""Whether two fitted estimators are the same to the last bit."""

import dataclasses

import joblib


def fingerprints(selector):
    """Digest every fitted attribute, seconds left out."""
    return {
        name: joblib.hash(_without_seconds(value))
        for name, value in vars(selector).items()
        if name.endswith("_") or name == "_support_mask"
    }


def _without_seconds(value):
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict):
        return {key: _without_seconds(part) for key, part in value.items() if key != "seconds"}
    if isinstance(value, list | tuple):
        return [_without_seconds(part) for part in value]
    return value
