"""Errors that say which parameter they speak of."""

from __future__ import annotations


class ParameterError(ValueError):
    """A value that a parameter cannot have; ``parameter`` is its name."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter
