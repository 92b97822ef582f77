"""Hadoop's YARN services inside a cluster of peers.py whose nodes are hosts (network namespaces)
and whose files are on HDFS: ZooKeeper for the registry, and the API server.

    with services.cluster("selvedge", ["selvedge"] * 3, h, network) as c:
        s = service.Service(c, "sleepers", definition)"""
import contextlib
import os
import shutil
import socket

from cluster.cluster import PLACE, Daemon
from cluster.host import free_port
from interop import hadoop, peers

ZOOKEEPER = "org.apache.zookeeper.server.ZooKeeperServerMain"
FILTER = "org.apache.hadoop.security.AuthenticationFilterInitializer"
MASTER_JVM = " ".join(hadoop.SHORT_LIVED) + " -XX:-UsePerfData -Xmx256m"
# Asks the ResourceManager and the master itself: 3.3.6 has no API server on Maven.
DIRECT = "org.apache.hadoop.yarn.service.client.ServiceClient"
CLIENT_CLASS = "yarn.application.admin.client.class.yarn-service"
APACHE, OURS = "apache", "selvedge"
PROGRAM, MASTER = "selvedge-services", "selvedge-service-am"
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
    """A running cluster with a ZooKeeper, API servers (`c.apis`) and homes of its users on HDFS.
    `more`: further keys for yarn-site.xml. `api`: which one is meant where none is named, APACHE's
    or OURS."""
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
        with _zookeeper(c, zookeeper), _apis(c, api):
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
def running(c, daemon, port, host=None):
    daemon.start()

    def listens():
        daemon.must_run()
        with socket.socket() as s:
            return s.connect_ex((host or c.address, port)) == 0

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
    return running(c, _java(c, "zookeeper", c.conf_dir, *args, options=options), port)


class Api:
    """An API server. `url`: of its services, None where its clients ask the ResourceManager and the
    master themselves. `conf`: the configuration of its clients, which has it in the place of the
    ResourceManager."""

    def __init__(self, url, conf):
        self.url, self.conf = url, conf


@contextlib.contextmanager
def _apis(c, api):
    """`c.apis`: {APACHE, OURS: Api}, ours where it was built, both with the same definitions.
    `c.api` and `c.services_conf`: of the one that `api` names. `c.direct_conf`: of a command line
    that asks none."""
    c.apis = {APACHE: Api(f"{c.rm_url}/app/v1/services", c.conf_dir)}
    c.direct_conf = write_conf(c, f"{c.root}/direct-conf", {CLIENT_CLASS: DIRECT})
    with contextlib.ExitStack() as stack:
        if c.peer_client != hadoop.REFERENCE:  # Maven has no API server of it
            c.apis[APACHE] = Api(None, c.conf_dir)
        elif c.peer_rm == peers.SELVEDGE:  # Apache's ResourceManager has one
            stack.enter_context(_apache_api(c))
        if built():
            stack.enter_context(_our_api(c))
        c.api, c.services_conf = c.apis[api].url, c.apis[api].conf
        yield


def write_conf(c, directory, more):
    """A configuration directory with further keys."""
    os.mkdir(directory, 0o755)
    with open(f"{directory}/log4j.properties", "w", encoding="ascii") as f:
        f.write(peers.LOG4J)
    before, c.site = c.site, {**c.site, **more}  # core-site.xml has hadoop.* keys of the site alone
    c.write_conf(directory, {})
    c.site = before
    return directory


def _clients(c, name, port):
    """The Api of a server at the port."""
    here = {
        "yarn.resourcemanager.webapp.address": f"{c.address}:{port}",
        "yarn.service.api-server.address": f"{c.address}:{port}",
        "hadoop.http.filter.initializers": FILTER,
    }
    conf = write_conf(c, f"{c.root}/{name}-conf", here)
    return Api(f"http://{c.address}:{port}/app/v1/services", conf)


def _apache_api(c):
    port = free_port()
    c.apis[APACHE] = _clients(c, APACHE, port)
    address = f"{c.address}:{port}"
    daemon = _java(c, "services-api", c.apis[APACHE].conf, "ServicesApi", address)
    return running(c, daemon, port)


def built():
    return all(os.path.exists(f"{hadoop.BUILD}/{program}") for program in (PROGRAM, MASTER))


def _our_api(c):
    port, programs = free_port(), f"{c.root}/programs"
    os.mkdir(programs, 0o755)
    for program in (PROGRAM, MASTER):  # the daemon's account may not see the build
        shutil.copy(f"{hadoop.BUILD}/{program}", programs)
    c.apis[OURS] = _clients(c, OURS, port)
    own = {
        "yarn.service.api-server.address": f"{c.address}:{port}",
        "selvedge.service.master.program": f"{programs}/{MASTER}",
        "selvedge.resourcemanager.services.socket": f"{c.root}/tmp/services",
    }
    conf = write_conf(c, f"{c.root}/{OURS}-server-conf", own)
    daemon = Daemon(c, PROGRAM, [f"{programs}/{PROGRAM}"], c.daemon_env(conf, PROGRAM))
    return running(c, daemon, port)


def _end_all(c):
    """Applications of cases that failed."""
    apps = ((c.rm_get("/ws/v1/cluster/apps") or {}).get("apps") or {}).get("app") or []
    for app in apps:
        if app["state"] not in ENDED:
            peers.kill_application(c, app["id"])
