"""Services whose components say where they run, under Hadoop's master or ours: it asks for them by
SchedulingRequests with allocation tags and constraints. One is made as Hive starts LLAP: a package
on HDFS, a daemon on each node. They are launched by calls of the API server: 3.4.2's `yarn app
-launch` reads a scope "node" alone, which its API server does not."""
import io
import tarfile

from cluster import ClusterError
from interop.cases.service_life import component
from interop.service import Service, kill, ready

DAEMON = """#!/bin/sh
echo "$0 $1 from $LLAP_DAEMON_HOME"
exec sleep 100000
"""


def rule(kind, *tags, scope="NODE", **more):
    return {"type": kind, "scope": scope, "target_tags": list(tags), **more}


def placed(name, count, *rules, **more):
    return component(name, count, placement_policy={"constraints": list(rules)}, **more)


def package(c):
    """A package on HDFS as Hive makes it; its path."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        info = tarfile.TarInfo("bin/llapDaemon.sh")
        info.mode, info.size = 0o755, len(DAEMON)
        tar.addfile(info, io.BytesIO(DAEMON.encode()))
    at = f"/user/{c.submitter.pw_name}/llap.tar.gz"
    c.hdfs.put(at, made.getvalue(), replicas=1, owner=c.submitter.pw_name)
    return at


def llap(c):
    """The shape of the definition that `hive --service llap` writes."""
    return {
        "configuration": {
            "properties": {
                "yarn.service.rolling-log.include-pattern": r".*\.done",
                "yarn.service.container-health-threshold.percent": "80",
                "yarn.service.container-health-threshold.window-secs": "300",
                "yarn.service.container-health-threshold.init-delay-secs": "300",
            }
        },
        "components": [
            placed(
                "llap",
                3,
                rule("ANTI_AFFINITY", "llap"),
                artifact={"id": package(c), "type": "TARBALL"},
                launch_command="$LLAP_DAEMON_BIN_HOME/llapDaemon.sh start",
                configuration={
                    "env": {
                        "LLAP_DAEMON_BIN_HOME": "$PWD/lib/bin/",
                        "LLAP_DAEMON_HOME": "$PWD/lib/",
                    },
                    "properties": {"yarn.service.container-failure.retry.max": "0"},
                },
            ),
        ],
        "quicklinks": {"JMX": "http://llap-0.${SERVICE_NAME}.${USER}.${DOMAIN}:15002/jmx"},
    }


def hosts(s):
    """{instance: host} of the READY ones."""
    return {name: row["bare_host"] for name, row in ready(s.status()).items()}


def expect(s, wanted, what):
    found = hosts(s)
    if not wanted(found):
        raise ClusterError(f"{what}: {found}{s.logs()}")


def one_a_node(found):
    return len(found) == 3 and len(set(found.values())) == 3


def as_hive(c):
    s = Service(c, "llap0", llap(c))
    s.post()
    now = s.stable({"llap": 3})
    expect(s, one_a_node, "one daemon a node")

    def said():
        return sum("lib/bin//llapDaemon.sh start" in text for text in s.outputs().values()) == 3

    c.wait(said, 60, "each daemon's output")
    # A fourth has no node; whoever dies is replaced on the node that this frees.
    s.app("flex", "-component", "llap", "4")
    s.until("STARTED")
    kill(now["llap-1"])

    def three(status):
        containers = {row["id"] for row in ready(status).values()}
        return len(containers) == 3 and now["llap-1"] not in containers

    s.wait(three, 180, "three daemons again")
    expect(s, one_a_node, "one daemon a node after one was killed")
    s.app("flex", "-component", "llap", "2")
    s.stable({"llap": 2})
    s.end()


def beside(c):
    """A component that is where another one is, beside one without a rule: all are
    SchedulingRequests."""
    definition = {
        "components": [
            placed("base", 2, rule("ANTI_AFFINITY", "base")),
            placed("near", 2, rule("AFFINITY", "base"), dependencies=["base"]),
            component("free", 2),
        ]
    }
    s = Service(c, "neighbours", definition)
    s.post()
    s.stable({"base": 2, "near": 2, "free": 2})

    def right(found):
        base = {host for name, host in found.items() if name.startswith("base")}
        near = {host for name, host in found.items() if name.startswith("near")}
        return len(base) == 2 and near <= base

    expect(s, right, "near where base is")
    s.end()


def few_a_node(c):
    """At most two of a component on a node, seven of them on three nodes."""
    limit = rule("AFFINITY_WITH_CARDINALITY", "few", min_cardinality=0, max_cardinality=1)
    s = Service(c, "fewanode", {"components": [placed("few", 7, limit)]})
    s.post()
    s.wait(lambda status: len(ready(status)) == 6, 180, "six are READY")

    def right(found):
        on = list(found.values())
        return len(on) == 6 and all(on.count(host) == 2 for host in on)

    expect(s, right, "two a node")
    s.app("flex", "-component", "few", "5")
    s.stable({"few": 5})
    s.end()


def alone(c):
    """Tags are of one application: two services of the same components do not see each other. Each
    grows one by one, so that counts of further requests are added to those that wait."""
    pair = [
        Service(c, name, {"components": [placed("one", 1, rule("ANTI_AFFINITY", "one"))]})
        for name in ("first", "second")
    ]
    for s in pair:
        s.post()
    for count in (1, 2, 3):
        for s in pair:
            if count > 1:
                s.put({"number_of_containers": count}, "/components/one")
        for s in pair:
            s.stable({"one": count})
    for s in pair:
        expect(s, one_a_node, "one a node, beside another service")
        s.put({"number_of_containers": 5}, "/components/one")  # two have no node
        s.until("STARTED")
        s.put({"number_of_containers": 2}, "/components/one")
        s.stable({"one": 2})
    for s in pair:
        s.put({"number_of_containers": 3}, "/components/one")
        s.stable({"one": 3})
        expect(s, one_a_node, "one a node again")
    for s in pair:
        s.end()


CASES = {
    "a daemon on each node, as Hive starts LLAP": as_hive,
    "beside another component": beside,
    "few on a node": few_a_node,
    "beside another service": alone,
}
GROWING = ["beside another service"]
HADOOP = [name for name in CASES if name not in GROWING]


def run(report, c, row, cases=CASES):
    for name in cases:
        report.case(f"{row}: {name}", CASES[name], c)
