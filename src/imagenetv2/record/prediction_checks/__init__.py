"""Checks of released predictions, one idea a file: each takes sheets and returns them with what it found."""
