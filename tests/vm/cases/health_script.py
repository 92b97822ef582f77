"""A health script of the installed node: it runs as yarn in a cgroup of its own below the daemon's
unit, what it forks too, and a daemon that is killed leaves nothing of it to the next one."""
import os
import pwd

from cluster import host
from installed import CONF, SLICE, expect, main_pid, read, tool

SCRIPT = "/usr/local/sbin/node-health"
GROUP = f"{SLICE}/selvedge-nodemanager.service/health-0"
KEY = "yarn.nodemanager.health-checker.script.path"
# One process leaves the script's session, so no signal to a process group finds it.
HANGS = "#!/bin/sh\nsetsid sleep 1000 >/dev/null &\nexec sleep 1000\n"


def processes():
    return read(f"{GROUP}/cgroup.procs").split() if os.path.exists(GROUP) else []


def write(text):
    with open(f"{SCRIPT}.new", "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(f"{SCRIPT}.new", 0o755)
    os.rename(f"{SCRIPT}.new", SCRIPT)


def health_script():
    with open(f"{CONF}/yarn-site.xml", encoding="utf-8") as f:
        before = f.read()
    write(HANGS)
    with open(f"{CONF}/yarn-site.xml", "w", encoding="utf-8") as f:
        row = f"<property><name>{KEY}</name><value>{SCRIPT}</value></property>\n"
        f.write(before.replace("</configuration>", row + "</configuration>"))
    tool("systemctl", "restart", "selvedge-nodemanager")
    host.wait_for(lambda: len(processes()) == 2, 60, "the script runs in its cgroup")
    first, pid = processes(), main_pid()
    expect("accounts", {os.stat(f"/proc/{p}").st_uid for p in first}, {pwd.getpwnam("yarn").pw_uid})
    expect("processes of the unit's own group", str(pid) in read(f"{GROUP}/../cgroup.procs"), True)
    tool("systemctl", "kill", "--kill-whom=main", "-s", "KILL", "selvedge-nodemanager")
    host.wait_for(lambda: main_pid() not in (0, pid), 60, "systemd restarts it")
    host.wait_for(
        lambda: len(processes()) == 2 and not set(processes()) & set(first),
        60,
        "the next daemon's run alone",
    )
    second = processes()
    with open(f"{CONF}/yarn-site.xml", "w", encoding="utf-8") as f:
        f.write(before)
    tool("systemctl", "restart", "selvedge-nodemanager")
    expect("left", [p for p in first + second if os.path.exists(f"/proc/{p}")], [])
    expect("its cgroup", os.path.exists(GROUP), False)
    os.unlink(SCRIPT)
