"""The helper built from a changed copy of its sources, for the fixed place of helper_fixture's
prebuilt fixture; and test programs run on it, chosen functions of them, that stop at the first
check that fails. For tests/mutants/run and tests/coverage/run. Needs root and a finished `make
test-programs`."""
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE = "/var/lib/selvedge-test-helper"  # PLACE of lib/helper_fixture.py
COPIED = ("setuid-helper", "executor", "cgroups")
PROGRAMS = (
    "container-delete",
    "container-signal",
    "container-link",
    "container-monitor",
    "container-init",
    "container-start",
)
FILTERS = ("strict", "hadoop", "localizer", "monitor")


class Build:
    """`work`: a directory of ours. The tests find what they look for below `work`/build."""

    def __init__(self, build, work, cflags=()):
        self.real, self.work, self.cflags = os.path.abspath(build), work, list(cflags)
        self.tree, self.out, self.build = work + "/tree", work + "/helpers/helper", work + "/build"
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(self.out)
        os.makedirs(self.build)
        for room in COPIED:
            shutil.copytree(f"{TOP}/{room}", f"{self.tree}/{room}")
        for name in os.listdir(TOP):
            if name not in COPIED and not name.startswith("."):
                os.symlink(f"{TOP}/{name}", f"{self.tree}/{name}")
        for name in os.listdir(self.real):
            if name not in PROGRAMS + ("seccomp",):
                os.symlink(f"{self.real}/{name}", f"{self.build}/{name}")
        self._commands()

    def _commands(self):
        """What make would run, as {source: command} and the commands that link."""
        goals = [f"{self.out}/container-executor", f"{self.out}/container-prepare"]
        goals += [f"{self.real}/{p}" for p in PROGRAMS]
        text = subprocess.run(
            [
                "make",
                "-C",
                TOP,
                "--no-print-directory",
                "-nB",
                "V=1",
                f"BUILD={self.real}",
                f"EXECUTOR_CONF={BASE}/etc/container-executor.cfg",
                f"EXECUTOR_STATE={BASE}/state",
                f"LIBEXECDIR={BASE}/libexec",
                f"HELPER_DIR={self.out}",
                f"HELPER={goals[0]}",
                *goals,
            ],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout
        self.compile, self.link = {}, {}
        for line in text.splitlines():
            words = shlex.split(line) if re.match(r"\S*(gcc|clang|cc)\b.* -o ", line) else []
            if not words:
                continue
            target = words[words.index("-o") + 1]
            if "-c" in words and target.startswith(
                (self.out, self.real + "/executor/", self.real + "/setuid-helper/handoff/")
            ):
                words[words.index("-o") + 1] = target = self._user(target)
                self.compile.setdefault(words[-1], []).append(words)
            elif target in goals:
                words = [self._user(w) for w in words]
                words[words.index("-o") + 1] = target.replace(self.real, self.build)
                self.link[os.path.basename(target)] = words
        os.makedirs(self.out + "/user", exist_ok=True)
        os.makedirs(self.out + "/handoff", exist_ok=True)
        if len(self.link) != len(goals) or len(self.compile) < 20:
            raise SystemExit("make does not say how the helper is built")

    def _user(self, path):
        """Objects of the programs that are not built for a fixture: beside the others."""
        return path.replace(self.real + "/executor/", self.out + "/user/").replace(
            self.real + "/setuid-helper/handoff/", self.out + "/handoff/"
        )

    def _run(self, words, extra=()):
        r = subprocess.run(
            words[:1] + list(extra) + words[1:],
            cwd=self.tree,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return r.stdout if r.returncode else ""

    def make(self, sources=None):
        """Compiles these sources (None: all) and links; the compiler's words when it refuses."""
        wanted = (
            list(self.compile) if sources is None else [s for s in sources if s in self.compile]
        )
        for source in wanted:
            for words in self.compile[source]:
                # A mutant may leave something unused; a warning is not how it must be noticed.
                error = self._run(words + ["-Wno-error"], self.cflags)
                if error:
                    return error
        for words in self.link.values():
            error = self._run(words, self.cflags)
            if error:
                return error
        return ""

    def filters(self):
        """From the policies of the copy."""
        os.makedirs(self.build + "/seccomp", exist_ok=True)
        for f in FILTERS:
            error = self._run(
                [
                    f"{self.real}/executor/seccomp/compile",
                    f"executor/seccomp/{f}.policy",
                    f"{self.build}/seccomp/{f}.bpf",
                ]
            )
            if error:
                return error
        return ""

    def unit(self, name):
        """(status, words) of a unit test of the copy; 3: it could not be built."""
        program = f"{self.work}/unit/tests/unit/{name}"
        r = subprocess.run(
            [
                "make",
                "-C",
                self.tree,
                "--no-print-directory",
                f"BUILD={self.work}/unit",
                "WARN=-Wall",
                program,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if r.returncode:
            return 3, r.stdout
        try:
            r = subprocess.run(
                [program],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=120,
            )
        except subprocess.TimeoutExpired:
            return 1, "FAIL it does not end"
        return 1 if r.returncode else 0, r.stdout


def clean():
    """What a run that was killed has left: its files were in a mount namespace of its own, its group is not."""
    at = "/run/selvedge-mutants-cgroup"
    os.makedirs(at, exist_ok=True)
    script = (
        f"mount -t cgroup2 none {at} || exit; for group in {at}/selvedge-test-*-*; do [ -d $group ] || continue; "
        f"[ -d /proc/${{group##*-}} ] && continue; echo 1 > $group/cgroup.kill; for i in 1 2 3 4 5 6 7 8; do "
        f"grep -q 'populated 0' $group/cgroup.events && break; sleep 0.2; done; "
        f"find $group -depth -type d -exec rmdir {{}} +; done"
    )
    subprocess.run(["unshare", "-m", "sh", "-c", script], stderr=subprocess.DEVNULL, check=False)
    os.rmdir(at)


def run(build, program, functions, seconds):
    """(status, words): of the chosen functions of a test program; none chosen: all. One at a time on a machine: the fixture's
    control group has one name. Who finds it there has it from a run that was killed."""
    with open("/run/lock/selvedge-mutants.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, words = run_alone(build, program, functions, seconds)
        if status:
            clean()
    return status, words


def run_alone(build, program, functions, seconds):
    env = dict(
        os.environ,
        SELVEDGE_TEST_NS="1",
        SELVEDGE_TEST_HELPERS=build.work + "/helpers",
        BUILD=build.build,
    )
    p = subprocess.Popen(
        [
            "unshare",
            "-m",
            "--propagation",
            "private",
            sys.executable,
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside"),
            program,
            ",".join(functions),
            str(seconds),
        ],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        words = p.communicate(timeout=seconds + 60)[0]
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        words = p.communicate()[0] + "\nFAIL it does not end"
    return p.returncode, words


class Helper:
    """What tests/mutants/run needs of a subject. Tests: PROGRAM:FUNCTION,FUNCTION... of
    tests/integration/setuid-helper, all functions if none is named; unit:COMPONENT/PROGRAM of
    tests/unit."""

    ALL = [
        "invocation:",
        "request:",
        "users:",
        "configuration:",
        "paths-and-deletion:",
        "cgroup-and-devices:",
        "lifecycle:",
        "container-isolation:",
        "profiles:",
        "connect-filter:",
        "socket-activation:",
        "races:",
        "fault-injection:launch_setuid",
        "unit:setuid-helper/test-config",
        "unit:setuid-helper/test-policy",
        "unit:executor/test-request",
    ]
    EACH = False  # the first test that fails has noticed the fault
    LONGEST = 150  # seconds of a program

    def __init__(self, build):
        self.copy = Build(build, "/tmp/selvedge-mutants-%d" % os.getpid())
        self.top, self.built = (
            self.copy.tree,
            None,
        )  # built: sources that the last build had with a fault

    @staticmethod
    def missing(test):
        """The functions of a test that its program does not run, or the program."""
        program, _, names = test.partition(":")
        folder = "unit/%s.c" if program == "unit" else "integration/setuid-helper/test-%s"
        path = "%s/tests/%s" % (TOP, folder % (names if program == "unit" else program))
        if not os.path.exists(path):
            return [test]
        with open(path, encoding="utf-8") as f:
            main_function = f.read().rpartition("\ndef main(")[2]
        functions = names.split(",") if names and program != "unit" else []
        return [name for name in functions if not re.search(r"\b%s\b" % name, main_function)]

    def build(self, files, _tests):
        """The compiler's words when it refuses the sources, of which `files` have a fault, and no
        others. Those of the call before are built again without it."""
        again = set(files) | (self.built or set())
        error = self.copy.make(
            None if self.built is None else [f for f in again if f.endswith(".c")]
        )
        if not error and (self.built is None or any(f.endswith(".policy") for f in again)):
            error = self.copy.filters()
        self.built = again if error else set(files)
        return error.strip()

    def fails(self, test):
        """The first check of a test that fails, or ""; None: the fixture could not be made."""
        program, _, functions = test.partition(":")
        if program == "unit":
            status, words = self.copy.unit(functions)
        else:
            chosen = [name for name in functions.split(",") if name]
            status, words = run(self.copy, program, chosen, self.LONGEST)
        if status == 3:
            return None
        failed = [l.strip()[5:] for l in words.splitlines() if l.lstrip().startswith("FAIL")]
        failed += re.findall(r"^\[ *FAILED *\] (test_\w+)$", words, re.M)
        return (failed + [words.strip()[-200:]])[0].strip() if status else ""

    def close(self):
        shutil.rmtree(self.copy.work)
