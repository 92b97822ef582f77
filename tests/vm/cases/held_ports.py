"""Ports of the daemon that systemd holds during a restart, at the right addresses and at others.
Cases of test-systemd."""
import contextlib
import errno
import os
import pwd
import re
import shutil
import socket
import subprocess

from cluster import host
from installed import CONF, active, expect, job, main_pid, properties, read, rows, tool

HELD = ("selvedge-nodemanager.socket", "selvedge-nodemanager-web.socket")


def take(port):
    """What an account of a job gets that binds the port: 0 or an error's number."""
    child = os.fork()
    if child == 0:
        status = 255
        try:
            os.setgroups([])
            os.setresgid(*3 * (pwd.getpwnam("job").pw_gid,))
            os.setresuid(*3 * (pwd.getpwnam("job").pw_uid,))
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", port))
            s.listen()
            status = 0
        except OSError as error:
            status = error.errno
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ports():
    with open(f"{CONF}/yarn-site.xml", encoding="utf-8") as f:
        found = re.search(r"yarn.nodemanager.address</name><value>127.0.0.1:(\d+)<", f.read())
    return int(found.group(1)), 8042


def answered(sockets):
    for s in sockets:
        s.sendall(b"GET /ws/v1/node/info HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n")
    for s in sockets:
        with s, s.makefile("rb") as f:
            s.settimeout(120)
            expect("an answer", f.readline()[:13], b"HTTP/1.1 200 ")


def wrong_ports():
    """The units as they are installed, on a node with another address: the daemon does not start,
    in words, and is not started by connections."""
    tool("systemctl", "stop", "selvedge-nodemanager")
    tool("systemctl", "enable", "-q", "selvedge-nodemanager.socket")
    expect("the web's socket, too", tool("systemctl", "is-enabled", HELD[1]).strip(), "enabled")
    started = subprocess.run(
        ["systemctl", "start", "selvedge-nodemanager"], capture_output=True, text=True
    )
    expect("systemctl start fails", started.returncode != 0, True)
    code, text, result = properties(
        "selvedge-nodemanager", "ExecMainStatus", "StatusText", "ActiveState"
    )
    expect("exit status and state", (code, result), ("4", "failed"))
    expect(
        f"both addresses: {text}",
        "0.0.0.0:8041" in text and f"127.0.0.1:{ports()[0]}" in text,
        True,
    )
    host.wait_for(lambda: not any(active(u) for u in HELD), 30, "the sockets have ended")
    expect(
        "in `systemctl status`",
        text
        in subprocess.run(
            ["systemctl", "status", "-l", "--no-pager", "selvedge-nodemanager"],
            capture_output=True,
            text=True,
        ).stdout,
        True,
    )


def held_ports():
    """Held by systemd: connections during a restart are answered, and another account cannot take
    the ports."""
    for unit, port in zip(HELD, ports()):
        os.makedirs(f"/etc/systemd/system/{unit}.d")
        with open(f"/etc/systemd/system/{unit}.d/address.conf", "w", encoding="ascii") as f:
            f.write(f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{port}\n")
    tool("systemctl", "daemon-reload")
    tool("systemctl", "start", "selvedge-nodemanager")  # brings its sockets
    expect("sockets", active(*HELD), True)
    process, group = job("mkfifo go; echo up; read < go; exit 0", "-m", "64m")
    before, pid = read(f"{group}/cgroup.procs"), main_pid()
    again = subprocess.Popen(["systemctl", "restart", "selvedge-nodemanager"])
    host.wait_for(
        lambda: not os.path.exists(f"/proc/{pid}"), 60, "the daemon has ended"
    )  # what it had accepted is lost
    expect(
        "another account, while no daemon runs",
        [take(port) for port in ports()],
        [errno.EADDRINUSE] * 2,
    )
    waiting = []
    while again.poll() is None and len(waiting) < 200:
        waiting.append(socket.create_connection(("127.0.0.1", ports()[1]), 60))
        with contextlib.suppress(subprocess.TimeoutExpired):
            again.wait(0.02)
    again.wait()
    answered(waiting)
    print(f"        {len(waiting)} connections during a restart, each answered", flush=True)
    expect("the daemon is another one", main_pid() not in (0, pid), True)
    tool("systemctl", "stop", "selvedge-nodemanager")
    answered([socket.create_connection(("127.0.0.1", ports()[1]), 60)])
    host.wait_for(lambda: active("selvedge-nodemanager"), 60, "a connection has started it")
    expect("the container's processes", read(f"{group}/cgroup.procs"), before)
    go = os.open(f"/proc/{before.split()[-1]}/cwd/go", os.O_WRONLY | os.O_NONBLOCK)
    os.write(go, b"\n")
    os.close(go)
    expect("exit code", rows(process)[0]["exitCode"], 0)


def own_ports():
    """Without the sockets all as before; an upgrade has kept them until now."""
    expect("sockets after the upgrade", active(*HELD), True)
    tool("systemctl", "disable", "-q", "--now", *HELD)
    for unit in HELD:
        shutil.rmtree(f"/etc/systemd/system/{unit}.d")
    tool("systemctl", "daemon-reload")
    tool("systemctl", "restart", "selvedge-nodemanager")
    answered([socket.create_connection(("127.0.0.1", ports()[1]), 60)])
