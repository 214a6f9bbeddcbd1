"""Pretrained networks by name and layer, with weights from their library or from a file."""
