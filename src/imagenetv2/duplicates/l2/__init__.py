"""l2: squared Euclidean distance of pixels, exact for every pair."""
