"""Cases of test-systemd: the installed node on the system bus, with the distribution's dbus-daemon and polkit and the package's
policy, actions and rule. test-dbus of the integration suite has the same interface on a private bus with a scripted polkit."""
import json
import os
import signal
import subprocess

from installed import TOP, Failed, expect, job, rows, tool

NAME = "org.selvedge.NodeManager1"
NODE = "/org/selvedge/NodeManager1"
OBJECTS = ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
CLIENT = (f"{os.environ['BUILD']}/tests/integration/nodemanager/bus-client", "unix:path=/run/dbus/system_bus_socket")
JOB = "trap '' USR1; echo up; exec sleep 600"


def as_user(user):
    return ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]


def busctl(user, *argv):
    """As root (None) or another account: exit status and what was printed."""
    done = subprocess.run([*(as_user(user) if user else []), "busctl", *argv], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def answered(user, *argv):
    code, said = busctl(user, *argv)
    if code != 0:
        raise Failed(f"{user or 'root'}: busctl {' '.join(argv)}: {said}")
    return said


def refused(user, *call):
    code, said = busctl(user, "call", NAME, *call)
    expect(f"{user}: {call}: {said}", (code != 0, "Access denied" in said), (True, True))


def get(path, interface, name, user=None):
    return json.loads(answered(user, "--json=short", "get-property", NAME, path, f"{NAME}.{interface}", name))["data"]


def asking(user, method):
    """A call of the container's method by bus-client, which shows an error's words; busctl has its own for AccessDenied."""
    return subprocess.Popen([*as_user(user), *CLIENT, "ask", "1", Running.path, method],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def container(name, user=None):
    """Calls a method of the container without arguments."""
    answered(user, "call", NAME, Running.path, f"{NAME}.Container", name)


def frozen(wanted):
    expect("Frozen", get(Running.path, "Container", "Frozen"), wanted)


class Running:
    """The job of these cases."""
    process = path = None


def accounts():
    """An administrator, a user, and the owner of a job; the package has made the group."""
    tool("useradd", "--user-group", "--no-create-home", "--groups", "selvedge-admin", "admin")
    tool("useradd", "--user-group", "--no-create-home", "user")
    run_job()


def run_job():
    Running.process, group = job(JOB, "-m", "64m", "--tries", "1")
    Running.path = f"{NODE}/container/" + os.path.basename(group).replace("_", "_5f")
    expect("the job", get(Running.path, "Container", "State"), "RUNNING")


def seen():
    """busctl tree, introspect and call: root and the administrator see the job, its owner his own, a user the node alone."""
    for user, may in ((None, True), ("admin", True), ("job", True), ("user", False)):
        tree = answered(user, "tree", "--list", NAME)
        objects = json.loads(answered(user, "--json=short", "call", NAME, NODE, *OBJECTS))["data"][0]
        code, shown = busctl(user, "introspect", NAME, Running.path)
        expect(f"{user or 'root'} sees the job: {shown}", (Running.path in tree, Running.path in objects, code == 0 and ".Stop" in shown),
               (may, may, may))
        expect(f"{user or 'root'} sees the node", "registered" in answered(user, "introspect", NAME, NODE), True)


def documented(part):
    """The lines of docs/operate/dbus.md that do, or do not, begin or end a drain."""
    with open(f"{TOP}/docs/operate/dbus.md", encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.startswith("    busctl ")]
    return [line for line in lines if ("rain" in line.split(" s ")[0].rsplit(None, 1)[-1]) == (part == "drain")]


def run_documented(part):
    lines = documented(part)
    expect("lines", len(lines) >= 2, True)
    for line in lines:
        done = subprocess.run([*as_user("admin"), "sh", "-c", line],
                              env={**os.environ, "C": Running.path}, capture_output=True, text=True, timeout=120)
        expect(f"{line}: {done.stderr}", done.returncode, 0)


def monitored():
    """busctl monitor of root shows a change."""
    with subprocess.Popen(["busctl", "monitor", NAME], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as monitor:
        expect("monitor", "Monitoring" in monitor.stdout.readline(), True)
        container("Freeze")
        for line in monitor.stdout:
            if "Member=PropertiesChanged" in line:
                break
        else:
            raise Failed("busctl monitor has ended")
        monitor.terminate()
        monitor.stdout.read()
    container("Thaw")


def signals():
    """Signals reach the administrator and no user."""
    told = {}
    receivers = {user: subprocess.Popen([*as_user(user), *CLIENT, "signals"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE) for user in ("admin", "job", "user")}
    for receiver in receivers.values():
        expect("receiver", receiver.stdout.readline(), "ready\n")
    monitored()
    for user, receiver in receivers.items():
        told[user] = Running.path in receiver.communicate("", timeout=120)[0]
    expect("told", told, {"admin": True, "job": False, "user": False})


# Every method but Stop, Kill and Drain, which end the job: cases of their own.
METHODS = (("Container", "Freeze"), ("Container", "Thaw"), ("Container", "Signal", "i", "10"), ("Container", "SetLimit", "st", "cpu-weight", "50"),
           ("Container", "SetLimit", "st", "cpu-weight", "0"), ("Node", "Undrain"))
ENDING = (("Container", "Stop"), ("Container", "Kill"), ("Node", "Drain", "s", "mine"))


def words(interface, method, *args):
    """Of busctl's call."""
    return (Running.path if interface == "Container" else NODE, f"{NAME}.{interface}", method, *args)


def methods():
    """The package's actions and rule: root and the administrator may; to the job's owner and a user each method is refused, in words that
    say how an administrator gets in. The job goes on."""
    for user in (None, "admin"):
        for method in METHODS:
            answered(user, "call", NAME, *words(*method))
    for user in ("user", "job"):
        for method in METHODS + ENDING:
            refused(user, *words(*method))
        said = asking(user, "Stop").communicate(timeout=120)[0]
        expect(f"{user}: {said}", "not authorized by polkit without a password" in said, True)
    expect("the job and the node", (get(Running.path, "Container", "State"), get(NODE, "Node", "Draining")), ("RUNNING", False))
    for user, may in (("root", True), ("admin", True), ("job", True), ("user", False)):
        done = subprocess.run([*as_user(user), *CLIENT, "log", Running.path, "stdout"], capture_output=True, text=True, timeout=120)
        expect(f"OpenLog by {user}: {done.stdout}{done.stderr}", "up" in done.stdout.split(), may)


def polkit_away():
    """polkit stopped: the bus starts it again. Masked: root alone may. Restarted: the administrator may again."""
    tool("systemctl", "stop", "polkit")
    container("Freeze", "admin")
    frozen(True)
    tool("systemctl", "mask", "--runtime", "--now", "polkit")
    refused("admin", Running.path, f"{NAME}.Container", "Thaw")
    frozen(True)
    container("Thaw")
    frozen(False)
    tool("systemctl", "unmask", "--runtime", "polkit")
    tool("systemctl", "restart", "polkit")
    container("Freeze", "admin")
    container("Thaw", "admin")
    frozen(False)


def polkit_slow():
    """polkit stands still: the caller is refused after 20 s, others are answered meanwhile, and a caller that has gone has done
    nothing."""
    pid = int(tool("systemctl", "show", "-P", "MainPID", "polkit"))
    os.kill(pid, signal.SIGSTOP)
    try:
        waiting = [asking("admin", "Freeze") for _ in range(2)]
        frozen(False)
        waiting[1].kill()
        waiting[1].communicate()
        said = waiting[0].communicate(timeout=120)[0]
        expect(said, "polkit has not answered" in said, True)
    finally:
        os.kill(pid, signal.SIGCONT)
    container("Thaw", "admin")
    frozen(False)


def ended():
    """By the administrator, and by root: the ResourceManager and the client are told who did it."""
    container("Stop", "admin")
    row = rows(Running.process)[0]
    expect("exit code and words", (row["exitCode"], "stopped by admin" in row["diagnostics"]), (-100, True))
    run_job()
    container("Kill")
    row = rows(Running.process)[0]
    expect("exit code and words", (row["exitCode"], "by an operator (uid 0)" in row["diagnostics"]), (-100, True))


def drained():
    """By the administrator, and undrained: the ResourceManager has the node back."""
    answered("admin", "call", NAME, NODE, f"{NAME}.Node", "Drain", "s", "new disk")
    expect("HealthReport", get(NODE, "Node", "HealthReport", "user"), "drained: new disk")
    run_documented("drain")
    expect("Draining", get(NODE, "Node", "Draining"), False)
    process, _ = job("echo up; exit 0", "-m", "64m")
    expect("a job afterwards", [r["exitCode"] for r in rows(process)], [0])


CASES = (("D-Bus: accounts and a job", accounts, ()),
         ("D-Bus: tree, introspect and call of root, administrator, owner and user", seen, ()),
         ("D-Bus: the documented lines as administrator", run_documented, ("others",)),
         ("D-Bus: busctl monitor; signals for administrators alone", signals, ()),
         ("D-Bus: each method for root, administrator, owner and user", methods, ()),
         ("D-Bus: polkit stopped, masked, restarted", polkit_away, ()),
         ("D-Bus: polkit stands still", polkit_slow, ()),
         ("D-Bus: administrator and root end a job", ended, ()),
         ("D-Bus: the administrator drains and undrains", drained, ()))
