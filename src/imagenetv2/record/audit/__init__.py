"""The audit of a released record: what its own files say about each other, each finding with what proves it."""
