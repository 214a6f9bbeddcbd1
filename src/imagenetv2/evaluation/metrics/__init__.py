"""Metrics of a table of predictions, one idea a file: pure functions that need no model and no image.

``summary`` has all of them as one table. Probabilities are of the softmax over the classes that were answered among.
"""
