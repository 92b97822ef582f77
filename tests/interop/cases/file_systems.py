"""Random operations that file:, HDFS and its WebHDFS must answer alike (fs-compare.c). For
test-hdfs."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile

from interop import hadoop
from lib.localizer_process import BUILD

USER = "nobody"  # on this machine, too: root is denied nothing
STEPS = 60
SEEDS = 6 if hadoop.BRIEF else 200


@contextlib.contextmanager
def directories(h, native):
    """The urls of an empty directory of USER on each file system."""
    root = tempfile.mkdtemp(prefix="selvedge-compare-", dir="/tmp")
    try:
        shutil.chown(root, USER)
        h.ask("mkdir", "/compare", "755")
        for name in (native, "/compare/web"):
            h.ask("mkdir", name, "700")
            h.ask("own", name, USER)
        yield [
            f"file:{root}",
            h.url(native),
            f"webhdfs://{h.address}:{h.web_port}/compare/web",
        ]
        h.ask("remove", "/compare/web")
    finally:
        shutil.rmtree(root)


def same_answers(h, native="/compare/native", seeds=SEEDS):
    with directories(h, native) as urls:
        done = subprocess.run(
            [
                os.path.join(BUILD, "tests/interop/fs-compare"),
                USER,
                str(STEPS),
                "1",
                str(seeds),
                *urls,
            ],
            capture_output=True,
            text=True,
            errors="replace",
        )
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stdout}{done.stderr}")
    if seeds >= 200 and re.search("^0 times", done.stdout, re.M):
        raise AssertionError(f"a difference that is none: {done.stdout}")


def run(report, h):
    report.case(
        f"{h.version}: file:, HDFS and WebHDFS give the same answers, {SEEDS} seeds",
        same_answers,
        h,
    )
