"""A real Hadoop: its jars, our Java programs compiled against them, and the command line that runs
a class."""
import os
import platform
import subprocess
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
REFERENCE = "3.4.2"
VERSIONS = ["2.10.2", "3.3.6", "3.4.2", "3.5.0"]
# make check runs the brief form: the reference version, and one case of each pairing. make
# check-full, and a program run by hand, run everything.
BRIEF = os.environ.get("SELVEDGE_CHECK") == "brief"
CHECKED_VERSIONS = [REFERENCE] if BRIEF else VERSIONS
# For JVMs that live for seconds: the start of 3.4.2's ResourceManager takes 3.2 s of CPU with
# these, else 6.5 s; its NodeManager 2.5 s, else 5.7 s. Not for benchmarks.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class Unavailable(Exception):
    """A jar or program that a test needs is not available; the text says why."""


def jars(version):
    """The lib directory of a version, fetched by Maven on first use."""
    try:
        done = subprocess.run(
            [os.path.join(HERE, "jars"), version],
            capture_output=True,
            text=True,
            env={**os.environ, "BUILD": BUILD},
        )
    except OSError as error:
        raise Unavailable(f"tests/interop/jars: {error}") from None
    if done.returncode != 0:
        lines = [
            line
            for line in (done.stderr + done.stdout).splitlines()
            if "ERROR" in line or "mvn" in line
        ]
        raise Unavailable(f"jars of Hadoop {version}: {lines[0] if lines else done.stderr.strip()}")
    return done.stdout.strip().splitlines()[-1]


def protobuf_sources(version, out):
    """Copies java/protobuf for a version's class names: 3.x relocates the protobuf package, in 2.x
    the RPC engine has another name."""
    source, made = os.path.join(HERE, "java", "protobuf"), []
    change = (
        ("ProtobufRpcEngine2", "ProtobufRpcEngine")
        if version.startswith("2.")
        else ("com.google.protobuf", "org.apache.hadoop.thirdparty.protobuf")
    )
    os.makedirs(out, exist_ok=True)
    for name in sorted(os.listdir(source)):
        with open(os.path.join(source, name), encoding="utf-8") as f:
            text = f.read().replace(*change)
        made.append(os.path.join(out, name))
        with open(made[-1], "w", encoding="utf-8") as f:
            f.write(text)
    return made


def classes(version):
    """Our own Java programs, compiled against a version's jars."""
    lib = jars(version)
    out = os.path.join(BUILD, "interop", f"hadoop-{version}", "classes")
    source = os.path.join(HERE, "java")
    files = sorted(
        os.path.join(where, name)
        for where, _, names in os.walk(source)
        for name in names
        if name.endswith(".java")
    )
    stamp = os.path.join(out, ".made")
    if not os.path.exists(stamp) or any(
        os.path.getmtime(f) > os.path.getmtime(stamp) for f in files
    ):
        os.makedirs(out, exist_ok=True)
        only = (
            os.path.join(source, "reference") if version == REFERENCE else source
        )  # what others cannot compile
        files = [f for f in files if os.path.dirname(f) in (source, only)]
        files += protobuf_sources(
            version, os.path.join(BUILD, "interop", f"hadoop-{version}", "source")
        )
        try:
            done = subprocess.run(
                ["javac", "-nowarn", "-proc:none", "-d", out, "-cp", f"{lib}/*", *files],
                capture_output=True,
                text=True,
            )
        except OSError as error:
            raise Unavailable(f"javac: {error}") from None
        if done.returncode != 0:
            raise RuntimeError(f"javac against Hadoop {version}:\n{done.stderr}")
        with open(stamp, "w", encoding="ascii"):
            pass
    return out


def native_library(directory):
    """Puts libhadoop.so there."""
    lib = jars("native")
    machine = {"x86_64": "amd64"}.get(platform.machine(), platform.machine())
    member = f"nativelib/Linux-{machine}/libhadoop.so"
    os.makedirs(directory)
    for jar in os.listdir(lib):
        with zipfile.ZipFile(f"{lib}/{jar}") as z:
            if member in z.namelist():
                with open(f"{directory}/libhadoop.so", "wb") as f:
                    f.write(z.read(member))
                return
    raise Unavailable(f"{member} is in no jar of {lib}")


def java(version, main, *args, conf=None, options=SHORT_LIVED):
    """argv that runs `main` with a version's jars. `conf`: a configuration directory, first in the
    class path."""
    # Of two versions of a library, WebHDFS of Hadoop 2 needs the one that its Jersey was made for.
    first = [f"{jars(version)}/asm-3.1.jar"] if version.startswith("2.") else []
    path = ":".join(([conf] if conf else []) + [classes(version), *first, f"{jars(version)}/*"])
    # Warnings of the JVM go to standard error: tests read standard output.
    return [
        "java",
        "-Xlog:disable",
        "-Xlog:all=warning:stderr",
        "-XX:+DisplayVMOutputToStderr",
        "--add-opens",
        "java.base/java.lang=ALL-UNNAMED",
        "--add-opens",
        "java.base/java.util=ALL-UNNAMED",
        *options,
        "-cp",
        path,
        main,
        *args,
    ]
