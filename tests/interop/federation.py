"""A federation on loopback: a state store in MariaDB, a Router, and two sub-clusters of one node
each, of Apache's daemons and ours mixed.

    with federated("selvedge", "apache-3.4.2") as f:
        application = f.shell(40)

SC-1 is the home of every application and SC-2 gets most of its containers, by a policy. With a
Network of two hosts each node has one, SC-2's ResourceManager that of its node, and the rest is on
the hub."""
import contextlib
import glob
import json
import os
import shutil
import socket
import subprocess

from cluster import conf, host
from cluster.node import Daemon, http_json
from interop import hadoop, peers
from lib.mariadb import PASSWORD, USER, MariaDB

APACHE = f"apache-{hadoop.REFERENCE}"
CLIENT = (
    "2.10.2"  # DistributedShell of 3.x asks for profiles, which Apache's Router turns into an error
)
DATABASE = "FederationStateStore"
PACKAGE = "org.apache.hadoop.yarn.server."
FEDERATION = PACKAGE + "federation."
PIPELINE = "yarn.{}.interceptor-class.pipeline"
PORTS = ("client", "scheduler", "tracker", "admin", "web")


HOME = {"yarn.resourcemanager.cluster-id": "SC-1", "yarn.resourcemanager.epoch": "1000"}


# Every application's home is SC-1, which gets three containers of ten.
HOMES = {"entry": {"key": {"id": "SC-1"}, "value": "1.0"}}
SHARES = {
    "entry": [
        {"key": {"id": "SC-1"}, "value": "0.3"},
        {"key": {"id": "SC-2"}, "value": "0.7"},
    ]
}


def store_keys(server, address="127.0.0.1"):
    sql = "yarn.federation.state-store.sql."
    return {
        "yarn.federation.enabled": "true",
        "yarn.federation.state-store.class": f"{FEDERATION}store.impl.SQLFederationStateStore",
        f"{sql}jdbc-class": "org.mariadb.jdbc.MariaDbDataSource",
        f"{sql}url": f"jdbc:mysql://{address}:{server.port}/{DATABASE}",
        f"{sql}username": USER,
        f"{sql}password": PASSWORD,
        f"{sql}max-connections": "4",
        "yarn.federation.state-store.heartbeat.initial-delay": "1s",
        "yarn.federation.state-store.heartbeat-interval-secs": "2",
        "yarn.federation.cache-ttl.secs": "1",
        # Apache's NodeManagers find their ResourceManager by its row.
        "yarn.client.failover-proxy-provider": FEDERATION
        + "failover.FederationRMFailoverProxyProvider",
        "yarn.am.liveness-monitor.expiry-interval-ms": "900000",
    }


def more_classes(version):
    """The Router's and a JDBC driver; of another version than the Router's, the driver alone."""
    lib = hadoop.jars("federation")
    if version == hadoop.REFERENCE:
        return f":{lib}/*"
    return "".join(f":{path}" for path in glob.glob(f"{lib}/mariadb-java-client-*.jar"))


class Federation:
    """`home`, `secondary`: the daemons of SC-1 and SC-2's ResourceManagers. `nodes`: those of the
    two NodeManagers; the home's has an AMRMProxy, unless `proxy` is false. `in_front`: the Router's
    daemon. `site`: more keys of all; `second_site`: of SC-2's ResourceManager.
    `running`: the id of a test's application."""

    def __init__(self, home, secondary, nodes, in_front, proxy=True, site=None):
        self.home, self.secondary, self.nodes, self.in_front = home, secondary, nodes, in_front
        self.proxy, self.site, self.second_site = proxy, site or {}, {}
        self.ports = {name: host.free_port() for name in PORTS}
        self.router_ports = {name: host.free_port() for name in ("client", "admin", "web")}
        self.proxy_port = host.free_port()
        self.c = self.server = self.second = self.router = self.running = None

    # --- configuration ------------------------------------------------------------------------

    def prepare(self, c):
        """Before the daemons start."""
        self.c = c
        if not c.installed:
            c.nodes[0].install()
        c.more_classes = more_classes
        hosts = [h.address for h in c.network.hosts] if c.network else [c.address] * 2
        self.proxy_address, self.second_address = f"{hosts[0]}:{self.proxy_port}", hosts[1]
        self.server = MariaDB(
            f"{c.root}/mariadb",
            ["--lower-case-table-names=0"] + (["--bind-address=0.0.0.0"] if c.network else []),
        )
        c.site |= store_keys(self.server, c.address) | {
            f"hadoop.proxyuser.{c.daemon.pw_name}.hosts": "*",
            f"hadoop.proxyuser.{c.daemon.pw_name}.groups": "*",
            **self.site,
        }
        write = c.write_conf
        c.write_conf = lambda directory, more: write(directory, {**HOME, **more})
        c.write_conf(c.conf_dir, {})
        self.run("schema", "--apply")
        self.run(
            "policy",
            "set",
            "*",
            "WeightedLocalityPolicyManager",
            json.dumps({"routerPolicyWeights": HOMES, "amrmPolicyWeights": SHARES}),
        )
        c.nodes[0].site = {
            "yarn.nodemanager.amrmproxy.enabled": str(self.proxy).lower(),
            "yarn.nodemanager.amrmproxy.address": self.proxy_address,
            # A first heartbeat with few of a master's requests leaves the rest to the home, while
            # the other sub-cluster has not answered yet.
            "yarn.nodemanager.amrmproxy.wait.uam-register.done": "true",
            PIPELINE.format("nodemanager.amrmproxy"): PACKAGE
            + "nodemanager.amrmproxy.FederationInterceptor",
        }
        c.nodes[1].site = {
            "yarn.resourcemanager.resource-tracker.address": f"{self.second_address}:"
            f"{self.ports['tracker']}",
            "yarn.resourcemanager.cluster-id": "SC-2",
        }
        c.running_nodes = self.running_nodes
        self.start_second()

    def second_conf(self):
        """yarn-site.xml of SC-2."""
        c, directory = self.c, f"{self.c.root}/second-conf"
        os.makedirs(directory, exist_ok=True)
        os.makedirs(f"{c.root}/second-rm", exist_ok=True)
        os.chown(f"{c.root}/second-rm", c.daemon.pw_uid, c.daemon.pw_gid)
        c.write_conf(directory, {})
        site = {
            **conf.cluster_site(c.root, self.ports, self.second_address, c.network),
            **c.site,
            "yarn.resourcemanager.cluster-id": "SC-2",
            "yarn.resourcemanager.epoch": "2000",
            "selvedge.rm.state-dir": f"{c.root}/second-rm",
            "yarn.node-attribute.fs-store.root-dir": f"file://{c.root}/second-rm/attributes",
            **self.second_site,
        }
        conf.write_xml(f"{directory}/yarn-site.xml", site)
        return directory

    def router_conf(self):
        c, directory = self.c, f"{self.c.root}/router-conf"
        os.makedirs(directory, exist_ok=True)
        c.write_conf(directory, {})
        at = {name: f"{c.address}:{port}" for name, port in self.router_ports.items()}
        router = f"{PACKAGE}router."
        conf.write_xml(
            f"{directory}/yarn-site.xml",
            {
                **conf.cluster_site(c.root, c.ports, c.address),
                **c.site,
                "yarn.router.bind-host": c.address,
                "yarn.router.clientrm.address": at["client"],
                "yarn.router.rmadmin.address": at["admin"],
                "yarn.router.webapp.address": at["web"],
                PIPELINE.format("router.clientrm"): f"{router}clientrm.FederationClientInterceptor",
                PIPELINE.format("router.rmadmin"): f"{router}rmadmin.FederationRMAdminInterceptor",
                PIPELINE.format("router.webapp"): f"{router}webapp.FederationInterceptorREST",
            },
        )
        return directory

    def client_conf(self):
        """For clients and masters: the Router's address, and the proxy's on the home's node."""
        c, directory = self.c, f"{self.c.hadoop}/client-conf"  # containers see it
        os.makedirs(directory)
        c.write_conf(directory, {})
        classes = [directory if path == c.conf_dir else path for path in c.container_classpath]
        ports = {**c.ports, "client": self.router_ports["client"]}
        site = {
            **conf.cluster_site(c.root, ports, c.address),
            **self.site,
            "yarn.application.classpath": ",".join(classes),
        }
        if self.proxy:
            site["yarn.resourcemanager.scheduler.address"] = self.proxy_address
        conf.write_xml(f"{directory}/yarn-site.xml", site)
        with open(f"{directory}/log4j.properties", "w", encoding="ascii") as f:
            f.write(peers.LOG4J)
        if os.path.exists(f"{c.conf_dir}/mapred-site.xml"):
            shutil.copy(f"{c.conf_dir}/mapred-site.xml", directory)
        return directory

    # --- daemons ------------------------------------------------------------------------------

    def daemon(self, name, what, main, directory, program="selvedge-rm", at=None):
        """A second daemon beside the cluster's own; `program`, ours in the place of `main`; `at`:
        its Host."""
        c = self.c
        argv = [f"{c.prefix}/sbin/{program}"]
        if what != peers.SELVEDGE:
            argv = peers.java_daemon(c, peers.version_of(what), main, directory)
        with open(f"{directory}/log4j.properties", "w", encoding="ascii") as f:
            f.write(peers.LOG4J)
        env = {**c.daemon_env(directory, name), "JAVA_HOME": peers.java_home()}
        daemon = Daemon(c, name, argv, env, at)
        daemon.start()
        return daemon

    def start_second(self):
        self.second = self.daemon(
            "resourcemanager2",
            self.secondary,
            peers.RM_CLASS,
            self.second_conf(),
            at=self.c.network.hosts[1] if self.c.network else None,
        )
        self.c.wait(
            lambda: self.second.must_run() and self.second_get("/ws/v1/cluster/info"),
            180,
            "SC-2's ResourceManager answers",
        )

    def start_router(self):
        """Once both members are active."""
        self.c.wait(
            lambda: self.states() == {"SC-1": "SC_RUNNING", "SC-2": "SC_RUNNING"},
            60,
            "both members are active",
        )
        self.router = self.daemon(
            "router",
            self.in_front,
            f"{PACKAGE}router.Router",
            self.router_conf(),
            "selvedge-router",
        )
        if self.in_front == peers.SELVEDGE:  # it has no web server
            self.c.wait(
                lambda: self.router.must_run()
                and listens(self.c.address, self.router_ports["client"]),
                60,
                "the Router answers",
            )
            return
        url = f"http://{self.c.address}:{self.router_ports['web']}/ws/v1/cluster/metrics"
        self.c.wait(lambda: self.router.must_run() and host_json(url), 120, "the Router answers")

    def stop(self):
        problems = []
        for daemon in (self.router, self.second):
            try:
                if daemon is not None:
                    daemon.stop(60)
            except Exception as error:  # noqa: BLE001 - the others are stopped all the same
                problems.append(str(error))
        return problems

    # --- questions ----------------------------------------------------------------------------

    def run(self, *words):
        """`selvedge federation`, as an operator."""
        c = self.c
        done = subprocess.run(
            [f"{c.build}/selvedge", "federation", *words],
            env={**c.client_env(c.daemon), "HADOOP_CONF_DIR": f"{c.root}/conf"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        if done.returncode != 0:
            raise peers.ClusterError(f"selvedge federation {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def states(self):
        rows = [line.split("\t") for line in self.run("members", "-o", "id,state").splitlines()]
        return dict(rows[1:])

    def second_get(self, path):
        return host_json(f"http://{self.second_address}:{self.ports['web']}{path}")

    def running_nodes(self):
        found = []
        for answer in (
            self.c.rm_get("/ws/v1/cluster/nodes"),
            self.second_get("/ws/v1/cluster/nodes"),
        ):
            nodes = ((answer or {}).get("nodes") or {}).get("node") or []
            found += [n["id"] for n in nodes if n["state"] == "RUNNING"]
        return found

    def proxied(self):
        """What the home's node has said about other sub-clusters."""
        with open(self.c.nodes[0].process.log, encoding="utf-8", errors="replace") as f:
            return [line for line in f if "sub-cluster" in line or "SubCluster" in line]

    def shell(self, count, *args):
        """DistributedShell through the Router; the Application."""
        return peers.distributed_shell(
            self.c, "-shell_command", "date", "-num_containers", str(count), *args
        )


def listens(address, port):
    try:
        socket.create_connection((address, port), 5).close()
    except OSError:
        return False
    return True


def host_json(url):
    try:
        return http_json(url)
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def federated(
    home,
    secondary,
    nodes=(APACHE, APACHE),
    in_front=APACHE,
    client=None,
    proxy=True,
    site=None,
    prepare=None,
    network=None,
    second_site=None,
):
    """Raises hadoop.Unavailable when a piece cannot be had. Behind our Router the client is that of
    the reference, whose request for profiles is answered as by a ResourceManager. `prepare` is
    called with the cluster before its nodes start."""
    hadoop.jars("federation")
    f = Federation(home, secondary, nodes, in_front, proxy, site)
    f.second_site = second_site or {}

    def prepared(c):
        f.prepare(c)
        if prepare:
            prepare(c)

    with peers.cluster(
        "federation",
        home,
        list(nodes),
        client=client or (CLIENT if in_front == APACHE else hadoop.REFERENCE),
        prepare=prepared,
        network=network,
    ) as c:
        try:
            f.start_router()
            c.conf_dir = f.client_conf()
            yield f
        finally:
            problems = f.stop()
            if f.server:
                f.server.close()
        if problems:
            raise peers.ClusterError("\n".join(problems))
