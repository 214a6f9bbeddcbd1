"""Look at every file of a set before hours are spent on it."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence

from PIL import Image

from imagenetv2.errors import InputError
from imagenetv2.images import Pixels, UndecodableImageError, container, decode
from imagenetv2.pooling import threaded
from imagenetv2.progress import progress
from imagenetv2.testsets.pictures import AS_PUBLISHED, Decoded
from imagenetv2.testsets.stores import AGAIN
from imagenetv2.testsets.testset import Files, TestSet

TAIL = 1024
END = {"JPEG": b"\xff\xd9", "PNG": b"IEND"}
"""What the last bytes of a whole file hold; what lacks it is decoded to see, and so is every other kind."""
SHOWN = 3


def check_files(testset: TestSet, cores: int = 1) -> str:
    """Read every file: its first bytes, its header, its end and, where a manifest gives it, its SHA-256.

    Costs the reading of all bytes, not their decoding: broken data in the middle of a file is not found.

    Returns:
        SHA-256, in hex, over id, class index and SHA-256 of every image, in the order of the set: which images these
        are, wherever and in whatever layout they lie. Where the images are no files, ``testset.digest``.

    Raises:
        InputError that counts the files which are no whole images, and names the first ones with what is wrong.
    """
    pixels: Sequence[Pixels] = testset.pixels
    if not isinstance(pixels, Decoded):
        return testset.digest
    files = pixels.files
    looked = threaded(lambda index: _look(files, index), range(len(files)), cores)
    found = list(progress(looked, f"checking {testset.name}", len(files)))
    faults = [fault for _, fault in found if fault]
    if faults:
        more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        raise InputError(
            f"{testset.name}: {len(faults)} of its {len(files):,} files are not whole images: "
            f"{'; '.join(faults[:SHOWN])}{more}; {AGAIN}."
        )
    lines = (
        f"{name}\t{index}\t{digest}\n"
        for name, index, (digest, _) in zip(testset.ids, testset.labels, found, strict=True)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _look(files: Files, index: int) -> tuple[str, str]:
    """SHA-256 of a file, and what is wrong with it; either may be empty."""
    try:
        data = files.data(index)
    except InputError as error:
        return "", str(error).removesuffix(".")
    found, expected = hashlib.sha256(data).hexdigest(), files.sha256(index)
    if expected is not None and found != expected:
        wrong = f"its SHA-256 is {found[:16]}…, not {expected[:16]}… as in the manifest"
        return found, f"{files.name(index)}: {wrong}"
    try:
        _require_image(data)
    except UndecodableImageError as error:
        return found, f"{files.name(index)}: {error}"
    return found, ""


def _require_image(data: bytes) -> None:
    kind = container(data)
    if kind not in END or END[kind] not in data[-TAIL:]:
        decode(data, AS_PUBLISHED)
        return
    try:
        Image.open(io.BytesIO(data), formats=[kind]).close()  # opening reads the header
    except Exception as error:  # Pillow's decoders raise whatever a broken file makes them trip over.
        raise UndecodableImageError(f"{kind} cannot be decoded: {error}") from error
