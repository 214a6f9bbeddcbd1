"""Labelled test sets in every layout that they are handed around in, and what must hold of them before use."""
