"""Where the computation runs: numpy, or a device of torch, which is imported only if asked for."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groupfs.utils.errors import ParameterError
from groupfs.utils.packages import import_optional, installed_version
from groupfs.utils.types import FloatArray

if TYPE_CHECKING:
    import torch

#: Numbers of a table from which on "auto" looks for a GPU: torch takes longer to import for less.
WORTH_A_GPU = 2**26


def import_torch(who: str) -> Any:
    """Import torch, or say who needs it and how to get it."""
    told = f'{who} needs torch; install it with pip install "groupfs[joint]".'
    return import_optional("torch", told)


def resolve_device(device: Any) -> "torch.device":
    """Find the device of torch asked for; "auto" is CUDA where there is one, else the CPU."""
    torch = import_torch(f"device={device!r}")
    has_cuda = torch.cuda.is_available()
    if str(device) == "auto":
        return torch.device("cuda" if has_cuda else "cpu")
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ParameterError(
            f'device={device!r} is not known; choose "auto", "cpu", "cuda", "cuda:1" or "mps".',
            "device",
        ) from error
    available = {"cpu": True, "cuda": has_cuda, "mps": torch.backends.mps.is_available()}
    if not available.get(resolved.type, False):
        raise ParameterError(
            f"device={device!r} was asked for, but this machine or this build of torch has none; "
            'choose device="cpu" or "auto".',
            "device",
        )
    return resolved


def find_gpu(device: Any, shape: tuple[int, int]) -> "torch.device | None":
    """Find where columns of a table of this shape are multiplied; None if by numpy.

    That is on CUDA alone, which "auto" takes for large tables where there is one: MPS has no double
    precision.
    """
    small = shape[0] * shape[1] < WORTH_A_GPU or installed_version("torch") is None
    if str(device) == "cpu" or (str(device) == "auto" and small):
        return None
    resolved = resolve_device(device)
    return resolved if resolved.type == "cuda" else None


def on_device(values: NDArray[Any], device: Any) -> Any:
    """Bring an array to a device of torch; leave it as it is where there is none."""
    return values if device is None else import_torch("a device").as_tensor(values, device=device)


def as_array(values: Any) -> FloatArray:
    """Bring what was multiplied back, in double precision."""
    return np.asarray(values if isinstance(values, np.ndarray) else values.cpu(), dtype=np.float64)
