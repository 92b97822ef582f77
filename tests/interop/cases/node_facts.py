"""A node that tells what it is to Apache's ResourceManager with distributed labels: a label that is
unknown at first, attributes, and types of resources, of which a job uses some; one of two made-up
GPUs goes and comes back."""
import os
import re
import subprocess
import types as kinds

from cluster import ClusterError, conf, host
from interop import peers
from lib.helper_checks import private_dev

LABELS = "yarn.nodemanager.node-labels."
ATTRIBUTES = "yarn.nodemanager.node-attributes."
SITE = {
    "yarn.node-labels.enabled": "true",
    "yarn.node-labels.configuration-type": "distributed",
    LABELS + "provider": "script",
    LABELS + "provider.fetch-interval-ms": "500",
    LABELS + "resync-interval-ms": "1000",
    ATTRIBUTES + "provider": "config",
    ATTRIBUTES + "provider.configured-node-attributes": "os,STRING,linux:kernel,STRING,6.1-x",
    "yarn.nodemanager.resource-plugins": "yarn.io/gpu",
    "selvedge.nodemanager.gpu.check-interval-ms": "500",
}
CLI = "org.apache.hadoop.yarn.client.cli."


def say(c, label):
    """What the node's script prints from now on."""
    path = f"{c.root}/lists/label.sh"
    with open(f"{path}.new", "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\necho NODE_PARTITION:{label}\n" if label else "#!/bin/sh\n")
    os.chmod(f"{path}.new", 0o755)
    os.rename(f"{path}.new", path)
    return path


GPUS = "/proc/driver/nvidia/gpus"


def prepare(c):
    private_dev(kinds.SimpleNamespace(base=c.root))
    subprocess.run(["mount", "-t", "tmpfs", "none", "/proc/driver"], check=True)
    for minor in (0, 1):
        os.makedirs(f"{GPUS}/0000:0{minor}:00.0")
        with open(f"{GPUS}/0000:0{minor}:00.0/information", "w", encoding="ascii") as f:
            f.write(f"Model: A\nDevice Minor: {minor}\n")
    os.makedirs(f"{c.root}/lists", exist_ok=True)
    c.site[LABELS + "provider.script.path"] = say(c, "gpu")
    c.site["yarn.node-labels.fs-store.root-dir"] = f"file://{c.root}/rm/labels"
    node = c.nodes[0]
    for directory in (c.conf_dir, node.conf_dir):
        conf.write_xml(
            f"{directory}/resource-types.xml",
            {
                "yarn.resource-types": "licenses,disk,yarn.io/gpu",
                "yarn.resource-types.disk.units": "Gi",
            },
        )
    conf.write_xml(
        f"{node.conf_dir}/node-resources.xml",
        {
            "yarn.nodemanager.resource-type.licenses": "5",
            "yarn.nodemanager.resource-type.disk": "2Ti",
        },
    )


def own_figures(c):
    return c.nodes[0].get("/ws/v1/node/info")["nodeInfo"]["selvedge"]


def at_rm(c):
    return c.rm_get("/ws/v1/cluster/nodes")["nodes"]["node"][0]


def run_cli(c, name, *args):
    done = peers.client(c, CLI + name, *args)
    if done.returncode != 0:
        raise ClusterError(f"{name} {' '.join(args)}: {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


def unknown_label(c):
    """The ResourceManager's own words are in the log once and in REST."""
    c.wait(
        lambda: own_figures(c)["nodeLabels"]["accepted"] is False, host.PATIENCE, "it is refused"
    )
    shown = own_figures(c)["nodeLabels"]
    if "gpu" not in shown["refused"] or shown["list"] != [{"name": "gpu"}]:
        raise ClusterError(f"{shown}")
    with open(c.nodes[0].process.log, encoding="utf-8", errors="replace") as f:
        told = f.read().count("node-labels: refused by the ResourceManager: ")
    if told != 1:
        raise ClusterError(f"the refusal is logged {told} times")
    if at_rm(c).get("nodeLabels"):
        raise ClusterError(f"{at_rm(c)}")


def known_label(c):
    run_cli(c, "RMAdminCLI", "-addToClusterNodeLabels", "gpu(exclusive=false)")
    c.wait(lambda: at_rm(c).get("nodeLabels") == ["gpu"], host.PATIENCE, "the node has its label")
    c.wait(
        lambda: own_figures(c)["nodeLabels"]["accepted"] is True, host.PATIENCE, "it is accepted"
    )


def status(c):
    """`yarn node -status` and `yarn nodeattributes`."""
    told = run_cli(c, "NodeCLI", "-status", at_rm(c)["id"])
    for pattern in (
        r"Node-Labels : gpu\b",
        r"nm\.yarn\.io/kernel\(STRING\)=6\.1-x",
        r"nm\.yarn\.io/os\(STRING\)=linux",
    ):
        if not re.search(pattern, told):
            raise ClusterError(f"no {pattern} in {told[-3000:]}")
    told = run_cli(c, "NodeAttributesCLI", "-attributestonodes", "-attributes", "nm.yarn.io/os")
    if not re.search(r"nm\.yarn\.io/os.*\n(.*\n)*.*linux", told):
        raise ClusterError(told[-3000:])


def types(c):
    """As the ResourceManager has the node's resource."""
    total = at_rm(c)["totalResource"]["resourceInformations"]["resourceInformation"]
    found = {r["name"]: (r["value"], r["units"]) for r in total}
    if (found["licenses"], found["disk"]) != ((5, ""), (2048, "Gi")):
        raise ClusterError(f"{total}")


def gpus(c):
    """The ResourceManager has a card less while one is gone, and the reason; the node stays."""

    def has(n, words):
        node = at_rm(c)
        total = node["totalResource"]["resourceInformations"]["resourceInformation"]
        found = {r["name"]: r["value"] for r in total}["yarn.io/gpu"]
        return (
            node["state"] == "RUNNING"
            and found == n
            and ("withdrawn" in node["healthReport"]) == words
        )

    c.wait(lambda: has(2, False), host.PATIENCE, "two cards")
    os.rename(f"{GPUS}/0000:01:00.0", "/proc/driver/away")
    c.wait(lambda: has(1, True), host.PATIENCE, "one card, and why")
    os.rename("/proc/driver/away", f"{GPUS}/0000:01:00.0")
    c.wait(lambda: has(2, False), host.PATIENCE, "two cards again")


def used(c):
    """A job whose container has two of the five licenses. Without a label: a master runs in the
    partition that it asks for alone."""
    seconds = f"4000.{os.getpid()}"
    with peers.RunningShell(
        c,
        "-shell_command",
        f"sleep {seconds}",
        "-container_resources",
        "memory-mb=64,vcores=1,licenses=2,disk=10",
    ):
        c.wait(
            lambda: {r["name"]: r["given"] for r in own_figures(c)["resourceTypes"]}
            == {"licenses": 2, "disk": 10},
            120,
            "the container has its licenses",
        )
        gpus(c)  # a node with applications registers again
        if not all(r["given"] for r in own_figures(c)["resourceTypes"]):
            raise ClusterError("the container has ended")
    c.wait(
        lambda: all(r["given"] == 0 for r in own_figures(c)["resourceTypes"]),
        host.PATIENCE,
        "they are given back",
    )


def other_labels(c):
    say(c, "")
    c.wait(lambda: not at_rm(c).get("nodeLabels"), host.PATIENCE, "the label is taken away")
    say(c, "gpu")
    c.wait(lambda: at_rm(c).get("nodeLabels") == ["gpu"], host.PATIENCE, "it is back")


def run(report, c):
    for name, case in (
        ("a label that the cluster does not have", unknown_label),
        ("types of resource-types.xml", types),
        ("a GPU goes and comes back", gpus),
        ("a job uses such types; so with its container", used),
        ("a label that it has", known_label),
        ("yarn node -status, yarn nodeattributes", status),
        ("the script's label changes", other_labels),
    ):
        report.case(f"{c.pairing}: {name}", case, c)
