"""Errors of the library: they name parameters as Python does, and carry the name."""

from __future__ import annotations


class ParameterError(ValueError):
    """A parameter that does not fit; its name is at hand for whoever calls it something else.

    Parameters
    ----------
    message : str
        One sentence that begins with or contains ``name=value``.
    parameter : str
        The name.

    Examples
    --------
    >>> from groupfs.utils.errors import ParameterError
    >>> ParameterError("n_groups=1; choose at least 2.", "n_groups").parameter
    'n_groups'
    """

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (str(self), self.parameter)  # errors travel between processes
