"""A core node as EMR's: distributed labels, of which every master asks for one; local directories
on several disks; gathered and compressed logs; a health script."""
from cluster import ClusterError, host
from interop.cases import node_facts, vendor_site
from interop.cases.vendor_site import NM

Q = "yarn.scheduler.capacity.root."
SITE = {
    **vendor_site.SITE,
    "yarn.node-labels.enabled": "true",
    "yarn.node-labels.configuration-type": "distributed",
    "yarn.node-labels.am.default-node-label-expression": "CORE",
    NM + "node-labels.provider": "config",
    NM + "node-labels.provider.configured-node-partition": "CORE",
    NM + "node-labels.resync-interval-ms": "1000",
    NM + "container-executor.class": "org.apache.hadoop.yarn.server.nodemanager."
    "DefaultContainerExecutor",
    NM + "container-metrics.enable": "false",
    NM + "container-metrics.unregister-delay-ms": "60000",
    NM + "disk-health-checker.max-disk-utilization-per-disk-percentage": "90.0",
    NM + "env-whitelist": "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,"
    "HADOOP_YARN_HOME,HADOOP_MAPRED_HOME,LANG,TZ",
    NM + "log.retain-seconds": "10800",
    NM + "webapp.cross-origin.enabled": "true",
    "yarn.log.server.url": "http://master.example:19888/jobhistory/logs",
    "yarn.log-aggregation.enable-local-cleanup": "false",
    # Of capacity-scheduler.xml, which Apache's ResourceManager reads on top of yarn-site.xml.
    Q + "accessible-node-labels": "*",
    Q + "accessible-node-labels.CORE.capacity": "100",
    Q + "default.accessible-node-labels": "*",
    Q + "default.accessible-node-labels.CORE.capacity": "100",
    Q + "default.accessible-node-labels.CORE.maximum-am-resource-percent": "0.9",
    # EMR's own ResourceManager needs the key for masters above alone.
    Q + "default.default-node-label-expression": "CORE",
}
SILENT = {
    NM + "container-metrics.unregister-delay-ms",
    "yarn.node-labels.configuration-type",
}


def prepare(c):
    c.site["yarn.node-labels.fs-store.root-dir"] = f"file://{c.root}/rm/labels"
    vendor_site.prepare(c)


def label(c):
    """EMR adds its labels when the cluster starts; a node that has come before is told no."""
    node_facts.run_cli(c, "RMAdminCLI", "-addToClusterNodeLabels", "CORE(exclusive=false)")
    c.wait(
        lambda: node_facts.at_rm(c).get("nodeLabels") == ["CORE"], host.PATIENCE, "the node's label"
    )
    if len(c.nodes[0].local_dirs) < 2:
        raise ClusterError("a node of one disk")


def run(report, c):
    vendor_site.run(report, c, SILENT, ("the node has its label", label))
