"""A GPU multiplies columns where it is asked for, or where a table is large."""

import pytest
import torch

from groupfs.utils.device import WORTH_A_GPU, find_gpu
from groupfs.utils.errors import ParameterError

SMALL, LARGE = (100, 10), (WORTH_A_GPU, 1)


@pytest.mark.parametrize(
    ("device", "shape", "found"),
    [
        ("auto", SMALL, None),
        ("auto", LARGE, torch.device("cuda")),
        ("cpu", LARGE, None),
        (torch.device("cpu"), LARGE, None),
        ("cuda:1", SMALL, torch.device("cuda:1")),
    ],
)
def test_auto_takes_a_gpu_for_large_tables_alone(device, shape, found, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_gpu(device, shape) == found


def test_without_a_gpu_auto_is_numpy_and_cuda_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_gpu("auto", LARGE) is None
    with pytest.raises(ParameterError, match="device='cuda' was asked for"):
        find_gpu("cuda", SMALL)
