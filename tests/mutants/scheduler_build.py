"""The programs of rm-lite built from a changed copy of its sources, for tests/mutants/run. Needs
a finished `make test-programs` with the same compiler."""
import glob
import os
import shutil
import subprocess
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCENARIOS = "tests/integration/rm-lite/test-scheduler-scenarios"
UNITS = """scheduler scheduler-boundaries reservations allocation-pass queues queue-limits app-queue
    queue-users preemption preempt-inside preempt-limits container-updates""".split()


def links(source, target, left_out):
    for name in os.listdir(source):
        if name not in left_out:
            os.symlink(f"{source}/{name}", f"{target}/{name}")


class Scheduler:
    """What tests/mutants/run needs of a subject: the sources and the build, with directories of its
    own for rm-lite's files and programs, links for all others. Tests: unit:PROGRAM of
    tests/unit/rm-lite; properties and progress, 200 seeds each of test-scheduler-properties and
    test-scheduler-progress; scenarios:NAME,... recorded at Apache's ResourceManager."""

    ALL = [f"unit:test-{name}" for name in UNITS] + ["properties", "progress"]
    EACH = True  # every test of a fault must notice it
    LONGEST = 300  # seconds of a test: a fault may keep it from ending

    def __init__(self, build):
        self.top = tempfile.mkdtemp(prefix="selvedge-faults-")
        self.out = f"{self.top}/build"
        own = ("rm-lite", "common", "wire")  # the others' programs are not built here
        hidden = [name for name in os.listdir(TOP) if name.startswith(".")]
        links(TOP, self.top, (*own, *hidden, "build"))
        for name in own:
            shutil.copytree(f"{TOP}/{name}", f"{self.top}/{name}")
        os.makedirs(f"{self.out}/tests/unit")
        links(build, self.out, ("rm-lite", "tests", "selvedge-rm", "flags.stamp"))
        links(f"{build}/tests", f"{self.out}/tests", ("unit",))
        links(f"{build}/tests/unit", f"{self.out}/tests/unit", ("rm-lite",))
        for name in ("rm-lite", "tests/unit/rm-lite"):
            shutil.copytree(f"{build}/{name}", f"{self.out}/{name}")
        shutil.copy2(f"{build}/flags.stamp", self.out)
        with open(f"{build}/flags.stamp", encoding="utf-8") as file:
            # another one would compile all, through the links
            self.compiler = file.read().partition(" -D")[0]

    @staticmethod
    def program(test):
        """Below the build; None: there is no such test."""
        kind, _, name = test.partition(":")
        if kind == "scenarios":
            return "selvedge-rm"
        name = name if kind == "unit" else f"test-scheduler-{kind}"
        found = glob.glob(f"{TOP}/tests/unit/rm-lite/**/{name}.c", recursive=True)
        return os.path.relpath(found[0], TOP)[: -len(".c")] if found else None

    @classmethod
    def missing(cls, test):
        kind, _, names = test.partition(":")
        if kind == "scenarios":
            golden = f"{TOP}/tests/golden/scheduler"
            return [n for n in names.split(",") if not os.path.exists(f"{golden}/{n}.scenario")]
        return [] if cls.program(test) else [test]

    def build(self, _files, tests):
        """The compiler's words when it refuses; make sees by itself what was changed."""
        programs = {f"build/{self.program(test)}" for test in tests}
        done = subprocess.run(
            ["make", "-C", self.top, "--no-print-directory", "BUILD=build"]
            + [f"CC={self.compiler}", *programs],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout.strip() if done.returncode else ""

    def fails(self, test):
        """What the test says when it fails, or ""."""
        kind, _, names = test.partition(":")
        command = [f"{self.out}/{self.program(test)}"]
        if kind == "scenarios":
            command = [f"{TOP}/{SCENARIOS}", *filter(None, names.split(","))]
        try:
            done = subprocess.run(
                command,
                env={**os.environ, "BUILD": self.out, "SELVEDGE_CHECK": ""},
                cwd=TOP,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
                timeout=self.LONGEST,
            )
        except subprocess.TimeoutExpired:
            return "it does not end"
        said = [line.strip() for line in done.stdout.splitlines()]
        said = [line for line in said if "FAIL" in line or "seed " in line or "rror" in line]
        return (said + [f"status {done.returncode}"])[0] if done.returncode else ""

    def close(self):
        shutil.rmtree(self.top)
