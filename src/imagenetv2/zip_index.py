"""What a ZIP archive holds and where: names, places, sizes and checksums, in about 120 bytes an entry."""

from __future__ import annotations

import os
import zlib
from array import array
from bisect import bisect_left
from struct import Struct
from struct import error as StructError
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

LOCAL = Struct("<4s5H3L2H")
"""Signature, version, flags, method, time, date, CRC, two sizes, two lengths."""
ENCRYPTED = 1


class Index:
    """Entries of an archive that holds them as they are, without compression or comment.

    zipfile reads the directory. What it keeps of an entry is four times as much, and every thread would need it.

    Args:
        file: descriptor of the archive.

    Raises BadZipFile where it is no such archive. May be shared by threads.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        entries = sorted(_entries(file), key=lambda entry: entry.filename)
        self.names = [entry.filename for entry in entries]
        self._place = array("Q", (entry.header_offset for entry in entries))
        self._size = array("Q", (entry.file_size for entry in entries))
        self._crc = array("I", (entry.CRC for entry in entries))

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


def _entries(file: int) -> list[ZipInfo]:
    with os.fdopen(os.dup(file), "rb") as own:
        try:
            with ZipFile(own) as archive:
                entries, comment = archive.infolist(), archive.comment
        except (StructError, NotImplementedError, ValueError) as error:  # of a damaged directory
            raise BadZipFile(str(error)) from error
    if comment:
        raise BadZipFile("File is not a zip file")
    end = os.fstat(file).st_size
    for entry in entries:
        if entry.compress_type != ZIP_STORED or entry.flag_bits & ENCRYPTED:
            raise BadZipFile(f"File {entry.filename!r} is compressed or encrypted")
        if entry.header_offset < 0 or entry.header_offset + entry.file_size > end:
            raise BadZipFile(f"File {entry.filename!r} is cut off")
    return entries
