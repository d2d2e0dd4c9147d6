"""Sections of the tables, each a function of the folder of results that gives markdown."""
