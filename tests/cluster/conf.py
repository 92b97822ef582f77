"""Hadoop configuration files of a throw-away cluster, and the helper's own."""
import os
from xml.sax.saxutils import escape

NODE_PORTS = {"rpc": 8041, "web": 8042, "localizer": 8040}


def write_xml(path, values):
    """A Hadoop configuration file; values that are None are left out."""
    rows = "".join(
        f"  <property><name>{escape(k)}</name><value>{escape(str(v))}</value></property>\n"
        for k, v in sorted(values.items())
        if v is not None
    )
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'<?xml version="1.0"?>\n<configuration>\n{rows}</configuration>\n')


def core_site(root):
    return {"fs.defaultFS": "file:///", "hadoop.tmp.dir": f"{root}/tmp"}


def cluster_site(root, ports, address="127.0.0.1", network=None):
    """yarn-site.xml as the ResourceManager and the clients read it."""
    at = {k: f"{address}:{v}" for k, v in ports.items()}
    return {
        "yarn.resourcemanager.hostname": address,
        "yarn.resourcemanager.bind-host": address,
        "yarn.resourcemanager.address": at["client"],
        "yarn.resourcemanager.scheduler.address": at["scheduler"],
        "yarn.resourcemanager.resource-tracker.address": at["tracker"],
        "yarn.resourcemanager.admin.address": at["admin"],
        "yarn.resourcemanager.webapp.address": at["web"],
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 100,
        "yarn.scheduler.minimum-allocation-mb": 64,
        "yarn.scheduler.maximum-allocation-mb": 8192,
        "yarn.scheduler.maximum-allocation-vcores": 4,  # the default of 3.x
        # the default of Hadoop's ResourceManager is below /tmp/hadoop-yarn-USER
        "yarn.node-attribute.fs-store.root-dir": f"{root}/rm/attributes",
        "selvedge.rm.state-dir": f"{root}/rm",
        # Apache's NodeManagers have no secret
        "selvedge.rm.unprotected-nodes": f"127.0.0.0/8,{network.range if network else address}",
        "selvedge.node-secret.file": "",  # not this machine's
        "selvedge.client.staging-dir": f"{root}/staging",
    }


def capacity_scheduler():
    prefix = "yarn.scheduler.capacity."
    return {
        prefix + "root.queues": "default",
        prefix + "root.default.capacity": 100,
        prefix + "root.default.maximum-am-resource-percent": "0.9",
        prefix + "maximum-am-resource-percent": "0.9",
        prefix + "per-node-heartbeat.maximum-offswitch-assignments": 100,
        prefix
        + "resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
    }


def node_site(node):
    """Keys of yarn-site.xml on one worker node, besides cluster_site()."""
    address = node.address
    return {
        "yarn.nodemanager.hostname": address,
        "yarn.nodemanager.bind-host": node.host.address if node.host else address,
        "yarn.nodemanager.address": f"{address}:{node.ports['rpc']}",
        "yarn.nodemanager.localizer.address": f"{address}:{node.ports['localizer']}",
        "yarn.nodemanager.webapp.address": f"{address}:{node.ports['web']}",
        "yarn.nodemanager.local-dirs": ",".join(node.local_dirs),
        "yarn.nodemanager.log-dirs": ",".join(node.log_dirs),
        "yarn.nodemanager.recovery.dir": f"{node.dir}/recovery",
        "yarn.nodemanager.resource.memory-mb": 8192,
        "yarn.nodemanager.resource.cpu-vcores": 32,
        "yarn.nodemanager.disk-health-checker.enable": "false",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "selvedge.nodemanager.executor.path": f"{node.libexec}/container-executor",
        "yarn.nodemanager.linux-container-executor.group": node.cluster.daemon.pw_name,
        "yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users": "false",
        "selvedge.nodemanager.cgroup.root": node.cgroup,
        "selvedge.nodemanager.unenforced-limits.allowed": "false"
        if node.cluster.cgroup.enforced
        else "true",
        # LeakSanitizer needs ptrace, which the seccomp filter of containers refuses
        **(
            {"yarn.nodemanager.admin-env": "ASAN_OPTIONS=detect_leaks=0"}
            if node.cluster.sanitize
            else {}
        ),
    }


def write_executor_cfg(path, node):
    """container-executor.cfg, owned by root: this node's directories and this cluster's
    accounts."""
    c = node.cluster
    rows = {
        "yarn.nodemanager.linux-container-executor.group": c.daemon.pw_name,
        "selvedge.nodemanager.user": c.daemon.pw_name,
        "selvedge.monitor.user": c.monitor.pw_name,
        "selvedge.public.user": c.public.pw_name,
        "selvedge.lookup.user": c.lookup.pw_name,
        "yarn.nodemanager.local-dirs": ",".join(node.local_dirs),
        "yarn.nodemanager.log-dirs": ",".join(node.log_dirs),
        "min.user.id": 1000,
        "banned.users": f"root,bin,{c.daemon.pw_name}",
        "selvedge.cgroup.root": node.cgroup,
        "selvedge.unenforced-limits.allowed": "false" if c.cgroup.enforced else "true",
        "selvedge.sandbox.read-only-paths": ",".join([node.libexec, *c.read_only_paths]),
        **c.policy,
    }
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(f"{k}={v}\n" for k, v in rows.items() if v != ""))
    os.chmod(path, 0o644)
