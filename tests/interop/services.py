"""Hadoop's YARN services inside a cluster of peers.py whose nodes are hosts (network namespaces)
and whose files are on HDFS: ZooKeeper for the registry, and the API server.

    with services.cluster("selvedge", ["selvedge"] * 3, h, network) as c:
        s = service.Service(c, "sleepers", definition)"""
import contextlib
import os
import socket

from cluster.cluster import PLACE, Daemon
from cluster.host import free_port
from interop import hadoop, peers

ZOOKEEPER = "org.apache.zookeeper.server.ZooKeeperServerMain"
FILTER = "org.apache.hadoop.security.AuthenticationFilterInitializer"
MASTER_JVM = " ".join(hadoop.SHORT_LIVED) + " -XX:-UsePerfData -Xmx256m"
# Asks the ResourceManager and the master itself: 3.3.6 has no API server on Maven.
DIRECT = "org.apache.hadoop.yarn.service.client.ServiceClient"
APACHE, OURS, PROGRAM = "apache", "selvedge", "selvedge-services"
ENDED = ("FINISHED", "FAILED", "KILLED")


def site(h, network, zookeeper):
    """For yarn-site.xml of everybody. Hadoop's readiness pass is every 30 s."""
    return {
        "fs.defaultFS": h.url(""),
        # of Apache's ResourceManager, which waits for ever where it may not write on HDFS
        "yarn.node-attribute.fs-store.root-dir": f"file://{PLACE}/rm/attributes",
        "hadoop.registry.zk.quorum": f"{network.address}:{zookeeper}",
        "yarn.webapp.api-service.enable": "true",
        "yarn.resourcemanager.placement-constraints.handler": "scheduler",
        "yarn.resourcemanager.am.max-attempts": 20,  # services want as many
        "yarn.service.upgrade.enabled": "true",
        "yarn.service.readiness-check-interval.seconds": 1,
        "yarn.service.am-resource.memory": 512,
        "yarn.service.am.java.opts": MASTER_JVM,
    }


@contextlib.contextmanager
def cluster(rm, nodes, h, network, client=None, more=None, api=APACHE):
    """A running cluster with a ZooKeeper, an API server (`c.api`: its URL) and homes of its users
    on HDFS. `more`: further keys for yarn-site.xml. `api`: APACHE's or OURS."""
    zookeeper = free_port()

    def prepare(c):
        c.site["yarn.service.classpath"] = ",".join(c.container_classpath)

    site_of_all = {**site(h, network, zookeeper), **(more or {})}
    with peers.cluster(
        "services", rm, nodes, client=client, network=network, site=site_of_all, prepare=prepare
    ) as c:
        c.hdfs = h
        for user in {c.submitter, *c.users}:
            home(h, user)
        h.ask("mkdir", f"{PLACE}/tmp/.yarn/services", "777")  # below hadoop.tmp.dir: PUBLIC files
        with _zookeeper(c, zookeeper), _api(c, api):
            yield c
            _end_all(c)
        c.close()


def home(h, user):
    at = f"/user/{user.pw_name}"
    h.ask("mkdir", at, "700")
    h.ask("own", at, user.pw_name)
    return at


def _java(c, name, conf_dir, main, *args, options=()):
    options = [*peers.options(c, "daemon"), *options]
    return Daemon(
        c,
        name,
        hadoop.java(c.peer_client, main, *args, conf=conf_dir, options=options),
        {**c.daemon_env(conf_dir, name), "JAVA_HOME": peers.java_home()},
    )


@contextlib.contextmanager
def _running(c, daemon, port):
    daemon.start()

    def listens():
        daemon.must_run()
        with socket.socket() as s:
            return s.connect_ex((c.address, port)) == 0

    try:
        c.wait(listens, 120, f"{daemon.name} listens")
        yield
    finally:
        daemon.kill()


def _zookeeper(c, port):
    directory = f"{c.root}/zookeeper"
    os.mkdir(directory, 0o700)
    os.chown(directory, c.daemon.pw_uid, c.daemon.pw_gid)
    args = (ZOOKEEPER, str(port), directory)
    options = ["-Dzookeeper.admin.enableServer=false"]
    return _running(c, _java(c, "zookeeper", c.conf_dir, *args, options=options), port)


@contextlib.contextmanager
def _api(c, api):
    """Apache's ResourceManager has an API server. In front of ours is a process of its own, and
    `c.services_conf`, the configuration of its clients, names that in place of the
    ResourceManager."""
    c.services_conf, c.api = c.conf_dir, f"{c.rm_url}/app/v1/services"
    if c.peer_client != hadoop.REFERENCE or (c.peer_rm != peers.SELVEDGE and api == APACHE):
        yield
        return
    port = free_port()
    c.services_conf, c.api = f"{c.root}/services-conf", f"http://{c.address}:{port}/app/v1/services"
    os.mkdir(c.services_conf, 0o755)
    with open(f"{c.services_conf}/log4j.properties", "w", encoding="ascii") as f:
        f.write(peers.LOG4J)
    here = {
        "yarn.resourcemanager.webapp.address": f"{c.address}:{port}",
        "yarn.service.api-server.address": f"{c.address}:{port}",
        "hadoop.http.filter.initializers": FILTER,
    }
    before, c.site = c.site, {**c.site, **here}  # core-site.xml has hadoop.* keys of the site alone
    c.write_conf(c.services_conf, {})
    c.site = before
    if api == OURS:
        argv = [os.path.join(c.prefix, "sbin", PROGRAM)]
        daemon = Daemon(c, PROGRAM, argv, c.daemon_env(c.services_conf, PROGRAM))
    else:
        daemon = _java(c, "services-api", c.services_conf, "ServicesApi", f"{c.address}:{port}")
    with _running(c, daemon, port):
        yield


def _end_all(c):
    """Applications of cases that failed."""
    apps = ((c.rm_get("/ws/v1/cluster/apps") or {}).get("apps") or {}).get("app") or []
    for app in apps:
        if app["state"] not in ENDED:
            peers.kill_application(c, app["id"])
