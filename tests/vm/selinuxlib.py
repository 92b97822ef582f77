"""Fixture of test-selinux, a worker node with SELinux enforcing: the kernel's denials, the node's
files, jobs of `selvedge run`, and containers requested by nm-driver as ResourceManager and
ApplicationMaster."""
import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
from cluster import conf, host  # noqa: E402
from lib import nm_driver  # noqa: E402

ROOT = "/sys/fs/cgroup/system.slice/selvedge-containers.service/containers"
CONF = "/etc/hadoop/conf"
CFG = "/etc/selvedge/container-executor.cfg"
LOCAL = "/var/lib/selvedge/local"
LOGS = "/var/log/selvedge/containers"
STATE = "/var/lib/selvedge/recovery"
# Labelled by selvedge-ports.cil: jobs cannot bind them.
PORTS = {"client": 8032, "scheduler": 8030, "tracker": 8031, "admin": 8033, "web": 8088}
NODE, NODE_WEB = 8041, 8042
PUBLIC, PRIVATE, APPLICATION = 1, 2, 3
ARCHIVE, FILE = 1, 2
COMPLETE = 3


class Failed(Exception):
    pass


def tool(*argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(argv)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().strip("\0\n ")


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: {found!r}, wanted {wanted!r}")


def label(path):
    return os.getxattr(path, "security.selinux", follow_symlinks=False).decode().strip("\0")


def context(pid):
    return read(f"/proc/{pid}/attr/current")


def main_pid(unit="selvedge-nodemanager"):
    return int(tool("systemctl", "show", "-P", "MainPID", unit))


class Denials:
    """The kernel's denials with a type of ours as source or target, since the boot. A lost record
    is a failure: it may have been a denial."""

    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        self.lines = []

    def read(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                line = (
                    os.read(self.fd, 8192)
                    .decode(errors="replace")
                    .split(";", 1)[1]
                    .split("\n", 1)[0]
                )
                if "audit_lost=" in line or "audit: backlog limit" in line:
                    raise Failed(f"the kernel lost records: {line}")
                if "avc:  denied" in line and "selvedge_" in line:
                    self.lines.append(line)
        return self.lines

    def mark(self):
        return len(self.read())

    def since(self, mark, source=""):
        """(source, target, class, permission) of each; types without selvedge_ and _t."""
        found = set()
        for line in self.read()[mark:]:
            m = re.search(
                r"denied  \{ ([^}]*) \}.* scontext=\S+?:\S+?:(\w+)_t\S* "
                r"tcontext=\S+?:\S+?:(\w+)_t\S* tclass=(\w+)",
                line,
            )
            if not m:
                raise Failed(f"not parsed: {line}")
            names = [m[i].removeprefix("selvedge_") for i in (2, 3)]
            found |= {(*names, m[4], perm) for perm in m[1].split()}
        return {d for d in found if d[0].startswith(source)}

    def none(self, mark):
        self.only(mark, set())

    def only(self, mark, wanted, maybe=frozenset()):
        """Exactly these. `maybe`: may be missing, by the order of the kernel's checks."""
        found = self.since(mark)
        if found - wanted - maybe or wanted - found:
            more = sorted(found - wanted - maybe)
            lines = "\n".join(line[line.index("avc:") :] for line in self.lines[mark:][:40])
            raise Failed(
                f"denied beyond what should be: {more}; not denied: "
                f"{sorted(wanted - found)}\n{lines}"
            )


# --- the node's files -----------------------------------------------------------------------------


def site(profile="strict", **more):
    """yarn-site.xml; `more`: keys below yarn.nodemanager. (y_…), selvedge.nodemanager. (s_…) and
    yarn. (a_…)."""
    node = "yarn.nodemanager."
    values = {
        **conf.cluster_site("/var/lib/selvedge", PORTS),
        node + "hostname": "127.0.0.1",
        node + "bind-host": "127.0.0.1",
        node + "local-dirs": LOCAL,
        node + "log-dirs": LOGS,
        node + "recovery.dir": STATE,
        node + "recovery.supervised": "true",
        node + "address": f"127.0.0.1:{NODE}",
        node + "webapp.address": f"127.0.0.1:{NODE_WEB}",
        node + "resource.cpu-vcores": 8,
        node + "linux-container-executor.group": "yarn",
        node + "linux-container-executor.nonsecure-mode.limit-users": "false",
        "selvedge.nodemanager.sandbox.profile": profile,
        "selvedge.nodemanager.selinux.labels": "true",
    }
    for key, value in more.items():
        name = key[2:].replace("__", "-").replace("_", ".")
        values[
            {"y": "yarn.nodemanager.", "s": "selvedge.nodemanager.", "a": "yarn."}[key[0]] + name
        ] = value
    conf.write_xml(f"{CONF}/yarn-site.xml", values)


def configure(sections="", **keys):
    """container-executor.cfg: the packaged one with these keys in it."""
    with open(f"{TOP}/packaging/container-executor.cfg", encoding="ascii") as f:
        text = f.read()
    for key, value in {
        "selvedge.sandbox.profiles": "strict,hadoop,host",
        "selvedge.sandbox.selinux": "enforcing",
        **{k.replace("__", "-").replace("_", "."): v for k, v in keys.items()},
    }.items():
        text = re.sub(rf"^#?{re.escape(key)}=.*\n", "", text, flags=re.M)
        text = text.replace("\n# Devices that may", f"\n{key}={value}\n# Devices that may")
    write(CFG, text + sections)


def restart(profile="strict", **more):
    site(profile, **more)
    tool("systemctl", "restart", "selvedge-nodemanager")


# --- jobs -----------------------------------------------------------------------------------------


class Job:
    """A running job of one container and an ApplicationMaster; it has printed `up`."""

    def __init__(self, command, user="job"):
        before = set(os.listdir(ROOT))
        self.process = subprocess.Popen(
            self.argv(user, "--json", "run", "-m", "64m", "--", command),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
        )
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line.strip())
            if line.strip() == "up":
                break
        else:
            raise Failed(f"no container came up: {self.lines} {self.process.stdout.read()}")
        new = [n for n in sorted(set(os.listdir(ROOT)) - before) if n.startswith("container_")]
        self.name = next((n for n in new if int(n.rsplit("_", 1)[1]) > 1), None)
        self.master = next((n for n in new if int(n.rsplit("_", 1)[1]) == 1), None)
        self.app = (
            "application_" + "_".join(self.name.replace("container_", "").split("_")[-4:-2])
            if self.name
            else None
        )
        self.user = user
        self.work = f"{LOCAL}/usercache/{user}/appcache/{self.app}/{self.name}"

    @staticmethod
    def argv(user, *words):
        return [
            "setpriv",
            "--reuid",
            user,
            "--regid",
            user,
            "--clear-groups",
            "env",
            f"HADOOP_CONF_DIR={CONF}",
            f"USER={user}",
            "HOME=/tmp",
            "/usr/bin/selvedge",
            *words,
        ]

    def end(self):
        return self.process.communicate(timeout=240)


class Driven:
    """nm-driver around the node. Containers are named by application and number."""

    def __init__(self):
        tool("systemctl", "stop", "selvedge-rm")
        self.driver = nm_driver.Driver(os.environ["BUILD"], PORTS["tracker"])
        self.app = 0

    def restart(self, *profile, **more):
        restart(*profile, **more)
        self.driver.registered(120)

    def ask(self, *words):
        answer = self.driver(*words)
        if "error" in answer:
            raise Failed(f"{words}: {answer}")
        return answer

    def start(
        self, script, user="job", memory=128, gpus=0, resources=(), app=None, up=True, data="-"
    ):
        """Starts a container that runs the script, with its log directory as first argument; waits
        for the file `up` there. `data`: what an auxiliary service is told, as aux:NAME:TEXT."""
        if app is None:
            self.app += 1
        c = Container(self, app or self.app, user)
        self.ask("next", 1, 1, gpus)
        self.ask("resources", "none")
        for resource in resources:
            self.ask("resource", *resource)
        packed = base64.b64encode(script.encode()).decode()
        answer = self.driver.start(
            c.app,
            c.number,
            1,
            user,
            f"echo {packed} | base64 -d >s.sh; exec bash s.sh <LOG_DIR>",
            data,
            memory=memory,
        )
        expect("start", answer.get("failed"), {})
        if up:
            host.wait_for(lambda: os.path.exists(f"{c.logs}/up") or c.over(), 120, f"{c.name} runs")
            if not os.path.exists(f"{c.logs}/up"):
                raise Failed(f"{c.name} did not come up: {c.told()}\n{c.log('stderr')}")
        return c


class Container:
    numbers = {}  # application -> containers it had

    def __init__(self, driven, app, user):
        self.driven, self.app, self.user = driven, app, user
        self.number = Container.numbers[app] = Container.numbers.get(app, 0) + 1
        self.name = nm_driver.container(app, self.number)
        self.app_text = f"application_{nm_driver.CLUSTER_TS}_{app:04d}"
        self.appcache = f"{LOCAL}/usercache/{user}/appcache/{self.app_text}"
        self.work = f"{self.appcache}/{self.name}"
        self.logs = f"{LOGS}/{self.app_text}/{self.name}"
        self.group = f"{ROOT}/{self.name}"

    def told(self):
        return self.driven.driver.exits().get(self.name, {})

    def over(self):
        self.driven.driver("beats", 1000, 1)
        return self.told().get("state") == COMPLETE

    def log(self, name):
        return read(f"{self.logs}/{name}") if os.path.exists(f"{self.logs}/{name}") else ""

    def ends(self):
        host.wait_for(self.over, 120, f"{self.name} ends")
        return self.told()["exit"]

    def stop(self):
        expect("stop", self.driven.driver.stop(self.app, self.number).get("failed"), {})
        return self.ends()

    def finish(self):
        """Finishes its application: all its files but the logs are deleted."""
        self.driven.driver("finish", self.app)

        def gone():
            self.driven.driver("beats", 1000, 1)
            return not os.path.exists(self.appcache)

        host.wait_for(gone, 120, f"{self.appcache} is deleted")


def levels(name):
    """Types and the common level of the processes in a container's cgroup."""
    contexts = set()
    for pid in read(f"{ROOT}/{name}/cgroup.procs").split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has exited
            contexts.add(context(pid))
    found = {c.split(":", 3)[3] for c in contexts}
    expect("levels in the group", len(found), 1)
    return {c.split(":")[2] for c in contexts}, found.pop()


def json_of(*argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, cwd="/", **more)
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise Failed(f"{argv}: {done.returncode} {done.stdout}{done.stderr}") from error


def copy_tree(source, target):
    """Overwrites files in place: they keep their labels."""
    for top, _, files in os.walk(source):
        to = target + top.removeprefix(source)
        os.makedirs(to, exist_ok=True)
        for name in files:
            shutil.copyfile(f"{top}/{name}", f"{to}/{name}")
