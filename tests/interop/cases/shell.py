"""Hadoop's own DistributedShell, unmodified. The expectations of each case are the results of an
all-Apache cluster of the reference version: the client's exit code, the application's state, final
status and diagnostics, the number of attempts and the output of the containers."""
import contextlib
import glob
import os
import re
import signal

from cluster import ClusterError
from interop import hadoop, peers

APACHE = f"apache-{hadoop.REFERENCE}"
CLOCK = r"\d\d:\d\d:\d\d"
SUCCEEDED = {"exit": 0, "state": "FINISHED", "final": "SUCCEEDED", "diagnostics": "", "attempts": 1}
FAILED = {"exit": 2, "state": "FINISHED", "final": "FAILED", "attempts": 1}


def differences(application, wanted):
    """Descriptions of the values that differ from `wanted`, whose diagnostics are a regular
    expression of the whole."""
    report = application.wait_ended()
    found = {
        "exit": application.exit_code,
        "state": report.get("state"),
        "final": report.get("finalStatus"),
        "diagnostics": report.get("diagnostics") or "",
        "attempts": len(application.attempts()),
    }
    wrong = [
        f"{key} is {found[key]!r}, wanted {value!r}"
        for key, value in wanted.items()
        if key in found
        and (
            found[key] != value
            if key != "diagnostics"
            else not re.fullmatch(value, found[key], re.S)
        )
    ]
    if "outputs" in wanted:
        count, pattern = wanted["outputs"]
        texts = [text for text in application.outputs().values() if re.search(pattern, text)]
        if len(texts) != count:
            wrong.append(
                f"{len(texts)} containers wrote {pattern!r}, wanted {count}: "
                f"{list(application.outputs().items())[:3]}"
            )
    return wrong


def expect(application, wanted):
    wrong = differences(application, wanted)
    if wrong:
        raise ClusterError(f"{application.id}: " + "; ".join(wrong))


def date(c, count):
    expect(
        peers.distributed_shell(c, "-shell_command", "date", "-num_containers", str(count)),
        {**SUCCEEDED, "outputs": (count, CLOCK)},
    )


def failing(c):
    text = (
        r"Application Failure: desired = 2, completed = 2, allocated = 2, failed = 2, "
        r"diagnostics = .*Exit code: 7\n.*non-zero exit code 7\b.*"
    )
    if c.peer_client.startswith("2."):
        text = r"Diagnostics\., total=2, completed=2, allocated=2, failed=2"
    expect(
        peers.distributed_shell(c, "-shell_command", "exit 7", "-num_containers", "2"),
        {**FAILED, "diagnostics": text},
    )


def script(c):
    """One container: the ApplicationMaster renames the script for each container, and all but the
    first fail. Only for NodeManagers whose containers can write into the submitter's home: it is a
    shared file system in a real cluster and a directory of the host here, which our sandbox
    hides."""
    path = f"{c.home}/say.sh"
    with open(path, "w", encoding="ascii") as f:
        f.write('#!/bin/bash\necho "got $# words: $1, $2 and $MARK in $(basename "$0")"\n')
    os.chmod(path, 0o755)
    expect(
        peers.distributed_shell(
            c,
            "-shell_script",
            path,
            "-shell_args",
            "left right",
            "-shell_env",
            "MARK=seven",
            "-num_containers",
            "1",
        ),
        {**SUCCEEDED, "outputs": (1, r"^got 2 words: left, right and seven in \w+\.sh$")},
    )


def shipped(c):
    path = f"{c.home}/words.txt"
    with open(path, "w", encoding="ascii") as f:
        f.write("seven words that a client has shipped\n")
    os.chmod(path, 0o644)
    expect(
        peers.distributed_shell(
            c, "-shell_command", "cat words.txt", "-localize_files", path, "-num_containers", "3"
        ),
        {**SUCCEEDED, "outputs": (3, "^seven words that a client has shipped$")},
    )


def missing_program(c):
    expect(
        peers.distributed_shell(c, "-shell_command", "no-such-program-here"),
        {
            **FAILED,
            "diagnostics": r"Application Failure: desired = 1, completed = 1, allocated = 1, failed = 1, "
            r"diagnostics = .*Exit code: 127\n.*no-such-program-here.*",
        },
    )


def retried(c):
    """A container that its node starts again twice, in its work directory; one container for the
    ApplicationMaster."""
    expect(
        peers.distributed_shell(
            c,
            "-shell_command",
            "echo run >>runs; grep -c run runs | grep -q 3 && date",
            "-num_containers",
            "1",
            "-container_retry_policy",
            "1",  # RETRY_ON_ALL_ERRORS
            "-container_max_retries",
            "2",
            "-container_retry_interval",
            "100",
        ),
        {**SUCCEEDED, "outputs": (1, CLOCK)},
    )


def processes(*words):
    """Pids whose command line is exactly these words."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as f:
            if f.read().rstrip(b"\0").split(b"\0") == [w.encode() for w in words]:
                found.append(int(path.split("/")[2]))
    return found


def nap():
    """A number of seconds that no other process sleeps: it identifies the containers."""
    nap.count += 1
    return f"{3000 + nap.count}.{os.getpid()}"


nap.count = 0


@contextlib.contextmanager
def sleepers(c, count):
    """A running DistributedShell whose `count` containers all sleep."""
    seconds = nap()
    with peers.RunningShell(
        c, "-shell_command", f"sleep {seconds}", "-num_containers", str(count)
    ) as shell:
        try:
            c.wait(
                lambda: len(processes("sleep", seconds)) == count, 180, f"{count} containers sleep"
            )
        except ClusterError as error:
            found, application = len(processes("sleep", seconds)), shell.application
            said = application.outputs("AppMaster.stderr")
            raise ClusterError(f"{error}, but {found}: {application.report()}, {said}") from None
        yield shell, seconds


def killed_application(c):
    with sleepers(c, 4) as (shell, seconds):
        done = peers.kill_application(c, shell.application.id)
        if done.returncode != 0:
            raise ClusterError(
                f"yarn application -kill: exit {done.returncode}:\n{done.stdout[-2000:]}"
            )
        expect(
            shell.finish(),
            {
                "exit": 2,
                "state": "KILLED",
                "final": "KILLED",
                "attempts": 1,
                "diagnostics": r"Application application_\d+_\d+ was killed by user \S+ at \S+\n?",
            },
        )
        c.wait(
            lambda: not processes("sleep", seconds), 30, "containers of a killed application end"
        )


def killed_container(c):
    with sleepers(c, 2) as (shell, seconds):
        for pid in processes("sleep", seconds):
            os.kill(pid, signal.SIGKILL)
        expect(
            shell.finish(),
            {
                **FAILED,
                "diagnostics": r"Application Failure: desired = 2, completed = 2, "
                r"allocated = 2, failed = 2, diagnostics = .*"
                r"Exit code is 137\n.*non-zero exit code 137\b.*",
            },
        )


def killed_master(c):
    """The second attempt starts its containers again; SIGTERM ends them."""
    with sleepers(c, 2) as (shell, seconds):
        first = processes("sleep", seconds)
        masters = [pid for pid in masters_of(shell.application.id)]
        if len(masters) != 1:
            raise ClusterError(f"{len(masters)} ApplicationMasters of {shell.application.id}")
        os.kill(masters[0], signal.SIGKILL)
        c.wait(
            lambda: len(set(processes("sleep", seconds)) - set(first)) == 2,
            180,
            "a second attempt's containers",
        )
        for pid in processes("sleep", seconds):
            os.kill(pid, signal.SIGTERM)
        expect(
            shell.finish(),
            {
                **FAILED,
                "attempts": 2,
                "diagnostics": r"Application Failure: .*Exit code is 143\n.*",
            },
        )


def masters_of(app_id):
    """Java processes of the application's ApplicationMaster, by their environment."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        with contextlib.suppress(OSError):
            with open(path, "rb") as f:
                mine = re.search(
                    rf"CONTAINER_ID=container_(e\d+_)?{app_id[len('application_'):]}_\d+_000001\0".encode(),
                    f.read(),
                )
            if mine and os.path.basename(os.readlink(os.path.dirname(path) + "/exe")) == "java":
                found.append(int(path.split("/")[2]))
    return found


CASES = [
    ("date in 1 container", date, 1),
    ("date in 10 containers", date, 10),
    ("date in 100 containers", date, 100),
    ("a failing command in 2 containers", failing),
    ("a missing program", missing_program),
    ("a container that its node starts again", retried),
    ("a shipped file in 3 containers", shipped),
    ("a shipped script with arguments and environment", script),
    ("the application is killed", killed_application),
    ("the containers are killed", killed_container),
    ("the ApplicationMaster is killed", killed_master),
]
OTHER_VERSIONS = (date, failing)  # the cases of other versions' daemons


def cases(c):
    """The cases of a pairing, from CASES."""
    daemons = (c.peer_rm, c.peer_nm)
    if hadoop.BRIEF:  # ours together: 1 and 10 containers, else 1
        return CASES[:2] if set(daemons) == {peers.SELVEDGE} else CASES[:1]
    found = [case for case in CASES if case[1] != script or c.peer_nm != peers.SELVEDGE]
    if all(daemon in (APACHE, peers.SELVEDGE) for daemon in daemons):
        return found
    return [case for case in found if case[1] in OTHER_VERSIONS and case[2:] != (100,)]


def run(report, c):
    for name, function, *args in cases(c):
        report.case(f"{c.pairing}: {name}", function, c, *args)
