"""Turn whatever X is into checked, standardised rows."""
