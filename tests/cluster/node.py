"""One worker node of a throw-away cluster: its directories, ports, control group, installation and
daemon. tests/cluster/cluster.py makes them."""
import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import urllib.request

from . import conf, host

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Every cluster is mounted at this directory, in a mount namespace of its own: the paths of the
# nodes' configuration are compiled into their helpers, which are built once (tests/rules.mk).
PLACE = "/var/lib/selvedge-test-cluster"
# The VM's helpers are on its second disk. Limits of time are longer there: it may be emulated.
EMULATED = "SELVEDGE_TEST_HELPERS" in os.environ


class ClusterError(Exception):
    pass


class Daemon:
    """One daemon process, run as the daemon account, or as `account`, without any privilege."""

    def __init__(self, cluster, name, argv, env, host=None, account=None):
        self.cluster, self.name, self.argv, self.env = cluster, name, argv, env
        self.account = account or cluster.daemon
        self.enter = host.enter if host else []
        self.log = os.path.join(cluster.root, "log", name + ".log")
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.enter + self.cluster.as_user(self.account) + self.argv,
                cwd="/",
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process is not None and self.process.poll() is None

    def must_run(self):
        if not self.running():
            status = (
                "not started" if self.process is None else f"ended with {self.process.returncode}"
            )
            raise ClusterError(f"{self.name}: {status}:\n{self.tail()}")
        return True

    def stop(self, seconds=host.PATIENCE):
        """SIGTERM, then wait. A daemon that does not end, or ends with an error, is a failure."""
        if self.process is None:
            return
        if self.running():
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ClusterError(f"{self.name}: does not end within {seconds} s of SIGTERM") from None
        self.process = None
        if code not in (0, -signal.SIGTERM, 128 + signal.SIGTERM):
            raise ClusterError(f"{self.name}: ended with {code}:\n{self.tail()}")

    def kill(self):
        """kill -9"""
        if self.running():
            self.process.kill()
            self.process.wait()
        self.process = None

    def freeze(self):
        """SIGSTOP, in effect for every thread on return: the kernel accepts bytes, nothing answers.
        Only kill() ends that."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)

    def tail(self, lines=25):
        with contextlib.suppress(OSError), open(self.log, encoding="utf-8", errors="replace") as f:
            return "".join("    " + line for line in f.readlines()[-lines:])
        return ""


class Node:
    """One worker node: its own directories, ports, cgroup, installed helper and configuration."""

    def __init__(self, cluster, number):
        self.cluster, self.number = cluster, number
        self.name = f"nodemanager{number}"
        self.dir = os.path.join(cluster.root, f"node{number}")
        self.prefix = os.path.join(self.dir, "prefix")
        self.libexec = os.path.join(self.prefix, "libexec", "selvedge")
        self.state = os.path.join(self.dir, "state")
        self.conf_dir = os.path.join(self.dir, "conf")
        self.local_dirs = [os.path.join(self.dir, f"local{i}") for i in (0, 1)]
        self.log_dirs = [os.path.join(self.dir, "containers")]
        self.host = cluster.network.hosts[number - 1] if cluster.network else None
        self.address = self.host.name if self.host else cluster.address
        # a host of its own has Hadoop's usual ports
        self.ports = (
            dict(conf.NODE_PORTS) if self.host else {k: host.free_port() for k in conf.NODE_PORTS}
        )
        self.site = {}
        owner = self.account = cluster.daemon
        for path in [self.dir, self.prefix, self.conf_dir]:
            os.mkdir(path, 0o755)
        for path in self.own_dirs():
            os.mkdir(path, 0o755)
            os.chown(path, owner.pw_uid, owner.pw_gid)
        # The daemon creates it and so owns all of its files, those of the common limits too.
        self.cgroup = os.path.join(
            cluster.cgroup.delegate(f"node{number}", owner.pw_uid, owner.pw_gid), "containers"
        )
        if cluster.installed is True or number <= cluster.installed:
            self.install()
        self.process = None
        self.ours = True

    @property
    def id(self):
        return f"{self.address}:{self.ports['rpc']}"

    @property
    def url(self):
        return f"{'https' if self.cluster.tls else 'http'}://{self.address}:{self.ports['web']}"

    def own_dirs(self):
        return [*self.local_dirs, *self.log_dirs, os.path.join(self.dir, "recovery")]

    def run_as(self, account):
        """Before the start: a NodeManager that runs containers as itself then runs them as
        `account`."""
        self.account = account
        for path in self.own_dirs():
            os.chown(path, account.pw_uid, account.pw_gid)

    def install(self):
        """Installs everything below this node's prefix, as packaging/modes says, with the helper of
        this node's paths."""
        etc = os.path.join(self.prefix, "etc")
        helpers = os.environ.get("SELVEDGE_TEST_HELPERS") or os.path.join(
            self.cluster.build, "helpers"
        )
        built = {
            p: os.path.join(helpers, f"node{self.number}", p)
            for p in ("container-executor", "container-prepare")
        }
        if not all(os.path.exists(p) for p in built.values()):
            raise ClusterError(
                f"{helpers}/node{self.number} has no helper: make test-programs builds "
                "those of three nodes"
            )
        top = self.cluster.top
        install(self.cluster.build, self.prefix, self.libexec, etc, self.cluster.daemon, built, top)
        conf.write_executor_cfg(f"{etc}/selvedge/container-executor.cfg", self)

    def write_conf(self):
        self.cluster.write_conf(self.conf_dir, {**conf.node_site(self), **self.site})

    def start(self, argv=None, env=None):
        """Starts or restarts the NodeManager; `argv` runs another one than ours."""
        self.write_conf()
        self.ours = argv is None
        argv = argv or [os.path.join(self.prefix, "sbin", "selvedge-nodemanager")]
        self.process = Daemon(
            self.cluster,
            self.name,
            argv,
            {**self.cluster.daemon_env(self.conf_dir, self.name), **(env or {})},
            self.host,
            self.account,
        )
        self.process.start()

    def get(self, path):
        return http_json(self.url + path, context=self.cluster.tls)

    def on_tmpfs(self):
        """Puts local and log directories on a tmpfs each, in the cluster's mount namespace, until
        forget_state(). For benches: an ext4 without a journal searches recently freed inodes
        whenever it makes a file, so that a run is slower than the one before it."""
        for path in self.local_dirs + self.log_dirs:
            st = os.stat(path)
            owner = f"mode={st.st_mode & 0o7777:o},uid={st.st_uid},gid={st.st_gid}"
            host.mount("none", path, "tmpfs", data=owner)

    def forget_state(self):
        """Unmounts what container-prepare has made for this node's helper, and on_tmpfs()."""
        for path in [self.state, *self.local_dirs, *self.log_dirs]:
            while os.path.ismount(path):
                host.umount(path)

    def leftovers(self):
        """Files that finished applications must not leave behind on this node. Apache's
        NodeManager, which sometimes leaves a token file, is not checked, nor a cluster that keeps
        them on purpose; their directories are removed with the cluster.
        """
        found = []
        if not self.ours or "yarn.nodemanager.delete.debug-delay-sec" in self.cluster.site:
            return found
        for local in self.local_dirs:
            users = os.path.join(local, "usercache")
            trees = [os.path.join(local, "nmPrivate")]
            if os.path.isdir(users):
                trees += [os.path.join(users, u, "appcache") for u in os.listdir(users)]
            for tree in trees:
                with contextlib.suppress(FileNotFoundError):
                    found += [f"directory {tree}/{name}" for name in os.listdir(tree)]
        return found


def install(build, prefix, libexec, etc, daemon, instead, top=TOP):
    """As `make install` in the tree `top`, with the daemon's group for the group yarn. `instead`
    maps base names to other sources."""
    variables = {
        "PREFIX": prefix,
        "LIBDIR": f"{prefix}/lib",
        "PYTHONDIR": f"{prefix}/lib/python3/dist-packages",
        "LIBEXECDIR": libexec,
        "SYSCONFDIR": etc,
        "BUILD": build,
    }
    with open(os.path.join(top, "packaging", "modes"), encoding="utf-8") as table:
        rows = [line.split() for line in table if line.strip() and line[0] not in "#["]
    for path, owner, group, mode, source in (r for r in rows if not r[4].startswith("?")):
        for name, value in variables.items():
            path = path.replace("${%s}" % name, value)
            source = source.replace("${%s}" % name, value)
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        if source == "-":
            os.makedirs(path, exist_ok=True)
        else:
            source = os.path.join(top, source)
            shutil.copyfile(instead.get(os.path.basename(path), source), path)
        os.chown(path, pwd.getpwnam(owner).pw_uid, daemon.pw_gid if group == "yarn" else 0)
        os.chmod(path, int(mode, 8))


def http_json(url, timeout=host.PATIENCE, context=None):
    with urllib.request.urlopen(url, timeout=timeout, context=context) as answer:
        return json.load(answer)
