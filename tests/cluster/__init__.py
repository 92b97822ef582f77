"""Throw-away clusters on loopback for the demo and the integration and interop suites.

    from cluster import Cluster
    with Cluster("job") as c:          # re-executes the script in a private mount namespace
        c.start_rm(); c.start_nodes()
        c.selvedge("run", "--", "true")
    # the end of the block stops and removes everything, and fails for leftovers

Needs root. Changes nothing but the cluster's directory, accounts and cgroup.
"""
from .cluster import Cluster, ClusterError
from .host import HostError, private_namespace
from lib.report import Report

__all__ = ["Cluster", "ClusterError", "HostError", "Report", "private_namespace"]
