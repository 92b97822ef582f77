"""Jobs from their start to their end: exit codes, arguments, output, identity, files. Cases of
test-job."""
import concurrent.futures
import io
import json
import os
import re
import subprocess
import tarfile

from cluster import ClusterError
from lib.job_runs import application, expect, run
from lib.scripted_webhdfs import WebHdfs


def succeeds(c):
    code, table, output = run(c, "--", "true")
    expect("exit code", code, 0)
    expect("output", output, "")
    expect("codes", [t["exitCode"] for t in table["containers"]], [0])
    expect("tries", table["containers"][0]["tries"], 1)
    for key in ("peakMemoryBytes", "cpuTimeMs", "localizeMs", "launchMs"):
        if not isinstance(table["containers"][0][key], int):
            raise ClusterError(f"the node does not tell {key}")
    expect(
        "limits not enforced",
        bool(table["containers"][0]["limitsNotEnforced"]),
        not c.cgroup.enforced,
    )


def exit_codes(c):
    codes = {"exit 3": 3, "kill -9 $$": 137, "kill -TERM $$": 143, "no-such-program": 127}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(lambda command: run(c, "--", command), codes))
    for (command, wanted), (code, table, _) in zip(codes.items(), ends):
        expect(f"{command}: exit code", code, wanted)
        expect(f"{command}: in the table", table["containers"][0]["exitCode"], wanted)
        expect(f"{command}: tries", table["containers"][0]["tries"], 1)


def one_of_many_fails(c):
    code, table, _ = run(c, "-n", "3", "--", "test $SELVEDGE_INSTANCE != 1 || exit 9")
    expect("exit code", code, 9)
    expect("codes", [t["exitCode"] for t in table["containers"]], [0, 9, 0])
    found = application(c, "test $SELVEDGE_INSTANCE != 1 || exit 9")
    expect("final status", found["finalStatus"], "FAILED")


def output_and_arguments(c):
    words = ["a b", "it's", '"q"', "$HOME", "{{x}}", "<LOG_DIR>", "*", "\\", "-n", ""]
    code, _, output = run(
        c,
        "--env",
        "MARK=it's {{y}} $z",
        "--",
        "/bin/bash",
        "-c",
        'printf "<%s>" "$@"; echo; echo "$MARK"',
        "name",
        *words,
    )
    expect("exit code", code, 0)
    expect("output", output, "".join(f"<{w}>" for w in words) + "\nit's {{y}} $z\n")
    words = ["a  b", "*", ";", ">x", "}{", "%d", "&", "#"]
    code, _, output = run(c, "--", "echo", *words)  # without a script
    expect("plain words", (code, output), (0, " ".join(words) + "\n"))


def streams(c):
    done = c.selvedge(
        "run",
        "-n",
        "2",
        "--",
        'echo "out $SELVEDGE_INSTANCE"; echo "err $SELVEDGE_INSTANCE" >&2; ' 'printf "no newline"',
    )
    expect("exit code", done.returncode, 0)
    expect(
        "stdout",
        sorted(done.stdout.splitlines()),
        ["[0] no newline", "[0] out 0", "[1] no newline", "[1] out 1"],
    )
    found = sorted(line for line in done.stderr.splitlines() if line.startswith(("[0]", "[1]")))
    expect("stderr", found, ["[0] err 0", "[1] err 1"])
    if not re.search(
        r"INSTANCE +CONTAINER +NODE +STATE +EXIT +PEAK MEM +CPU TIME +LOCALIZE +LAUNCH", done.stderr
    ):
        raise ClusterError(f"no table:\n{done.stderr}")


def identity(c):
    for user in c.users[:2]:
        code, _, output = run(
            c, "--", "id -u; id -g; umask; echo $USER; pwd; ls -ld . | cut -c1-10", user=user
        )
        expect("exit code", code, 0)
        lines = output.splitlines()
        expect("uid and gid", lines[:2], [str(user.pw_uid), str(user.pw_gid)])
        expect("USER", lines[3], user.pw_name)
        if f"/usercache/{user.pw_name}/appcache/application_" not in lines[4]:
            raise ClusterError(f"work directory {lines[4]}")


def localization(c):
    directory = c.user_dir("localization")
    for name, mode in (("data.tgz", "w:gz"), ("plain.tar", "w")):
        with tarfile.open(f"{directory}/{name}", mode) as archive:
            info = tarfile.TarInfo("deep/inside")
            info.size = 6
            archive.addfile(info, io.BytesIO(b"treasure"[:6]))
        os.chmod(f"{directory}/{name}", 0o644)
    with open(f"{directory}/numbers.txt", "w", encoding="ascii") as f:
        f.write("".join(f"{i}\n" for i in range(100000)))
    code, _, output = run(
        c,
        "--archive",
        f"{directory}/data.tgz",
        "--archive",
        f"{directory}/plain.tar#box",
        "--file",
        f"{directory}/numbers.txt#n",
        "--",
        "cat data.tgz/deep/inside box/deep/inside; " "echo; wc -l <n; sha256sum <n",
    )
    expect("exit code", code, 0)
    lines = output.splitlines()
    expect("archives", lines[0], "treasutreasu")
    expect("lines", lines[1], "100000")
    wanted = subprocess.run(
        ["sha256sum", f"{directory}/numbers.txt"], capture_output=True, text=True, check=True
    )
    expect("checksum", lines[2].split()[0], wanted.stdout.split()[0])


def staged_elsewhere(c):
    """A staging directory that no node sees as its own: files, a directory and what the job needs
    itself are on WebHDFS, the user's alone while the job runs, and gone after it."""
    directory, web = c.user_dir("elsewhere"), WebHdfs()
    os.mkdir(f"{directory}/tree")
    for name, text in (("tree/in", "one"), ("plain", "two")):
        with open(f"{directory}/{name}", "w", encoding="ascii") as f:
            f.write(text)
    web.dirs["/staging"], seen = 0o1777, []
    web.on_read = lambda path: seen.append((path, dict(web.dirs)))
    try:
        done = c.selvedge(
            "run",
            "-D",
            f"selvedge.client.staging-dir=webhdfs://{web.server}/staging",
            "--file",
            f"{directory}/plain",
            "--local-dir",
            f"{directory}/tree",
            "--",
            "cat plain tree/in",
        )
    finally:
        web.close()
    expect("exit code", (done.returncode, done.stdout, done.stderr), (0, "twoone", done.stderr))
    user = c.users[0].pw_name
    expect("users", web.users, {user})
    expect("files that were read", len({path for path, _ in seen}), 5)
    for _, dirs in seen:
        own = {m for d, m in dirs.items() if d.startswith("/staging/")}
        expect("modes of directories", own, {0o700})
    expect("what is left", (web.files, set(web.dirs)), ({}, {"/", "/staging", f"/staging/{user}"}))


def twenty(c):
    code, table, output = run(
        c, "-n", "20", "-m", "64m", "--", "echo instance $SELVEDGE_INSTANCE of $SELVEDGE_INSTANCES"
    )
    expect("exit code", code, 0)
    found = sorted(int(n) for n in re.findall(r"^\[\d+\] instance (\d+) of 20$", output, re.M))
    expect("instances", found, list(range(20)))
    expect("containers", len({t["container"] for t in table["containers"]}), 20)
    expect("repeated exits", table["repeatedExits"], 0)


def much_output(c):
    done = c.selvedge("run", "-n", "2", "--", "seq 200000")
    expect("exit code", done.returncode, 0)
    for instance in range(2):
        mine = [line[4:] for line in done.stdout.splitlines() if line.startswith(f"[{instance}] ")]
        wrong = next((i for i, line in enumerate(mine, 1) if line != str(i)), None)
        expect(
            f"lines of instance {instance}, first wrong one, {done.stderr}",
            (len(mine), wrong),
            (200000, None),
        )


def failure_explained(c):
    """A failed instance: one line, then the last ten lines of its stderr once."""
    done = c.selvedge("run", "--no-output", "--", "seq 30 >&2; exit 4")
    lines = done.stderr.splitlines()
    at = [i for i, line in enumerate(lines) if line.startswith("instance 0 on ")]
    expect("lines of the instance", (done.returncode, len(at)), (4, 1))
    expect("its stderr", lines[at[0] + 1 : at[0] + 11], [f"    {i}" for i in range(21, 31)])
    expect(
        "no empty line, each but once",
        ("" in lines, done.stderr.count("    30\n"), "bytes of" in done.stderr),
        (False, 1, False),
    )
    app = re.search(r"application_\S+", done.stderr)[0]
    expect("ps", c.selvedge("ps", app).stdout.count("\n    30\n"), 1)
    expect("ps --verbose", c.selvedge("ps", "--verbose", app).stdout.count("\n    2\n"), 1)
    shown = c.selvedge("run", "--", "seq 30 >&2; exit 4").stderr
    expect(
        "what was printed while it ran is not repeated",
        shown.splitlines().count("30") + shown.count("    30"),
        1,
    )


def detached(c):
    done = c.selvedge("run", "--detach", "-n", "2", "--", "sleep 1; exit 5")
    expect("run --detach", (done.returncode, done.stderr), (0, ""))
    app = done.stdout.strip()
    expect(
        "wait",
        (c.selvedge("wait", app).returncode, c.selvedge("--json", "wait", app).returncode),
        (5, 5),
    )
    expect(
        "exit codes",
        [t["exitCode"] for t in json.loads(c.selvedge("--json", "ps", app).stdout)["containers"]],
        [5, 5],
    )
    expect(
        "exit code of the next job, which removes the files of this one", run(c, "--", "true")[0], 0
    )
