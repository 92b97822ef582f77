"""Throw-away clusters on loopback for the demo, the integration and the interop lanes.

    from cluster import Cluster
    with Cluster("job") as c:          # re-executes the script in a private mount namespace
        c.start_rm(); c.start_nodes()
        c.selvedge("run", "--", "true")
    # leaving the block stops everything, removes everything and fails if anything was left

Needs root. Nothing outside the cluster's one directory, its accounts and its cgroup is touched.
"""
from .cluster import Cluster, ClusterError
from .host import HostError, private_namespace
from lib.report import Report

__all__ = ["Cluster", "ClusterError", "HostError", "Report", "private_namespace"]
