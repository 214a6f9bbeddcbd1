"""`imagenetv2 duplicates IMAGE…`: all that is known of an image among its near-duplicates."""
