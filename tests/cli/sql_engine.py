# SPDX-License-Identifier: MIT
"""DuckDB and ClickHouse within the test's process, through the library that is installed.

DuckDB's module for Python, or the shared libraries that scripts/deps installs from npm (@duckdb/node-bindings,
chdb), called by their C interfaces: no Node runs. NODE_PATH names further folders to look in.
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


class DuckModule:
    """By `import duckdb`."""

    def __init__(self, module, path):
        self.connection = module.connect(path)

    def run(self, sql):
        self.connection.execute(sql)

    def rows(self, sql):
        found = self.connection.execute(sql)
        keys = [column[0] for column in found.description]
        return [dict(zip(keys, values)) for values in found.fetchall()]

    def close(self):
        self.connection.close()


class DuckResult(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_uint64 * 3), ("pointers", ctypes.c_void_p * 3)]


class DuckLibrary:
    """By libduckdb.so (duckdb.h)."""

    def __init__(self, library, path):
        self.library = library
        for name, result in (("value_varchar", ctypes.c_void_p), ("row_count", ctypes.c_uint64),
                             ("result_error", ctypes.c_char_p)):
            getattr(library, f"duckdb_{name}").restype = result
        library.duckdb_value_varchar.argtypes = (ctypes.POINTER(DuckResult), ctypes.c_uint64, ctypes.c_uint64)
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        if library.duckdb_open(path.encode(), ctypes.byref(self.database)) or \
                library.duckdb_connect(self.database, ctypes.byref(self.connection)):
            raise RuntimeError(f"DuckDB does not open {path}")

    def texts(self, sql):
        """The first column of the result, as text."""
        result = DuckResult()
        try:
            if self.library.duckdb_query(self.connection, sql.encode(), ctypes.byref(result)):
                raise RuntimeError(self.library.duckdb_result_error(ctypes.byref(result)).decode())
            out = []
            for row in range(self.library.duckdb_row_count(ctypes.byref(result))):
                text = self.library.duckdb_value_varchar(ctypes.byref(result), 0, row)
                out.append(ctypes.string_at(text).decode() if text else None)
                self.library.duckdb_free(ctypes.c_void_p(text))
            return out
        finally:
            self.library.duckdb_destroy_result(ctypes.byref(result))

    def run(self, sql):
        self.texts(sql)

    def rows(self, sql):
        return [json.loads(text) for text in self.texts(f"SELECT to_json(r)::VARCHAR FROM ({sql.strip().rstrip(';')}) r")]

    def close(self):
        self.library.duckdb_disconnect(ctypes.byref(self.connection))
        self.library.duckdb_close(ctypes.byref(self.database))


def find_duckdb():
    """What makes a connection from a path, or None."""
    try:
        import duckdb
        return lambda path: DuckModule(duckdb, path)
    except ImportError:
        library = find_library("libduckdb.so")
        return library and (lambda path: DuckLibrary(library, path))


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
