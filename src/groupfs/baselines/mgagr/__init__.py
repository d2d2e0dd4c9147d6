"""Multi-group adaptive graph representation (MGAGR): a sparse reconstruction of the table."""
