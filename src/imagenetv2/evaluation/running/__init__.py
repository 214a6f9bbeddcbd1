"""Many models on many sets: images decoded once a preprocessing, outputs turned into records, resumable."""
