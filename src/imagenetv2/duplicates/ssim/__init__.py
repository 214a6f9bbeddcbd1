"""ssim: structural dissimilarity (1 − SSIM) / 2."""
