# SPDX-License-Identifier: Apache-2.0
"""Reads to which object the loader has bound functions of a module, and what is linked into a file."""

import ctypes
import mmap
import os
import struct

from weftrt import _loaded

_LOAD, _DYNAMIC = 1, 2  # p_type
_STRTAB, _SYMTAB, _RELA, _RELASZ, _STRSZ, _PLTRELSZ, _JMPREL = 5, 6, 7, 8, 10, 2, 23  # d_tag
_PROGBITS, _WRITE, _ALLOC, _EXECUTE = 1, 1, 2, 4  # sh_type, sh_flags


class _Module:
    """An object that is loaded: a 64-bit ELF file in memory."""

    def __init__(self, path, base, headers, count):
        self.path = path
        self._base = base
        parts = [struct.unpack_from("<IIQQQQQQ", ctypes.string_at(headers + 56 * i, 56)) for i in range(count)]
        self._ranges = [(base + p[3], base + p[3] + p[6]) for p in parts if p[0] == _LOAD]
        self._dynamic = {}
        for part in parts:
            if part[0] == _DYNAMIC:
                for tag, value in struct.iter_unpack("<qQ", ctypes.string_at(base + part[3], part[6] // 16 * 16)):
                    if tag == 0:
                        break
                    self._dynamic[tag] = value

    def has(self, address):
        """Returns whether the address is in a part of the object."""
        return any(begin <= address < end for begin, end in self._ranges)

    def _table(self, at, size):
        place = self._dynamic.get(at, 0)
        if place < self._base:  # the loader has left it as the file has it
            place += self._base
        return ctypes.string_at(place, self._dynamic.get(size, 0)) if at in self._dynamic else b""

    def bound(self, names):
        """Yields the addresses to which the loader has bound the functions of these names."""
        strings = self._table(_STRTAB, _STRSZ)
        wanted = [name for name in names if b"\0" + name + b"\0" in strings]
        if not wanted or _SYMTAB not in self._dynamic:
            return
        symbols = self._dynamic[_SYMTAB]
        symbols += self._base if symbols < self._base else 0
        for table in (self._table(_JMPREL, _PLTRELSZ), self._table(_RELA, _RELASZ)):
            for offset, info, _addend in struct.iter_unpack("<QQq", table[: len(table) // 24 * 24]):
                if info >> 32 == 0:
                    continue
                name = struct.unpack("<I", ctypes.string_at(symbols + 24 * (info >> 32), 4))[0]
                if strings[name : strings.index(b"\0", name)] in wanted:
                    yield struct.unpack("<Q", ctypes.string_at(self._base + offset, 8))[0]


def users(names):
    """Returns for each file whose functions of these names others call: the files of those others.

    A call that the loader binds when it is first made is not seen before.
    """
    modules = [_Module(*one) for one in _loaded.headers()]
    found = {}
    for module in modules:
        for address in module.bound([name.encode() for name in names]):
            for owner in modules:
                if owner is not module and owner.has(address):
                    found.setdefault(owner.path, set()).add(module.path)
    return found


def _texts(file):
    """Yields where the constants of a 64-bit ELF file begin and end; all of it where it has no sections."""
    begin, size, count, names = struct.unpack_from("<Q10xHHH", file, 40)
    sections = [struct.unpack_from("<IIQQQQ", file, begin + size * i) for i in range(count)]
    for name, kind, flags, _address, at, length in sections:
        at_name = sections[names][4] + name
        if kind == _PROGBITS and flags & (_WRITE | _ALLOC | _EXECUTE) == _ALLOC and file[at_name : at_name + 7] == b".rodata":
            yield at, at + length
    if not sections:
        yield 0, len(file)


def holds(path, texts):
    """Returns whether a file's constants have all of these texts. What else it has is not read, as that may be large."""
    try:
        with open(path, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as file:
            if file[:5] != b"\x7fELF\x02":
                return False
            places = list(_texts(file))
            return all(any(file.find(text, *place) >= 0 for place in places) for text in texts)
    except (OSError, ValueError, IndexError, OverflowError, struct.error):  # it is gone, empty or no whole file
        return False
