"""Socket-activated mode of an installed node: systemd starts the helper for each request, and it
has no setuid bit. Cases of test-systemd."""
import json
import os
import pwd
import re
import socket
import struct
import subprocess
import time

from cluster import host
from daemon_unit import daemon_alone
from installed import CONF, TOP, as_job, expect, job, main_pid, read, rows, tool

DROP_IN = "/usr/share/selvedge/nodemanager-socket.conf"
HELPER = "/usr/libexec/selvedge/container-executor"
SOCKET = "/run/selvedge-executor/socket"


def check(connection, helper=None):
    """Requests the policy in force; returns the status and the time taken."""
    with open(os.path.join(TOP, "executor/request.h"), encoding="utf-8") as header:
        version = int(re.search(r"#define EXE_PROTOCOL_VERSION (\d+)", header.read()).group(1))
    request = struct.pack("=IHHQ", 0x71457653, version, 1, 1)
    began = time.monotonic()
    connection.send(request + bytes(560 - len(request)))
    process = helper() if helper else None
    connection.settimeout(60)
    answer = connection.recv(65536)
    took = time.monotonic() - began
    if process:
        process.wait()
    connection.close()
    return struct.unpack_from("<H", answer, 6)[0], took


def as_yarn(function):
    os.setegid(pwd.getpwnam("yarn").pw_gid)
    os.seteuid(pwd.getpwnam("yarn").pw_uid)
    try:
        return function()
    finally:
        os.seteuid(0)
        os.setegid(0)


def through_socket():
    def connect():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(SOCKET)
        return s

    return check(as_yarn(connect))


def setuid():
    ours, theirs = as_yarn(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    yarn = pwd.getpwnam("yarn")
    return check(
        ours,
        lambda: subprocess.Popen(
            [HELPER],
            executable=HELPER,
            stdin=theirs,
            user=yarn.pw_uid,
            group=yarn.pw_gid,
            extra_groups=[],
        ),
    )


def instances():
    """Units of requests in any state."""
    return tool(
        "systemctl", "list-units", "--all", "--no-legend", "--plain", "selvedge-executor@*"
    ).split("\n")[:-1]


def switch():
    """Socket-activated mode, as documented: the socket, one line of configuration, the drop-in, no
    setuid bit."""
    spawned = sorted(setuid()[1] for _ in range(5))[2]
    with open(f"{CONF}/yarn-site.xml", encoding="utf-8") as f:
        text = f.read()
    line = (
        "<property><name>selvedge.nodemanager.executor.socket</name><value>"
        f"{SOCKET}</value></property>"
    )
    with open(f"{CONF}/yarn-site.xml", "w", encoding="utf-8") as f:
        f.write(text.replace("</configuration>", line + "</configuration>"))
    directory = "/etc/systemd/system/selvedge-nodemanager.service.d"
    os.makedirs(directory)
    os.symlink(DROP_IN, f"{directory}/socket.conf")
    tool("dpkg-statoverride", "--update", "--add", "root", "yarn", "0750", HELPER)
    tool("systemctl", "daemon-reload")
    tool("systemctl", "enable", "--now", "selvedge-executor.socket")
    tool("systemctl", "restart", "selvedge-nodemanager")
    with open(f"/proc/{main_pid()}/status", encoding="ascii") as f:
        status = dict(row.split(":\t", 1) for row in f if ":\t" in row)
    expect(
        "no_new_privs, filter, capabilities",
        [status[k].strip() for k in ("NoNewPrivs", "Seccomp", "CapBnd", "CapPrm")],
        ["1", "2", "0" * 16, "0" * 16],
    )
    expect(
        "owner and mode of the socket",
        (os.stat(SOCKET).st_uid, os.stat(SOCKET).st_mode & 0o777),
        (pwd.getpwnam("yarn").pw_uid, 0o600),
    )
    results = [through_socket() for _ in range(5)]
    expect("answers", {r[0] for r in results}, {0})
    print(
        f"        an answer takes {sorted(r[1] for r in results)[2] * 1000:.0f} ms, setuid "
        f"{spawned * 1000:.0f} ms (medians of 5, emulated)",
        flush=True,
    )
    done = subprocess.run(
        ["/usr/bin/selvedge", "--json", "doctor"],
        capture_output=True,
        text=True,
        cwd="/",
        env={**os.environ, "HADOOP_CONF_DIR": CONF},
    )
    found = json.loads(done.stdout)["findings"]
    expect("findings", [f for f in found if f["state"] in ("bad", "weak")], [])
    for text in (
        f"started by systemd through {SOCKET}",
        "selvedge-executor.socket: active",
        "NoNewPrivileges is on",
    ):
        expect(text, any(f["state"] == "ok" and text in f["text"] for f in found), True)


def switched_job():
    """Containers leave no process in the services that started them, and these services end."""
    process, group = job("echo up; exec sleep 600", "-m", "192m", "-c", "2")
    expect("memory.max", read(f"{group}/memory.max"), str(192 << 20))
    host.wait_for(lambda: len(instances()) == 0, 30, "no service of a request is left")
    daemon_alone(main_pid())
    with open(f"{group}/cgroup.kill", "w", encoding="ascii") as f:
        f.write("1")
    expect("exit code", rows(process)[0]["exitCode"], 137)
    process = subprocess.Popen(
        as_job("--json", "run", "-n", "12", "-m", "32m", "--", "exit 6"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    expect("exit codes", [r["exitCode"] for r in rows(process)], [6] * 12)
    host.wait_for(lambda: len(instances()) == 0, 30, "no service of a request is left")


def socket_stops():
    """A container outlives its killed daemon and the socket; the start of a new one waits for the
    socket."""
    process, group = job("echo up; exec sleep 600", "-m", "64m")
    before, pid = read(f"{group}/cgroup.procs"), main_pid()
    tool("systemctl", "kill", "--kill-whom=main", "-s", "KILL", "selvedge-nodemanager")
    host.wait_for(lambda: main_pid() not in (0, pid), 30, "systemd restarts it")
    host.wait_for(
        lambda: tool("systemctl", "show", "-P", "ActiveState", "selvedge-nodemanager").strip()
        == "active",
        60,
        "the daemon is active",
    )
    tool("systemctl", "stop", "selvedge-executor.socket")
    expect("the socket", os.path.exists(SOCKET), False)
    expect("the daemon", tool("systemctl", "is-active", "selvedge-nodemanager").strip(), "active")
    waiting = subprocess.Popen(
        as_job("--json", "run", "-m", "32m", "--", "exit 3"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    host.wait_for(
        lambda: "trying again"
        in tool("journalctl", "-b", "--no-pager", "-u", "selvedge-nodemanager"),
        60,
        "the daemon finds no socket",
    )
    tool("systemctl", "start", "selvedge-executor.socket")
    expect("a container that had to wait", rows(waiting)[0]["exitCode"], 3)
    expect("the container's processes", read(f"{group}/cgroup.procs"), before)
    with open(f"{group}/cgroup.kill", "w", encoding="ascii") as f:
        f.write("1")
    row = rows(process)[0]
    expect("exit code and tries", (row["exitCode"], row["tries"]), (137, 1))
