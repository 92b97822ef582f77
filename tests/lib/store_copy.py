"""The NodeManager's state store, read while the daemon holds its lock."""
import contextlib
import shutil
import sqlite3
import tempfile


@contextlib.contextmanager
def store_copy(recovery):
    """A connection to a copy. One that is made during a write is a sqlite3.DatabaseError."""
    with tempfile.TemporaryDirectory() as copy:
        for name in ("nm-state.db", "nm-state.db-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{recovery}/{name}", f"{copy}/{name}")
        with contextlib.closing(sqlite3.connect(f"{copy}/nm-state.db")) as db:
            yield db
