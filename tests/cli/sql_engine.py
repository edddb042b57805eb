# SPDX-License-Identifier: MIT
"""ClickHouse within the test's process: the shared library that scripts/deps installs from npm (chdb), called by its
C interface. NODE_PATH names further folders to look in.
"""

import ctypes
import glob
import json
import os


def find_library(name):
    folders = [*os.environ.get("NODE_PATH", "").split(":"), "/usr/local/lib/node_modules", "/usr/lib/node_modules"]
    found = [path for folder in folders if folder
             for path in sorted(glob.glob(f"{folder}/**/{name}", recursive=True))]
    for path in found:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue  # for another machine, or another C library
    return None


class ClickHouse:
    """By libchdb.so (chdb.h); relative paths are those of the process."""

    def __init__(self, library, folder):
        self.library = library
        for name in ("connect", "query"):
            getattr(library, f"chdb_{name}").restype = ctypes.c_void_p
        for name in ("result_buffer", "result_error"):
            getattr(library, f"chdb_{name}").restype = ctypes.c_void_p if name == "result_buffer" else ctypes.c_char_p
            getattr(library, f"chdb_{name}").argtypes = (ctypes.c_void_p,)
        library.chdb_result_length.restype = ctypes.c_size_t
        library.chdb_result_length.argtypes = (ctypes.c_void_p,)
        library.chdb_query.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
        library.chdb_destroy_query_result.argtypes = library.chdb_close_conn.argtypes = (ctypes.c_void_p,)
        arguments = [b"clickhouse", b"--path=" + os.fsencode(folder)]
        self.handle = library.chdb_connect(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments))
        if not self.handle:
            raise RuntimeError("ClickHouse does not start")

    def rows(self, sql):
        connection = ctypes.cast(self.handle, ctypes.POINTER(ctypes.c_void_p))[0]
        result = self.library.chdb_query(connection, sql.encode(), b"JSONEachRow")
        try:
            error = self.library.chdb_result_error(result)
            if error:
                raise RuntimeError(error.decode())
            text = ctypes.string_at(self.library.chdb_result_buffer(result), self.library.chdb_result_length(result))
            return [json.loads(line) for line in text.splitlines()]
        finally:
            self.library.chdb_destroy_query_result(result)

    def close(self):
        self.library.chdb_close_conn(self.handle)


def find_clickhouse():
    library = find_library("libchdb.so")
    return library and (lambda folder: ClickHouse(library, folder))
