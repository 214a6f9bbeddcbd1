"""fc7: squared Euclidean distance of a network's features."""
