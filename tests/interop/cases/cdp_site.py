"""A worker as CDP's: LinuxContainerExecutor with its keys for cgroups, resources detected, a health
script, containers that roll their logs."""
import re

from cluster import ClusterError
from interop.cases import node_facts, vendor_site
from interop.cases.vendor_site import LCE, NM

HANDLERS = "org.apache.hadoop.yarn.server.nodemanager."
RESERVED = 512
SITE = {
    **vendor_site.SITE,
    NM + "container-executor.class": HANDLERS + "LinuxContainerExecutor",
    LCE + "path": "/opt/cloudera/parcels/CDH/lib/hadoop-yarn/bin/container-executor",
    LCE + "resources-handler.class": HANDLERS + "util.CgroupsLCEResourcesHandler",
    LCE + "cgroups.hierarchy": "/hadoop-yarn",
    LCE + "cgroups.mount": "false",
    LCE + "cgroups.mount-path": "/sys/fs/cgroup",
    LCE + "cgroups.strict-resource-usage": "false",
    NM + "resource.percentage-physical-cpu-limit": "100",
    NM + "resource.cpu.enabled": "true",
    NM + "resource.detect-hardware-capabilities": "true",
    NM + "resource.count-logical-processors-as-cores": "true",
    NM + "resource.system-reserved-memory-mb": str(RESERVED),
    NM + "resource.memory-mb": "-1",
    NM + "resource.cpu-vcores": "-1",
    NM + "runtime.linux.allowed-runtimes": "default,docker",
    NM + "container-monitor.interval-ms": "3000",
    NM + "delete.thread-count": "10",
    NM + "delete.debug-delay-sec": "0",
    NM + "log-aggregation.roll-monitoring-interval-seconds": "3600",
    NM + "webapp.https.address": "0.0.0.0:8044",
    NM + "health-checker.scripts": "script",
    "hadoop.security.authorization": "false",
    "yarn.acl.enable": "true",
    "yarn.admin.acl": "*",
}
SILENT = {
    NM + "delete.thread-count",
    NM + "resource.cpu.enabled",
    *(LCE + key for key in ("path", "resources-handler.class", "cgroups.mount-path")),
}
prepare = vendor_site.prepare


def detected(c):
    """What the node tells is the machine's, and not a default."""
    with open(c.nodes[0].process.log, encoding="utf-8", errors="replace") as f:
        found = re.search(r"hardware: (\d+) MB, (\d+) processors", f.read())
    total = node_facts.at_rm(c)["totalResource"]
    wanted = (int(found[1]) - RESERVED, int(found[2]))
    if (total["memory"], total["vCores"]) != wanted:
        raise ClusterError(f"{total}, wanted {wanted}")


def run(report, c):
    vendor_site.run(report, c, SILENT, ("resources of the machine", detected))
