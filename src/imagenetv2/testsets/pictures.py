"""The pixels of a set, decoded when asked for, as the files were published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imagenetv2.benchmark.settings import Images
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels, UndecodableImageError, decode_in_threads
from imagenetv2.testsets.stores import AGAIN, Store, state
from imagenetv2.testsets.testset import Files

AS_PUBLISHED = Images(mode="raw")


class Stored:
    """Files of a store by position, see ``testset.Files``."""

    def __init__(self, store: Store, names: Sequence[str], digests: Mapping[str, str] | None = None) -> None:
        self._store, self._names, self._digests = store, tuple(names), digests or {}

    def __len__(self) -> int:
        return len(self._names)

    def name(self, index: int) -> str:
        """The file with the folder or archive that holds it."""
        return self._store.shown(self._names[index])

    def data(self, index: int) -> bytes:
        """The file's bytes."""
        return self._store.read(self._names[index])

    @property
    def state(self) -> str:
        """See ``testset.TestSet``."""
        stamps = {file.name: file.stamp for file in self._store.files}
        return state(
            [self._store.shown(""), self._store.stamp, *(f"{name} {stamps[name]}" for name in self._names)]
        )

    def sha256(self, index: int) -> str | None:
        """What the manifest says of it."""
        return self._digests.get(self._names[index])


class Decoded(Sequence[Pixels]):
    """Pixels by position; nothing is remembered. May be shared by threads, under ``images.silent``.

    Attributes:
        files: the encoded images, by the same positions.
    """

    def __init__(self, files: Files) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self._pixels(i) for i in range(*index.indices(len(self)))]
        return self._pixels(range(len(self))[index])

    def __iter__(self) -> Iterator[Pixels]:
        return (self._pixels(i) for i in range(len(self)))

    def _pixels(self, index: int) -> Pixels:
        try:
            return decode_in_threads(self.files.data(index), AS_PUBLISHED).pixels
        except UndecodableImageError as error:
            raise InputError(f"{self.files.name(index)}: {error}; {AGAIN}.") from error
