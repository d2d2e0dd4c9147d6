"""Small fits use one thread, and give back what they took."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from joblib import effective_n_jobs
from threadpoolctl import threadpool_info

from groupfs.utils.threads import LARGE_TABLE, MOST_THREADS, threads_for

SMALL, LARGE = (100, 10), (LARGE_TABLE, 1)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_small_table_takes_one_thread_and_gives_the_others_back():
    before = blas_threads()
    with threads_for(SMALL):
        assert torch.get_num_threads() == 1 and set(blas_threads()) == {1}
    assert torch.get_num_threads() == 2 and blas_threads() == before


def test_a_large_table_takes_what_there_is_but_no_more_than_a_few():
    before = blas_threads()
    with threads_for(LARGE):
        assert torch.get_num_threads() == 2 and max(blas_threads()) <= 2
        with threads_for(SMALL):
            assert torch.get_num_threads() == 1 and set(blas_threads()) == {1}
        assert torch.get_num_threads() == 2
    assert blas_threads() == before
    torch.set_num_threads(MOST_THREADS + 2)
    with threads_for(LARGE):
        assert torch.get_num_threads() == min(MOST_THREADS, effective_n_jobs(-1))
    assert torch.get_num_threads() == MOST_THREADS + 2


def test_whoever_ends_last_gives_the_threads_back():
    before, main_is_out, other_is_in = blas_threads(), threading.Event(), threading.Event()

    def other():
        with threads_for(SMALL):
            other_is_in.set()
            main_is_out.wait()

    with ThreadPoolExecutor(1) as pool:
        with threads_for(SMALL):
            ending = pool.submit(other)
            other_is_in.wait()
        assert set(blas_threads()) == {1}
        main_is_out.set()
        ending.result()
    assert blas_threads() == before
