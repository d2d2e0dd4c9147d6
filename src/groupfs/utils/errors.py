"""Errors that carry the name of the parameter they speak of."""


class ParameterError(ValueError):
    """A value that a parameter cannot have; ``parameter`` is its name.

    The message is one sentence in Python's words; whoever calls the parameter something else, as
    the command line does, finds the name here.
    """

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (str(self), self.parameter)  # errors travel between processes
