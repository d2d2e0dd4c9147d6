"""Timings over the history of the project; asv reads this folder (``asv.conf.json``).

Few and short on purpose, on drawn tables alone, so that any commit can be timed. How cost grows,
what parts of a fit take and real tables are in the other files of ``benchmarks``.
"""
