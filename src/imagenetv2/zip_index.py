"""What a ZIP archive holds and where: names, places, sizes and checksums, in about 120 bytes an entry."""

from __future__ import annotations

import os
import zlib
from array import array
from bisect import bisect_left
from itertools import pairwise
from struct import Struct
from zipfile import BadZipFile

END = Struct("<4s4H2LH")
"""Signature, two disks, two counts, size and place of the directory, length of a comment."""
END_64 = Struct("<4sQ2H2L4Q")
"""Signature, size of this record, two versions, two disks, two counts, size and place of the directory."""
LOCATOR = Struct("<4sLQL")
"""Signature, disk, place of END_64, number of disks."""
ENTRY = Struct("<4s6H3L5H2L")
"""Signature, 2 versions, flags, method, time, date, CRC, 2 sizes, 3 lengths, disk, 2 attributes, place."""
LOCAL = Struct("<4s5H3L2H")
"""Signature, version, flags, method, time, date, CRC, two sizes, two lengths."""
ENCRYPTED = 1
WIDE = 0xFFFFFFFF
"""Stands for a number that is in the extra field because it does not fit into four bytes."""


class Index:
    """Entries of an archive that holds them as they are, without compression or comment; names are UTF-8.

    Args:
        file: descriptor of the archive.

    Raises BadZipFile where it is no such archive. May be shared by threads.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self._end = os.fstat(file).st_size
        count, data = self._directory()
        self.names: list[str] = []
        self._place, self._size, self._crc = array("Q"), array("Q"), array("I")
        at = 0
        for _ in range(count):
            at = self._add(data, at)
        if any(before > name for before, name in pairwise(self.names)):
            order = sorted(range(count), key=self.names.__getitem__)
            self.names = [self.names[i] for i in order]
            self._place, self._size, self._crc = (
                array(column.typecode, (column[i] for i in order))
                for column in (self._place, self._size, self._crc)
            )

    def data(self, name: str) -> bytes:
        """Bytes of an entry. Raises KeyError where it is absent, BadZipFile where it is damaged."""
        i = bisect_left(self.names, name)
        if i == len(self.names) or self.names[i] != name:
            raise KeyError(f"There is no item named {name!r} in the archive")
        head = self._read(LOCAL.size, self._place[i])
        signature, *_, named, extra = LOCAL.unpack(head)
        if signature != b"PK\3\4":
            raise BadZipFile(f"Bad magic number for file header of {name!r}")
        start = self._place[i] + LOCAL.size
        if self._read(named, start) != name.encode():
            raise BadZipFile(f"File name in directory {name!r} and header differ.")
        data = self._read(self._size[i], start + named + extra)
        if zlib.crc32(data) != self._crc[i]:
            raise BadZipFile(f"Bad CRC-32 for file {name!r}")
        return data

    def _read(self, size: int, place: int) -> bytes:
        """So many bytes; several reads where the system gives fewer at once."""
        data = os.pread(self._file, size, place)
        while len(data) < size:
            more = os.pread(self._file, size - len(data), place + len(data))
            if not more:
                raise BadZipFile("File is cut off")
            data += more
        return data

    def _directory(self) -> tuple[int, bytes]:
        """How many entries there are, and their records."""
        last = self._end - END.size
        if last < 0:
            raise BadZipFile("File is not a zip file")
        signature, _, _, _, count, size, place, comment = END.unpack(self._read(END.size, last))
        if signature != b"PK\5\6" or comment:
            raise BadZipFile("File is not a zip file")
        if last >= LOCATOR.size:
            signature, _, wide, _ = LOCATOR.unpack(self._read(LOCATOR.size, last - LOCATOR.size))
            if signature == b"PK\6\7":
                *_, count, size, place = END_64.unpack(self._read(END_64.size, wide))
                last = wide
        if place + size != last:
            raise BadZipFile("Bad offset for central directory")
        return count, self._read(size, place)

    def _add(self, data: bytes, at: int) -> int:
        """Take in the record at a place, and return where the next one is."""
        if at + ENTRY.size > len(data):
            raise BadZipFile("Truncated central directory")
        (
            signature, _, _, flags, method, _, _, crc, packed, size, named, extra, comment, _, _, _, place,
        ) = ENTRY.unpack_from(data, at)  # fmt: skip
        if signature != b"PK\1\2":
            raise BadZipFile("Bad magic number for central directory")
        at += ENTRY.size
        try:
            name = data[at : at + named].decode()
        except UnicodeDecodeError as error:
            raise BadZipFile(f"Bad name: {error}") from error
        if method or flags & ENCRYPTED:
            raise BadZipFile(f"File {name!r} is compressed or encrypted")
        at += named
        if WIDE in (size, packed, place):
            size, place = _wide(data[at : at + extra], size, packed, place)
        if place + size > self._end:
            raise BadZipFile(f"File {name!r} is cut off")
        self.names.append(name)
        self._place.append(place)
        self._size.append(size)
        self._crc.append(crc)
        following: int = at + extra + comment
        return following


def _wide(extra: bytes, size: int, packed: int, place: int) -> tuple[int, int]:
    """Size and place from the extra field, which holds those of the three numbers that are WIDE, in this order."""
    field = Struct("<2H")
    while len(extra) >= field.size:
        kind, length = field.unpack_from(extra)
        if kind == 1:
            count = min(length, len(extra) - field.size) // 8
            numbers = iter(Struct(f"<{count}Q").unpack_from(extra, field.size))
            try:
                size, _, place = (
                    next(numbers) if value == WIDE else value for value in (size, packed, place)
                )
            except RuntimeError:
                break
            return size, place
        extra = extra[field.size + length :]
    raise BadZipFile("Corrupt zip64 extra field")
