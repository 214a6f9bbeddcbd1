"""What near-duplicate metrics find in labelled sets, at any cut-off."""
