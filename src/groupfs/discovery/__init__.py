"""From a table to the groups of its features."""
