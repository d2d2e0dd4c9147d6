# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Divide graphs into communities by modularity: Leiden's algorithm, for many graphs in one call.

Axes: n nodes, E edges, R graphs of the same nodes, C communities.

With ties w, strengths k and their total 2m the modularity of communities at a resolution g is

.. math:: Q = \frac{1}{2m} \sum_c \Big( w_{cc} - g \frac{k_c^2}{2m} \Big).

Nodes move to the community where that gains most, until none gains. Each community is then divided
into parts that hang together (*refined*: single nodes are merged within it), the parts become the
nodes of a smaller graph, and so on until nothing moves (Traag, Waltman and van Eck, 2019). A second
round begins with what the first has found, and is not refined. Nodes come in a random order whose
seed is fixed.

Every community's ties to a node are kept in a table as soon as it is small enough: most looks at a
node end with it staying where it is, and cost no walk over its edges then.
"""

import numpy as np

from libc.math cimport fabs

ctypedef unsigned long long uint64

#: Numbers of the table of ties (128 KB: what a core holds near).
cdef long long TABLE = 2**15
#: Looks at a node at most, in the mean: rounding could make nodes go to and fro.
cdef int MOST_LOOKS = 100
#: Share of its strength that a node gains by moving, at least: less is rounding.
cdef float LEAST_GAIN = 1e-6
#: Modularities that differ by less are of one division.
cdef double SAME = 1e-9

cdef struct Graph:
    int n
    int *start      # of the neighbours of every node, (n + 1,)
    int *to         # (2 E,)
    float *tie      # (2 E,)
    double *strength

cdef struct Scratch:
    int *queue
    int *waits
    int *size
    int *number
    int *touched
    int *member
    int *part       # community of every node
    int *fine       # part of a community
    int *node       # of the smaller graph that every node is in
    double *total   # strength of communities
    double *whole
    double *outward  # ties of a node, or of a part, to the rest of its community
    float *to_part  # ties of a node to communities
    float *table    # ties of communities to all nodes, (C, n)
    uint64 random


def communities(
    const int[::1] starts,
    const int[::1] neighbors,
    const int[::1] edges,
    const float[:, ::1] ties,
    double resolution,
    int tries=1,
):
    """Divide graphs whose nodes have the same neighbours, with other ties, (R, E), to (R, n).

    The neighbours of node v are ``neighbors[starts[v]:starts[v + 1]]``, along ``edges`` there.
    Of several tries the one of highest modularity is taken; none follows once half found it.
    """
    cdef int n = starts.shape[0] - 1, size = max(neighbors.shape[0], 1), r, t, times, v
    cdef double quality, best
    found = np.zeros((ties.shape[0], n), dtype=np.int32)
    if n == 0:
        return found
    cdef int[:, ::1] out = found, ints = np.empty((13, n + 1), dtype=np.int32)
    cdef int[:, ::1] to = np.empty((3, size), dtype=np.int32)
    cdef float[:, ::1] tie = np.empty((3, size), dtype=np.float32)
    cdef float[::1] to_part = np.empty(n, dtype=np.float32)
    cdef float[::1] table = np.empty(min(TABLE, <long long>(n | 1) * n), dtype=np.float32)
    cdef double[:, ::1] doubles = np.empty((6, n))
    cdef Graph[3] graphs
    cdef Scratch s
    for r in range(3):
        graphs[r] = Graph(n, &ints[r, 0], &to[r, 0], &tie[r, 0], &doubles[r, 0])
    s.queue, s.waits, s.size, s.number = &ints[3, 0], &ints[4, 0], &ints[5, 0], &ints[6, 0]
    s.touched, s.member, s.part = &ints[7, 0], &ints[8, 0], &ints[9, 0]
    s.fine, s.node = &ints[10, 0], &ints[11, 0]
    s.total, s.whole, s.outward = &doubles[3, 0], &doubles[4, 0], &doubles[5, 0]
    s.to_part, s.table = &to_part[0], &table[0]
    cdef int *labels = &ints[12, 0]
    with nogil:
        for r in range(ties.shape[0]):
            read_graph(graphs, starts, neighbors, edges, ties[r])
            best, times, s.random = -2, 0, 88172645463325252
            for t in range(tries):
                leiden(graphs, labels, resolution, &s)
                quality = modularity(graphs, labels, resolution, &s) if tries > 1 else 0
                if t and fabs(quality - best) < SAME:
                    times += 1
                elif t == 0 or quality > best:
                    best, times = quality, 1
                    for v in range(n):
                        out[r, v] = labels[v]
                if times > tries // 2:
                    break
    return found


cdef void read_graph(
    Graph *g, const int[::1] starts, const int[::1] neighbors, const int[::1] edges,
    const float[::1] ties
) noexcept nogil:
    """Leave out ties of zero."""
    cdef int v, e, m = 0
    cdef float w
    cdef double total
    cdef int *to = g.to
    cdef float *tie = g.tie
    for v in range(g.n):
        g.start[v], total = m, 0
        for e in range(starts[v], starts[v + 1]):
            w = ties[edges[e]]
            to[m], tie[m] = neighbors[e], w
            total += w if w > 0 else 0
            m += w > 0
        g.strength[v] = total
    g.start[g.n] = m


cdef void leiden(Graph *graphs, int *labels, double resolution, Scratch *s) noexcept nogil:
    """Divide the first graph, with room for two smaller ones."""
    cdef int n = graphs[0].n, v, C, F, level, again
    cdef bint moved
    cdef double total = 0, scale
    cdef Graph *g
    for v in range(n):
        labels[v] = v
        total += graphs[0].strength[v]
    if total == 0:
        return
    scale = resolution / total
    for again in range(2):
        g, level = graphs, 0
        for v in range(n):
            s.node[v], s.part[v] = v, labels[v]
        while True:
            moved = move_nodes(g, s.part, scale, s)
            if again and not moved:
                break
            C = count_parts(s.part, g.n, s.number)
            if C == g.n:
                break
            F = g.n
            if not again:
                refine(g, s.part, s.fine, scale, s)
                F = count_parts(s.fine, g.n, s.number)
            if F == g.n:  # nothing was merged
                for v in range(g.n):
                    s.fine[v] = s.part[v]
                F = C
            for v in range(g.n):
                s.member[s.fine[v]] = s.part[v]
            for v in range(g.n):
                s.part[v] = s.member[v]  # of the first F, which are nodes now
            for v in range(n):
                s.node[v] = s.fine[s.node[v]]
            level += 1
            join(g, s.fine, F, graphs + 1 + level % 2, s)
            g = graphs + 1 + level % 2
        for v in range(n):
            labels[v] = s.part[s.node[v]]


cdef double modularity(Graph *g, int *part, double resolution, Scratch *s) noexcept nogil:
    cdef int v, e
    cdef double quality = 0, total = 0
    sum_strengths(g, part, s.total)
    for v in range(g.n):
        total += g.strength[v]
    if total == 0:
        return 0
    for v in range(g.n):
        quality -= resolution / total * s.total[v] * s.total[v]
        for e in range(g.start[v], g.start[v + 1]):
            if part[g.to[e]] == part[v]:
                quality += g.tie[e]
    return quality / total


cdef bint move_nodes(Graph *g, int *part, double scale, Scratch *s) noexcept nogil:
    """Move nodes to other communities until none gains by it; tell whether any has moved.

    ``outward`` is what ties each to its community then.
    """
    cdef int v, C, looks = MOST_LOOKS
    cdef bint any_waits = 1, moved = 0
    shuffle(s.queue, g.n, &s.random)
    for v in range(g.n):
        s.waits[v] = 1
    while looks and any_waits:
        C = count_parts(part, g.n, s.number)
        C += C < g.n  # an empty one
        if <long long>(g.n | 1) * C <= TABLE:
            return move_by_table(g, part, C, scale, s) or moved
        looks -= 1
        any_waits = move_by_edges(g, part, scale, s)
        moved = moved or any_waits
    sum_ties(g, part, s.outward)
    return moved


cdef void sum_ties(Graph *g, int *part, double *ties) noexcept nogil:
    """Sum what ties every node to its community."""
    cdef int v, e
    for v in range(g.n):
        ties[v] = 0
        for e in range(g.start[v], g.start[v + 1]):
            if part[g.to[e]] == part[v]:
                ties[v] += g.tie[e]


cdef bint move_by_edges(Graph *g, int *part, double scale, Scratch *s) noexcept nogil:
    """Look once at every node that waits; tell whether any does then."""
    cdef int n = g.n, v, u, c, own, best, e, i, q, n_touched, any_waits = 0
    cdef double gain, most, k
    cdef float *to_part = s.to_part
    cdef float *tie = g.tie
    cdef int *to = g.to
    cdef int *touched = s.touched
    cdef double *total = s.total
    sum_strengths(g, part, total)
    for v in range(n):
        to_part[v] = 0
    for q in range(n):
        v = s.queue[q]
        if not s.waits[v]:
            continue
        s.waits[v] = 0
        own, best, k, n_touched = part[v], part[v], g.strength[v] * scale, 0
        for e in range(g.start[v], g.start[v + 1]):
            c = part[to[e]]
            touched[n_touched] = c
            n_touched += to_part[c] == 0
            to_part[c] += tie[e]
        total[own] -= g.strength[v]
        most = to_part[own] - k * total[own] + LEAST_GAIN * g.strength[v]
        for i in range(n_touched):
            c = touched[i]
            gain = to_part[c] - k * total[c]
            if gain > most:
                best, most = c, gain
            to_part[c] = 0
        total[best] += g.strength[v]
        if best != own:
            part[v] = best
            for e in range(g.start[v], g.start[v + 1]):
                u = to[e]
                if part[u] != best:
                    s.waits[u] = any_waits = 1
    return any_waits


cdef bint move_by_table(Graph *g, int *part, int C, double scale, Scratch *s) noexcept nogil:
    """Look at nodes that wait until none does, with their ties to all communities at hand."""
    cdef int n = g.n, first = 0, waiting = 0, v, u, c, own, best, e, i
    cdef long long looks = <long long>MOST_LOOKS * n
    cdef float gain, most, k, w
    cdef float *ties
    cdef float *others
    cdef float *total = s.to_part
    cdef float *table = s.table
    cdef float *tie = g.tie
    cdef int *to = g.to
    cdef int *waits = s.waits
    cdef int *queue = s.queue
    cdef bint moved = 0
    cdef int width = n | 1  # powers of two would meet in the cache
    for e in range(width * C):
        table[e] = 0
    for c in range(C):
        total[c] = 0
    for i in range(n):
        v = queue[i]
        if waits[v]:
            queue[waiting] = v
            waiting += 1
    for v in range(n):
        total[part[v]] += <float>g.strength[v]
        ties = table + part[v] * width
        for e in range(g.start[v], g.start[v + 1]):
            ties[to[e]] += tie[e]
    while waiting and looks:
        v = queue[first]
        first = first + 1 if first + 1 < n else 0
        waiting -= 1
        looks -= 1
        waits[v] = 0
        own, best, k = part[v], part[v], <float>(g.strength[v] * scale)
        ties = table + v
        total[own] -= <float>g.strength[v]
        most = ties[own * width] - k * total[own] + LEAST_GAIN * <float>g.strength[v]
        for c in range(C):
            gain = ties[0] - k * total[c]
            ties += width
            if gain > most:
                best, most = c, gain
        total[best] += <float>g.strength[v]
        if best == own:
            continue
        part[v], moved = best, 1
        ties, others = table + own * width, table + best * width
        for e in range(g.start[v], g.start[v + 1]):
            u, w = to[e], tie[e]
            ties[u] -= w
            others[u] += w
            if not waits[u] and part[u] != best:
                waits[u] = 1
                i = first + waiting
                queue[i if i < n else i - n] = u
                waiting += 1
    for v in range(n):
        s.outward[v] = table[part[v] * width + v]
    return moved


cdef void refine(Graph *g, int *part, int *fine, double scale, Scratch *s) noexcept nogil:
    """Merge single nodes within their community, where both sides hang together with it."""
    cdef int n = g.n, v, e, i, c, q, own, best, n_touched
    cdef double gain, most, k, ties, whole
    cdef float *to_part = s.to_part
    cdef float *tie = g.tie
    cdef int *to = g.to
    cdef int *touched = s.touched
    cdef bint inside
    sum_strengths(g, part, s.whole)
    for v in range(n):
        fine[v], s.size[v], s.to_part[v], s.total[v] = v, 1, 0, g.strength[v]
    shuffle(s.queue, n, &s.random)
    for q in range(n):
        v = s.queue[q]
        k, whole = g.strength[v] * scale, s.whole[part[v]]
        if s.size[fine[v]] != 1 or s.outward[v] < k * (whole - g.strength[v]):
            continue
        n_touched, own = 0, part[v]
        for e in range(g.start[v], g.start[v + 1]):
            c, inside = fine[to[e]], part[to[e]] == own
            touched[n_touched] = c
            n_touched += inside and to_part[c] == 0
            to_part[c] += tie[e] if inside else 0
        best, most, ties = fine[v], 0, 0
        for i in range(n_touched):
            c = s.touched[i]
            gain = s.to_part[c] - k * s.total[c]
            if gain > most and s.outward[c] >= scale * s.total[c] * (whole - s.total[c]):
                best, most, ties = c, gain, s.to_part[c]
            s.to_part[c] = 0
        if best != fine[v]:
            s.outward[best] += s.outward[v] - 2 * ties
            s.total[best] += g.strength[v]
            s.size[fine[v]] -= 1
            s.size[best] += 1
            fine[v] = best


cdef void join(Graph *g, int *fine, int C, Graph *out, Scratch *s) noexcept nogil:
    """Make a graph whose nodes are parts of another's."""
    cdef int v, e, i = 0, c, d, n_touched, m = 0
    cdef int *stop = s.number  # of the members of every part
    cdef float *to_part = s.to_part
    cdef int *touched = s.touched
    for c in range(C):
        stop[c], s.to_part[c], out.strength[c] = 0, 0, 0
    for v in range(g.n):
        stop[fine[v]] += 1
        out.strength[fine[v]] += g.strength[v]
    for c in range(C):
        m += stop[c]
        stop[c] = m - stop[c]
    for v in range(g.n):
        s.member[stop[fine[v]]] = v
        stop[fine[v]] += 1
    out.n, m = C, 0
    for c in range(C):
        out.start[c], n_touched = m, 0
        while i < stop[c]:
            v = s.member[i]
            i += 1
            for e in range(g.start[v], g.start[v + 1]):
                d = fine[g.to[e]]
                touched[n_touched] = d
                n_touched += to_part[d] == 0
                to_part[d] += g.tie[e]
        for e in range(n_touched):
            d = touched[e]
            if d != c:
                out.to[m], out.tie[m] = d, to_part[d]
                m += 1
            to_part[d] = 0
    out.start[C] = m


cdef void sum_strengths(Graph *g, int *part, double *total) noexcept nogil:
    cdef int v
    for v in range(g.n):
        total[v] = 0
    for v in range(g.n):
        total[part[v]] += g.strength[v]


cdef int count_parts(int *part, int n, int *number) noexcept nogil:
    """Number parts anew, without gaps; return how many there are."""
    cdef int v, C = 0
    for v in range(n):
        number[v] = -1
    for v in range(n):
        if number[part[v]] < 0:
            number[part[v]] = C
            C += 1
        part[v] = number[part[v]]
    return C


cdef void shuffle(int *values, int n, uint64 *state) noexcept nogil:
    """Put numbers below n in a random order (xorshift)."""
    cdef int i, j
    cdef uint64 x = state[0]
    for i in range(n):
        x ^= x << 13
        x ^= x >> 7
        x ^= x << 17
        j = <int>(x % <uint64>(i + 1))
        values[i] = values[j]
        values[j] = i
    state[0] = x
