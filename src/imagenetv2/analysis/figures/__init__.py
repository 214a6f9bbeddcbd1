"""Figures for a paper and for the report, one idea a file."""
