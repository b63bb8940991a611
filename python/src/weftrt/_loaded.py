# SPDX-License-Identifier: Apache-2.0
"""Looks at the shared objects that this process has loaded."""

import ctypes
import os
import sys


class _ObjectInfo(ctypes.Structure):  # struct dl_phdr_info
    _fields_ = [
        ("address", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("headers", ctypes.c_void_p),
        ("header_count", ctypes.c_uint16),
        ("adds", ctypes.c_ulonglong),
        ("subs", ctypes.c_ulonglong),
    ]


class _Symbol(ctypes.Structure):  # Dl_info
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


_libc = ctypes.CDLL(None)
_callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(_ObjectInfo), ctypes.c_size_t, ctypes.c_void_p
)


def headers():
    """Returns file, address, place and number of program headers of the loaded objects, in the order of loading."""
    found = []

    def note(info, _size, _context):
        one = info.contents
        if one.name and os.path.isabs(one.name):
            found.append((os.fsdecode(one.name), one.address or 0, one.headers, one.header_count))
        return 0

    _libc.dl_iterate_phdr(_callback(note), None)
    return found


def objects():
    """Returns the files of the loaded objects, in the order of loading."""
    return [file for file, *_ in headers()]


def file_of_global(name):
    """Returns the file whose function modules that are loaded from now on find; None for none."""
    try:
        function = getattr(_libc, name)
    except AttributeError:
        return None
    found = _Symbol()
    address = ctypes.cast(function, ctypes.c_void_p)
    if not _libc.dladdr(address, ctypes.byref(found)) or not found.file:
        return None
    return os.fsdecode(found.file)


def loader_of(path, files):
    """Returns the Python package that has brought the object, or the module that was loaded just
    before it; "" for none.
    """
    folder = os.path.basename(os.path.dirname(path))
    if folder.endswith(".libs"):  # where auditwheel puts what a wheel brings
        return folder[: -len(".libs")]
    modules = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            modules[os.path.realpath(file)] = getattr(module, "__name__", "")
    for earlier in reversed(files[: files.index(path)]):
        name = modules.get(os.path.realpath(earlier))
        if name:
            return name.split(".")[0]
    return ""
