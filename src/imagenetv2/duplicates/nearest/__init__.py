"""`imagenetv2 nearest`: neighbours between folders of pictures, without a pipeline."""
