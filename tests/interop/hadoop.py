"""Where the pieces of a real Hadoop are: its jars, our Java programs compiled against them, and the
command line that runs a class."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
REFERENCE = "3.4.2"
VERSIONS = ["2.10.2", "3.3.6", "3.4.2", "3.5.0"]


class Unavailable(Exception):
    """A piece that a test needs cannot be had here; the text says why."""


def jars(version):
    """The lib directory of a version, fetched by Maven on first use."""
    try:
        done = subprocess.run([os.path.join(HERE, "jars"), version], capture_output=True, text=True,
                              env={**os.environ, "BUILD": BUILD})
    except OSError as error:
        raise Unavailable(f"tests/interop/jars: {error}") from None
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if "ERROR" in line or "mvn" in line]
        raise Unavailable(f"jars of Hadoop {version}: {lines[0] if lines else done.stderr.strip()}")
    return done.stdout.strip().splitlines()[-1]


def classes(version):
    """Our own Java programs, compiled against a version's jars."""
    lib = jars(version)
    out = os.path.join(BUILD, "interop", f"hadoop-{version}", "classes")
    source = os.path.join(HERE, "java")
    files = sorted(os.path.join(source, name) for name in os.listdir(source) if name.endswith(".java"))
    stamp = os.path.join(out, ".made")
    if not os.path.exists(stamp) or any(os.path.getmtime(f) > os.path.getmtime(stamp) for f in files):
        os.makedirs(out, exist_ok=True)
        try:
            done = subprocess.run(["javac", "-nowarn", "-proc:none", "-d", out, "-cp", f"{lib}/*", *files],
                                  capture_output=True, text=True)
        except OSError as error:
            raise Unavailable(f"javac: {error}") from None
        if done.returncode != 0:
            raise RuntimeError(f"javac against Hadoop {version}:\n{done.stderr}")
        with open(stamp, "w", encoding="ascii"):
            pass
    return out


def java(version, main, *args, conf=None, options=()):
    """argv that runs `main` with a version's jars. `conf`: a configuration directory, first in the
    class path."""
    path = ":".join(([conf] if conf else []) + [classes(version), f"{jars(version)}/*"])
    return ["java", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens",
            "java.base/java.util=ALL-UNNAMED", *options, "-cp", path, main, *args]
