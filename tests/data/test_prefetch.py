import threading

import pytest

from groupfs.data.prefetch import prefetch


def test_an_error_is_raised_where_the_item_would_have_been():
    def items():
        yield 1
        raise OSError("disk gone")

    found = prefetch(items())
    assert next(found) == 1
    with pytest.raises(OSError, match="disk gone"):
        next(found)


def test_leaving_early_ends_the_thread_and_the_reading():
    before, made = threading.active_count(), []
    found = prefetch(made.append(i) or i for i in range(10**9))
    assert next(found) == 0
    found.close()
    assert threading.active_count() == before
    assert len(made) <= 4
