"""Apache Hadoop's daemons and clients inside a throw-away cluster (tests/cluster).

    with peers.cluster("shell", rm="apache-3.4.2", nm="selvedge") as c:
        result = peers.distributed_shell(c, "-shell_command", "date", "-num_containers", "10")

A daemon is "selvedge" or "apache-VERSION". Everything runs on loopback and ends with the
cluster."""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import Cluster, ClusterError  # noqa: E402
from interop import hadoop  # noqa: E402

SELVEDGE = "selvedge"
RM_CLASS = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
NM_CLASS = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
SHELL_CLASS = "org.apache.hadoop.yarn.applications.distributedshell.Client"
HEAP = {"daemon": "-Xmx512m", "client": "-Xmx256m"}

LOG4J = """log4j.rootLogger=INFO,console
log4j.logger.http.requests=WARN
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""


def version_of(daemon):
    """The Hadoop version of "apache-VERSION", None of "selvedge"."""
    if daemon == SELVEDGE:
        return None
    if not daemon.startswith("apache-"):
        raise ValueError(f"{daemon}: neither {SELVEDGE} nor apache-VERSION")
    return daemon[len("apache-") :]


def java_home():
    return os.path.dirname(
        os.path.dirname(
            os.path.realpath(
                subprocess.run(
                    ["sh", "-c", "command -v java"], capture_output=True, text=True, check=True
                ).stdout.strip()
            )
        )
    )


@contextlib.contextmanager
def cluster(
    name,
    rm,
    nm,
    client=None,
    nodes=1,
    site=None,
    prepare=None,
    network=None,
    policy=None,
    installed=None,
):
    """A running cluster of the given daemons; `client`: the Hadoop version that applications and
    their ApplicationMasters come from, 2.x for a ResourceManager of 2.x, which does not know what
    newer clients call first. `nm` may be a list, a daemon for each node, ours first. `prepare` is
    called with the cluster before its daemons start. `network`: a Network whose hosts the nodes
    are. `policy`: the Cluster's. `installed`: our programs are there on so many nodes although
    others run at first. Raises hadoop.Unavailable when a piece cannot be had.
    """
    each = nm if isinstance(nm, list) else [nm] * nodes
    nm = each[0]
    if client is None:
        client = "2.10.2" if (version_of(rm) or "").startswith("2.") else hadoop.REFERENCE
    lib = hadoop.jars(client)
    for daemon in (rm, *each):
        if version_of(daemon):
            hadoop.classes(version_of(daemon))
    if installed or SELVEDGE in (rm, nm):
        for program in ("selvedge-rm", "selvedge-nodemanager"):
            if not os.path.exists(os.path.join(hadoop.BUILD, program)):
                raise hadoop.Unavailable(f"{hadoop.BUILD}/{program}: not built")
    c = Cluster(
        name,
        nodes=len(each),
        quiet=True,
        installed=installed or each.count(SELVEDGE) or SELVEDGE == rm,
        network=network,
        policy=policy,
    )
    c.hadoop = f"{c.root}/hadoop"
    # DistributedShell's ApplicationMaster reads files in its submitter's home; host directories
    # that containers see must be below directories owned by root.
    c.home = f"{c.root}/homes/submitter"
    c.read_only_paths = [c.hadoop, c.conf_dir, c.home]
    c.container_classpath = [c.conf_dir, f"{c.hadoop}/classes", f"{c.hadoop}/lib/*"]
    c.site = {"yarn.application.classpath": ",".join(c.container_classpath), **(site or {})}
    with c:
        c.peer_client, c.peer_rm, c.peer_nm, c.peer_nms = client, rm, nm, each
        link_tree(lib, f"{c.hadoop}/lib")
        link_tree(hadoop.classes(client), f"{c.hadoop}/classes")
        # Hadoop's default executor runs containers as the daemon account, which must be able to
        # read the submitter's files.
        c.submitter = c.daemon if version_of(nm) else c.users[0]
        os.makedirs(c.home)
        os.chown(c.home, c.submitter.pw_uid, c.submitter.pw_gid)
        for directory in [c.conf_dir, *[n.conf_dir for n in c.nodes]]:
            with open(f"{directory}/log4j.properties", "w", encoding="ascii") as f:
                f.write(LOG4J)
        try:
            if prepare:
                prepare(c)
            start_rm(c)
            start_nodes(c)
            yield c
        finally:  # JVMs in containers that see the machine's /tmp
            for account in c.accounts:
                shutil.rmtree(f"/tmp/hsperfdata_{account}", ignore_errors=True)


def link_tree(source, target):
    """Links or copies a directory's files to one that containers may see; the build may be below
    /root or /tmp."""
    os.makedirs(target)
    for name in os.listdir(source):
        try:
            os.link(f"{source}/{name}", f"{target}/{name}")
        except OSError:  # another file system
            shutil.copyfile(f"{source}/{name}", f"{target}/{name}")


def _daemon(c, daemon, main, conf_dir):
    """(argv, env) of a Java daemon; argv is None for ours."""
    env = {"JAVA_HOME": java_home(), "LANG": "C.UTF-8"}
    version = version_of(daemon)
    if version is None:
        return None, env
    return java_daemon(c, version, main, conf_dir), env


def java_daemon(c, version, main, conf_dir):
    """argv, with what c.more_classes(version) gives at the end of the class path."""
    argv = hadoop.java(version, main, conf=conf_dir, options=options(c, "daemon"))
    if hasattr(c, "more_classes"):
        argv[argv.index("-cp") + 1] += c.more_classes(version)
    return argv


def options(c, kind):
    """JVM options that keep everything inside the cluster's directory, and c.java_options."""
    return [
        *hadoop.SHORT_LIVED,
        HEAP[kind],
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={c.root}/tmp",
        f"-Duser.home={c.home}",
        *getattr(c, "java_options", ()),
    ]


def start_rm(c, more=None):
    """`more`: of the daemon's environment."""
    argv, env = _daemon(c, c.peer_rm, RM_CLASS, c.conf_dir)
    c.start_rm(argv, {**env, **(more or {})}, seconds=180)


def start_nodes(c):
    for node in c.nodes:
        start_node(c, node)
    wait_nodes(c)


def wait_nodes(c, seconds=180):
    """By port, where all are on one host: Hadoop names a node by the host name of its address."""

    def known(node):
        return node if c.network else node.rsplit(":", 1)[1]

    wanted = {known(node.id) for node in c.nodes}
    c.wait(
        lambda: all(n.process.must_run() for n in c.nodes)
        and wanted <= {known(node) for node in c.running_nodes()},
        seconds,
        "every node is RUNNING at the ResourceManager",
    )


def start_node(c, node, more=None):
    """`more`: of the daemon's environment."""
    argv, env = _daemon(c, c.peer_nms[node.number - 1], NM_CLASS, node.conf_dir)
    node.start(argv, {**env, **(more or {})})


def swap_node(c, node, daemon):
    """Another NodeManager takes an idle node over, at another port: the ResourceManager knows
    both."""
    node.process.stop()
    node.ports["rpc"] += 1000
    c.peer_nms[node.number - 1] = daemon
    start_node(c, node)
    wait_nodes(c)


def swap_rm(c, daemon):
    """Another ResourceManager in its place; the nodes find it by themselves."""
    c.rm.stop()
    c.peer_rm = daemon
    start_rm(c)
    wait_nodes(c)


def client_argv(c, main, *args):
    return hadoop.java(c.peer_client, main, *args, conf=c.conf_dir, options=options(c, "client"))


def client(c, main, *args, timeout=300):
    """Runs a Java client as the submitter; a CompletedProcess with text output."""
    return run_as_submitter(c, client_argv(c, main, *args), timeout=timeout)


def run_as_submitter(c, argv, conf_dir=None, timeout=300):
    """The same for any command, with a configuration directory of its own."""
    with _start_as_submitter(c, argv, conf_dir) as process:
        try:
            out, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            raise ClusterError(
                f"{' '.join(argv[-6:])}: not within {timeout} s:\n{out[-3000:]}"
            ) from None
    return subprocess.CompletedProcess(process.args, process.returncode, out)


def start_client(c, main, *args):
    return _start_as_submitter(c, client_argv(c, main, *args))


def _start_as_submitter(c, argv, conf_dir=None):
    env = {**c.client_env(c.submitter), "JAVA_HOME": java_home()}
    if conf_dir:
        env["HADOOP_CONF_DIR"] = conf_dir
    return subprocess.Popen(
        [*c.as_user(c.submitter), *argv],
        env=env,
        cwd=c.home,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


class Application:
    """One application, as the ResourceManager reports it."""

    def __init__(self, c, app_id, exit_code=None, output=""):
        self.cluster, self.id, self.exit_code, self.output = c, app_id, exit_code, output

    def report(self):
        answer = self.cluster.rm_get(f"/ws/v1/cluster/apps/{self.id}")
        return (answer or {}).get("app") or {}

    def wait_ended(self, seconds=180):
        """The report, once the application is FINISHED, FAILED or KILLED."""
        ended = ("FINISHED", "FAILED", "KILLED")
        self.cluster.wait(lambda: self.report().get("state") in ended, seconds, f"{self.id} ends")
        return self.report()

    def attempts(self):
        answer = self.cluster.rm_get(f"/ws/v1/cluster/apps/{self.id}/appattempts") or {}
        return (answer.get("appAttempts") or {}).get("appAttempt") or []

    def outputs(self, name="stdout"):
        """{container id: text} of a log file of every container that has one."""
        found = {}
        for node in self.cluster.nodes:
            for directory in node.log_dirs:
                for path in glob.glob(f"{directory}/{self.id}/container_*/{name}"):
                    with open(path, encoding="utf-8", errors="replace") as f:
                        found[os.path.basename(os.path.dirname(path))] = f.read()
        return found


def shell_args(c, *args):
    jar = glob.glob(f"{hadoop.jars(c.peer_client)}/hadoop-yarn-applications-distributedshell-*.jar")
    if not jar:
        raise hadoop.Unavailable(f"Hadoop {c.peer_client} has no DistributedShell")
    return [
        "-jar",
        jar[0],
        "-master_memory",
        "256",
        "-container_memory",
        "64",
        "-container_vcores",
        "1",
        *args,
    ]


_SUBMITTED = re.compile(r"application_\d+_\d+")


def distributed_shell(c, *args, timeout=300):
    """Runs DistributedShell's client to its end; an Application."""
    done = client(c, SHELL_CLASS, *shell_args(c, *args), timeout=timeout)
    found = _SUBMITTED.search(done.stdout)
    if not found:
        raise ClusterError(
            f"DistributedShell submitted nothing (exit {done.returncode}):\n{done.stdout[-3000:]}"
        )
    return Application(c, found.group(0), done.returncode, done.stdout)


class RunningShell:
    """DistributedShell in the background. Leaving the block ends it and its application."""

    def __init__(self, c, *args):
        self.cluster = c
        self.process = start_client(c, SHELL_CLASS, *shell_args(c, *args))
        self.lines = []

    def __enter__(self):
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"Submitted application (application_\d+_\d+)", line)
            if found:
                self.application = Application(self.cluster, found.group(1))
                return self
        self.process.wait()
        said = "".join(line for line in self.lines if not line.startswith("\tat "))
        raise ClusterError(f"DistributedShell submitted nothing:\n{said[-3000:]}")

    def finish(self, timeout=300):
        out, _ = self.process.communicate(timeout=timeout)
        self.application.exit_code = self.process.returncode
        self.application.output = "".join(self.lines) + out
        return self.application

    def __exit__(self, *_error):
        if self.process.poll() is None:
            kill_application(self.cluster, self.application.id)
            self.process.kill()
        self.process.stdout.close()
        self.process.wait()


def kill_application(c, app_id):
    """By Hadoop's own command line class."""
    return client(
        c, "org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application", "-kill", app_id
    )
