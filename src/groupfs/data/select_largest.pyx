# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Select the largest numbers of every row of a block.

Axes: b rows, d numbers of each, k of them wanted.

Numbers above a line are collected; where they become many, the k largest are kept, and the least of
these is the line. So most numbers cost one comparison, several of which are made at once. Where no
line above 0 is given, parts of the row are laid over each other: the k-th largest of the maxima is
a line that the k largest numbers reach, and few others do.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, nextafter, nextafterf, sqrt

ctypedef fused real:
    float
    double

#: Numbers that are compared with a line together.
cdef int AT_ONCE = 16


def select_largest(const real[:, ::1] values, int k, double above, bint signed):
    """Select the k largest numbers of every row above a line, and their columns, (b, k) each.

    In any order; where fewer are above it, the rest is minus infinity, in column 0. Unless they are
    ``signed``, absolute values are selected.
    """
    cdef int b = values.shape[0], d = values.shape[1], room = 4 * k + AT_ONCE
    cdef int i, j, m, stop, n, reached, width
    cdef real lowest = <real>above, line, kth, value
    if not 1 <= k <= d:
        raise ValueError(f"k={k} of {d} numbers were asked for; choose 1 to {d}.")
    width = d // max(1, <int>sqrt(d // k))
    dtype = np.float32 if real is float else np.float64
    found, column = np.empty((b, k), dtype=dtype), np.empty((b, k), dtype=np.int64)
    cdef real[:, ::1] out = found
    cdef long long[:, ::1] place = column
    cdef real[::1] collected = np.empty(max(room, width), dtype=dtype)
    cdef int[::1] columns = np.empty(max(room, width), dtype=np.int32)
    cdef const real *row
    if lowest > above:  # in single precision
        lowest = below(lowest)
    with nogil:
        for i in range(b):
            row, line, n, j = &values[i, 0], lowest, 0, 0
            if above <= 0:
                kth = kth_of_maxima(row, &collected[0], &columns[0], width, d, k, signed)
                line = max(lowest, below(kth))
            while j < d:
                stop, reached = min(j + AT_ONCE, d), 0
                if signed:
                    for m in range(j, stop):
                        reached |= row[m] > line
                else:
                    for m in range(j, stop):
                        reached |= <real>fabs(row[m]) > line
                if reached:
                    for m in range(j, stop):
                        value = row[m] if signed else <real>fabs(row[m])
                        if value > line:
                            collected[n], columns[n] = value, m
                            n += 1
                    if n > 4 * k:
                        line, n = keep_largest(&collected[0], &columns[0], n, k), k
                j = stop
            if n > k:
                keep_largest(&collected[0], &columns[0], n, k)
                n = k
            for m in range(k):
                out[i, m] = collected[m] if m < n else -INFINITY
                place[i, m] = columns[m] if m < n else 0
    return found, column


cdef real kth_of_maxima(
    const real *row, real *most, int *columns, int width, int d, int k, bint signed
) noexcept nogil:
    """Lay parts of a row over each other, and return the k-th largest maximum."""
    cdef int m, part
    cdef real value
    for part in range(d // width):
        for m in range(width):
            value = row[m] if signed else <real>fabs(row[m])
            most[m] = value if part == 0 or value > most[m] else most[m]
        row += width
    return keep_largest(most, columns, width, k)


cdef real below(real value) noexcept nogil:
    """Return the next smaller number."""
    return nextafterf(value, -INFINITY) if real is float else nextafter(value, -INFINITY)


cdef real keep_largest(real *values, int *columns, int n, int k) noexcept nogil:
    """Bring the k largest to the front (quickselect); return the least of them."""
    cdef int low = 0, high = n - 1, i, j, column
    cdef real pivot, value
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                value, column = values[i], columns[i]
                values[i], columns[i] = values[j], columns[j]
                values[j], columns[j] = value, column
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    value = values[0]
    for i in range(1, k):
        value = min(value, values[i])
    return value
