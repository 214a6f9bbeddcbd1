"""Subcommands: each module has ``add``, which declares its options, and ``run``."""
