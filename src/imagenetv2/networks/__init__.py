"""Pretrained networks whose weights do not come from timm's or torchvision's own download."""
