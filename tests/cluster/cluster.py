"""A throw-away cluster: accounts, an installed setuid helper, configuration, daemons, and checks
that nothing is left behind. The package's documentation shows its use."""
import contextlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
import urllib.error
import urllib.request

from . import conf, host
from .host import HostError, wait_for
from .node import EMULATED, PLACE, TOP, ClusterError, Daemon, Node, http_json


class Cluster:
    """`name`: a short word. `nodes`: how many worker nodes. `users`: how many job accounts. `site`:
    keys for yarn-site.xml. `read_only_paths`: more host directories for containers. `quiet`: print
    problems alone. `installed`: our programs are installed, on all nodes or on the first so many; a
    cluster without them runs other NodeManagers, by start_nodes(argv). `address`: the listening
    address. `policy`: more keys for container-executor.cfg. `node_secret`: our ResourceManager
    demands it of our NodeManagers. `network`: a Network (tests/cluster/network.py) with a host for
    each node; the address is then the test's own in it. `build`: the build folder of another tree,
    whose programs are installed as its packaging/modes says."""

    def __init__(
        self,
        name,
        nodes=1,
        users=2,
        site=None,
        read_only_paths=(),
        quiet=False,
        installed=True,
        address="127.0.0.1",
        policy=None,
        node_secret=False,
        network=None,
        build=None,
    ):
        host.private_namespace()
        os.umask(0o022)
        host.sweep()
        self.name, self.quiet, self.installed = name, quiet, installed
        self.site = dict(site or {})
        self.tls = None  # an SSLContext: daemons serve HTTPS alone
        if node_secret:
            self.site |= {
                "selvedge.rm.unprotected-nodes": "",
                "selvedge.node-secret.file": f"{PLACE}/node-secret",
            }
        self.network, self.policy = network, policy or {}
        self.address = network.address if network else address
        self.read_only_paths = list(read_only_paths)
        self.root, self.real_root = PLACE, f"/var/lib/selvedge-{name}-{os.getpid()}"
        self.sanitize = bool(os.environ.get("SANITIZE"))
        own = os.environ.get("BUILD") or ("build-asan" if self.sanitize else "build")
        self.build = os.path.abspath(build) if build else os.path.join(TOP, own)
        self.top = os.path.dirname(self.build) if build else TOP
        self.n_nodes, self.n_users = nodes, users
        self.ports = {
            k: host.free_port() for k in ("client", "scheduler", "tracker", "admin", "web")
        }
        self.conf_dir = os.path.join(self.root, "conf")
        self.prefix = os.path.join(
            self.root, "node1", "prefix"
        )  # programs of the clients and the RM
        self.nodes, self.accounts = [], []
        self.client_variables = {}  # more of the environment of clients
        self.rm = self.cgroup = None
        self.closed = self.own_etc = False

    # --- set up and tear down ---------------------------------------------------------------

    def __enter__(self):
        try:
            self._set_up()
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.close()
            return
        problems = []
        if not (kind is SystemExit and error.code in (0, None)):
            self.collect_logs()
        with contextlib.suppress(Exception):
            self._stop_daemons()
        problems = self._tear_down()
        for problem in problems:
            print(f"cluster {self.name}: left behind: {problem}", file=sys.stderr)

    def _account(self, letter, system, groups=()):
        name = f"sv{os.getpid()}{letter}"
        self.accounts.append(name)
        with open(f"{self.root}/accounts", "a", encoding="ascii") as f:
            f.write(name + "\n")
        return host.add_account(name, system, groups)

    def _set_up(self):
        host.own_place(self.root, self.real_root)
        self.daemon = self._account("d", True)
        self.monitor = self._account("m", True)
        self.public = self._account("p", True)
        self.lookup = self._account("l", True)
        self.users = [self._account(chr(ord("a") + i), False) for i in range(self.n_users)]
        host.own_etc(f"{self.root}/machine-etc")
        self.own_etc = True
        self.cgroup = host.Cgroup(
            os.path.join(self.root, "cgroup"), os.path.basename(self.real_root)
        )
        for path, mode in (
            ("conf", 0o755),
            ("log", 0o755),
            ("staging", 0o1777),
            ("tmp", 0o1777),
            ("sanitizer", 0o1777),
            ("rm", 0o700),
        ):
            os.mkdir(f"{self.root}/{path}")
            os.chmod(f"{self.root}/{path}", mode)
        os.chown(f"{self.root}/rm", self.daemon.pw_uid, self.daemon.pw_gid)
        if "selvedge.node-secret.file" in self.site:
            with open(self.site["selvedge.node-secret.file"], "w", encoding="ascii") as f:
                os.fchmod(f.fileno(), 0o600)
                os.fchown(f.fileno(), self.daemon.pw_uid, self.daemon.pw_gid)
                f.write(os.urandom(32).hex() + "\n")
        self.nodes = [Node(self, i + 1) for i in range(self.n_nodes)]
        if not self.cgroup.enforced:
            self.say(
                "this machine's cgroup v2 has no memory, pids and cpu controllers: "
                "limits are NOT enforced (both settings that allow it are on)"
            )
        self.write_conf(self.conf_dir, {})

    def write_conf(self, directory, more):
        # Hadoop reads hadoop.* keys before it loads yarn-site.xml.
        common = {k: v for k, v in self.site.items() if k.startswith(("hadoop.", "fs."))}
        conf.write_xml(f"{directory}/core-site.xml", {**conf.core_site(self.root), **common})
        conf.write_xml(
            f"{directory}/yarn-site.xml",
            {
                **conf.cluster_site(self.root, self.ports, self.address, self.network),
                **more,
                **self.site,
            },
        )
        conf.write_xml(f"{directory}/capacity-scheduler.xml", conf.capacity_scheduler())

    def close(self):
        """Checks that the applications left nothing behind, stops the daemons, removes the cluster
        and checks that nothing of it is left. ClusterError names the leftovers."""
        if self.closed:
            return
        problems = []
        try:
            self.settle()
        except (HostError, ClusterError) as error:
            problems.append(str(error))
        problems += self._stop_daemons()
        uids = {pwd.getpwnam(a).pw_uid for a in self.accounts}
        with contextlib.suppress(HostError):  # the machine's pid 1 reaps orphans of a killed daemon
            wait_for(lambda: not host.processes_of(uids), host.PATIENCE, "processes")
        problems += self.sanitizer_reports()
        if problems:
            self.collect_logs()
        problems += self._tear_down()
        if problems:
            raise ClusterError("not clean:\n  " + "\n  ".join(problems))

    def _stop_daemons(self):
        problems = []
        for daemon in [n.process for n in self.nodes] + [self.rm]:
            try:
                if daemon is not None:
                    daemon.stop()
            except ClusterError as error:
                problems.append(str(error))
        return problems

    def _tear_down(self):
        """Removes the cluster in any state; returns leftovers, and failures of the removal."""
        self.closed = True
        problems = []
        uids = {p.pw_uid for p in pwd.getpwall() if p.pw_name in self.accounts}

        def attempt(what, function, *args):
            try:
                function(*args)
            except (HostError, OSError) as error:
                problems.append(f"{what}: {error}")

        if uids:
            problems += [f"process {host.describe(p)}" for p in host.processes_of(uids)]
            attempt("processes", host.kill_all_of, uids)
        if self.cgroup:
            problems += [f"cgroup {leaf}" for leaf in self.cgroup.leaves()]
            attempt("cgroup", self.cgroup.remove)
            attempt("cgroup mount", self.cgroup.unmount)
        for node in self.nodes:
            attempt(f"state of {node.name}", node.forget_state)
        with contextlib.suppress(HostError):  # a helper may still be exiting
            wait_for(
                lambda: not host.mounts_of_place(self.root, self.real_root), host.PATIENCE, "mounts"
            )
        left = [
            f"mount {point} (pid {pid})"
            for pid, point in host.mounts_of_place(self.root, self.real_root)
        ]
        problems += left
        if self.own_etc:
            attempt("/etc", host.umount, "/etc")
            self.own_etc = False
        for account in reversed(self.accounts):
            attempt(f"account {account}", host.remove_account, account)
        if os.path.isdir(self.real_root) and not left:
            attempt("mount of the directory", host.umount, self.root)
            attempt("directory", shutil.rmtree, self.real_root)
        problems += [f"account {a}" for a in self.accounts if host.account_exists(a)]
        if os.path.exists(self.real_root):
            problems.append(f"directory {self.real_root}")
        return problems

    # --- daemons ----------------------------------------------------------------------------

    def as_user(self, account):
        """argv prefix that runs a command as `account` with its groups and without capabilities.
        The bounding set stays: the setuid helper needs it."""
        return [
            "setpriv",
            "--reuid",
            str(account.pw_uid),
            "--regid",
            str(account.pw_gid),
            "--init-groups",
            "--inh-caps=-all",
            "--",
        ]

    def daemon_env(self, conf_dir, name):
        env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HADOOP_CONF_DIR": conf_dir,
            "USER": self.daemon.pw_name,
        }
        if "SELVEDGE_LOG_LEVEL" in os.environ:
            env["SELVEDGE_LOG_LEVEL"] = os.environ["SELVEDGE_LOG_LEVEL"]
        if self.sanitize:
            log = f"log_path={self.root}/sanitizer/{name}"
            env["ASAN_OPTIONS"] = f"{log}:abort_on_error=1:disable_coredump=1"
            env["UBSAN_OPTIONS"] = f"{log}:print_stacktrace=1"
        return env

    def sanitizer_reports(self):
        found = []
        directory = f"{self.root}/sanitizer"
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
            with open(f"{directory}/{name}", encoding="utf-8", errors="replace") as f:
                found.append(f"sanitizer report of {name}:\n{f.read(4000)}")
        for daemon in [self.rm] + [
            n.process for n in self.nodes
        ]:  # reports that could not be written to log_path
            if daemon is None or not os.path.exists(daemon.log):
                continue
            with open(daemon.log, encoding="utf-8", errors="replace") as f:
                lines = [
                    line
                    for line in f
                    if "runtime error:" in line
                    or "ERROR: AddressSanitizer" in line
                    or "ERROR: LeakSanitizer" in line
                ]
            if lines:
                found.append(f"sanitizer report in the log of {daemon.name}: {''.join(lines[:5])}")
        return found

    def start_rm(self, argv=None, env=None, seconds=host.PATIENCE):
        """Starts our ResourceManager, or that of `argv`, and waits until it answers."""
        self.write_conf(self.conf_dir, {})
        argv = argv or [os.path.join(self.prefix, "sbin", "selvedge-rm")]
        self.rm = Daemon(
            self,
            "resourcemanager",
            argv,
            {**self.daemon_env(self.conf_dir, "resourcemanager"), **(env or {})},
        )
        self.rm.start()
        self.wait(
            lambda: self.rm.must_run() and self.rm_get("/ws/v1/cluster/info"),
            seconds,
            "the ResourceManager answers on its web port",
        )

    def start_nodes(self, argv=None, env=None, seconds=host.PATIENCE):
        """Starts every NodeManager and waits until the ResourceManager lists them as RUNNING."""
        for node in self.nodes:
            node.start(argv, env)
        self.wait_nodes(seconds)

    def wait_nodes(self, seconds=host.PATIENCE):
        self.wait(
            lambda: all(n.process.must_run() for n in self.nodes)
            and {n.id for n in self.nodes} <= set(self.running_nodes()),
            seconds,
            "every node is RUNNING at the ResourceManager",
        )

    def running_nodes(self):
        nodes = (self.rm_get("/ws/v1/cluster/nodes") or {}).get("nodes") or {}
        return [n["id"] for n in nodes.get("node", []) if n["state"] == "RUNNING"]

    @property
    def rm_url(self):
        return f"{'https' if self.tls else 'http'}://{self.address}:{self.ports['web']}"

    def rm_get(self, path):
        """JSON of the ResourceManager, or None while it does not answer."""
        try:
            return http_json(self.rm_url + path, context=self.tls)
        except (urllib.error.URLError, OSError, ValueError):
            return None

    def wait(self, condition, seconds, what):
        try:
            return wait_for(condition, seconds * (4 if self.sanitize or EMULATED else 1), what)
        except HostError as error:
            raise ClusterError(str(error)) from None

    # --- work ---------------------------------------------------------------------------------

    def client_env(self, user=None):
        user = user or self.users[0]
        return {
            **self.daemon_env(self.conf_dir, "client"),
            "USER": user.pw_name,
            "LOGNAME": user.pw_name,
            "HOME": f"{self.root}/tmp",
            "PATH": f"{self.prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            **self.client_variables,
        }

    def selvedge_argv(self, *args, user=None):
        return [
            *self.as_user(user or self.users[0]),
            os.path.join(self.prefix, "bin", "selvedge"),
            *args,
        ]

    def selvedge(self, *args, user=None, timeout=300, cwd="/"):
        """Runs the command line as a job user; a CompletedProcess with text output."""
        return subprocess.run(
            self.selvedge_argv(*args, user=user),
            env=self.client_env(user),
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )

    def popen(self, argv, user=None, **more):
        """Starts any command as a job user in the cluster's environment."""
        return subprocess.Popen(
            [*self.as_user(user or self.users[0]), *argv],
            env=self.client_env(user),
            cwd="/",
            **more,
        )

    def user_dir(self, name, user=None):
        """A new directory that belongs to a job user (input files, archives)."""
        user = user or self.users[0]
        path = f"{self.root}/tmp/{name}"
        os.mkdir(path, 0o755)
        os.chown(path, user.pw_uid, user.pw_gid)
        return path

    def container_processes(self):
        """Processes of containers, their monitors and localizers."""
        return host.processes_of(
            {u.pw_uid for u in [*self.users, self.monitor, self.public, self.lookup]}
        )

    def leftovers(self):
        found = [f"process {host.describe(pid)}" for pid in self.container_processes()]
        found += self.cgroup.described_leaves()
        for node in self.nodes:
            found += node.leftovers()
        return found

    def settle(self, seconds=host.PATIENCE):
        """Waits until finished applications have left no process, cgroup or directory."""
        try:
            self.wait(lambda: not self.leftovers(), seconds, "settle")
        except ClusterError:
            left = self.leftovers()
            if left:
                raise ClusterError("left behind by applications:\n  " + "\n  ".join(left)) from None

    # --- messages ---------------------------------------------------------------------------------

    def say(self, text):
        if not self.quiet:
            print(f"cluster {self.name}: {text}", flush=True)

    def collect_logs(self):
        """Copies logs and configuration to build/test-logs/NAME and prints the daemons' last
        lines."""
        if not os.path.isdir(self.real_root):
            return  # the cluster is removed, and its logs were copied before
        target = os.path.join(self.build, "test-logs", self.name)
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target, exist_ok=True)
        sources = [f"{self.root}/log", f"{self.root}/conf", f"{self.root}/sanitizer"]
        for node in self.nodes:
            sources += [*node.log_dirs, node.conf_dir]
        for source in sources:
            for parent, _, names in os.walk(source):
                for name in names:
                    path = os.path.join(parent, name)
                    if stat.S_ISREG(os.lstat(path).st_mode) and os.lstat(path).st_size < 8 << 20:
                        copy = os.path.join(target, os.path.relpath(path, self.root))
                        os.makedirs(os.path.dirname(copy), exist_ok=True)
                        shutil.copyfile(path, copy)
        for daemon in [self.rm] + [n.process for n in self.nodes]:
            if daemon is not None:
                print(f"--- last lines of {daemon.name}\n{daemon.tail()}", file=sys.stderr)
        print(f"--- all logs: {target}", file=sys.stderr, flush=True)
