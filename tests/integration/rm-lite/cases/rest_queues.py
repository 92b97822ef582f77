"""REST of a cluster with several queues, with preemption, and with a resource type beside memory
and vcores. Cases of test-rm-rest."""
import json
import time

from lib.rest_client import ask, refused, same
from lib.rm_process import Rm, report, tell


def moves(rm):
    """To another leaf queue and not to those that do not take it; a restart keeps it."""
    app = ask(rm, "/apps/new-application", "POST")[1]["application-id"]
    status, text = ask(
        rm,
        "/apps",
        "POST",
        {
            "application-id": app,
            "queue": "default",
            "resource": {"memory": 1024, "vCores": 1},
            "am-container-spec": {},
        },
    )
    same(status, 202, f"submitted: {text}")
    while ask(rm, f"/apps/{app}/state") != (200, {"state": "ACCEPTED"}):
        time.sleep(0.01)
    same(
        ask(rm, f"/apps/{app}/queue", "PUT", {"queue": "other"}),
        (200, {"queue": "root.other"}),
        "move",
    )
    same(
        ask(rm, f"/apps/{app}")[1]["app"]["queue"],
        "root.other",
        "the queue that the application shows",
    )
    for name, words in (
        ("nowhere", "The specified Queue: nowhere doesn't exist"),
        ("root", "Queue: root is not a Leaf Queue."),
        ("closed", "Queue root.closed is STOPPED. Cannot accept submission of application: " + app),
    ):
        refused(rm, f"/apps/{app}/queue", "PUT", {"queue": name}, 400, words)
    rm.restart({})
    same(ask(rm, f"/apps/{app}/queue"), (200, {"queue": "root.other"}), "the queue after a restart")


def queue_members(rm):
    """As Apache's 3.4.2 answers with this file: leaves come first, a weight has no capacity."""
    children = ask(rm, "/scheduler")[1]["scheduler"]["schedulerInfo"]["queues"]["queue"]
    by_name = {q["queueName"]: q for q in children}
    par, other = by_name["par"], by_name["other"]
    same([q["queueName"] for q in children], ["default", "other", "closed", "par"], "leaves first")
    same(
        [
            other[k]
            for k in ("capacity", "mode", "normalizedWeight", "queuePriority", "orderingPolicyInfo")
        ]
        + [[a["accessControlList"] for a in other["queueAcls"]["queueAcl"]]],
        [20.0, "percentage", 0.0, 3, "fair", [" ", "*", "ann,bob grp"]],
        "a leaf",
    )
    same(
        ("type" in par, "numContainers" in par, par["orderingPolicyInfo"], par["queueType"]),
        (False, False, "priority-utilization", "parent"),
        "a parent",
    )
    same(
        [
            [round(q[k], 9) for k in ("capacity", "absoluteCapacity", "weight", "normalizedWeight")]
            + [q["mode"]]
            + [
                q["capacities"]["queueCapacitiesByPartition"][0]["queueCapacityVectorInfo"][
                    "configuredCapacityVector"
                ]
            ]
            for q in par["queues"]["queue"]
        ],
        [
            [0.0, 5.0, 1.0, 0.25, "weight", "[memory-mb=1.0w,vcores=1.0w]"],
            [0.0, 15.0, 3.0, 0.75, "weight", "[memory-mb=3.0w,vcores=3.0w]"],
        ],
        "queues with weights",
    )
    same(by_name["default"]["users"], {}, "no users")


def with_queues():
    prefix = "yarn.scheduler.capacity.root."
    rm = Rm(
        {},
        {
            prefix + "queues": "default,par,other,closed",
            prefix + "default.capacity": "50",
            prefix + "other.capacity": "20",
            prefix + "other.ordering-policy": "fair",
            prefix + "other.priority": "3",
            prefix + "other.acl_submit_applications": "ann,bob grp",
            prefix + "par.capacity": "20",
            prefix + "par.ordering-policy": "priority-utilization",
            prefix + "par.queues": "w1,w2",
            prefix + "par.w1.capacity": "1w",
            prefix + "par.w2.capacity": "3w",
            prefix + "closed.capacity": "10",
            prefix + "closed.state": "STOPPED",
        },
    )
    report.case("moves", moves, rm)
    report.case("queue_members", queue_members, rm)
    rm.stop()


PREEMPTED = {
    "preemptedResourceMB": 2048,
    "preemptedResourceVCores": 2,
    "numNonAMContainerPreempted": 2,
    "numAMContainerPreempted": 0,
}


def preempted(rm, app):
    """Another queue needs its guarantee: the containers of the application go, its master stays,
    and all figures say so."""
    new = ask(rm, "/apps/new-application", "POST")[1]["application-id"]
    status, text = ask(
        rm,
        "/apps?user.name=bob",
        "POST",
        {
            "application-id": new,
            "queue": "other",
            "am-container-spec": {},
            "resource": {"memory": 65536 - 1024, "vCores": 1},
        },
    )
    same(status, 202, f"submitted: {text}")
    until = time.monotonic() + 60
    found = ask(rm, f"/apps/{app}")[1]["app"]
    while found["numNonAMContainerPreempted"] < 2 and time.monotonic() < until:
        time.sleep(0.05)
        found = ask(rm, f"/apps/{app}")[1]["app"]
    same({k: found[k] for k in PREEMPTED}, PREEMPTED, "the application's figures")
    gone = {e["key"]: int(e["value"]) for e in found["preemptedResourceSecondsMap"]["entry"]}
    same(
        gone,
        {"memory-mb": found["preemptedMemorySeconds"], "vcores": found["preemptedVcoreSeconds"]},
        "seconds by type",
    )
    tell(
        gone["memory-mb"] > 0 and gone["memory-mb"] <= found["memorySeconds"],
        f"of {found['memorySeconds']} MB-seconds: {gone}",
    )
    beans = {
        b["name"]: b for b in json.loads(rm.request("/jmx?qry=Hadoop:*QueueMetrics*")[2])["beans"]
    }
    name = "Hadoop:service=ResourceManager,name=QueueMetrics,q0=root"
    for bean, count in (
        ("", 2),
        (",q1=default", 2),
        (",q1=default,user=ann", 2),
        (",user=ann", 2),
        (",q1=other", 0),
        (",user=bob", 0),
    ):
        b = beans[name + bean]
        same(
            (
                b["AggregateContainersPreempted"],
                b["AggregateMemoryMBPreempted"],
                b["AggregateVcoresPreempted"],
                b.get("tag.User"),
            ),
            (count, count * 1024, count, bean.split("user=")[1] if "user" in bean else None),
            f"QueueMetrics{bean}",
        )
        tell(
            (b["AggregateMemoryMBSecondsPreempted"] > 0) == (count > 0),
            f"its seconds: {b['AggregateMemoryMBSecondsPreempted']}",
        )
    same(
        (
            beans[name + ",user=ann"]["AllocatedMB"],
            beans[name + ",user=ann"]["AppsRunning"],
            beans[name + ",user=bob"]["AppsPending"],
        ),
        (1024, 1, 1),
        "what the users have",
    )
    lines = rm.request("/metrics")[2].splitlines()
    tell(
        'queue="root.default",user="ann"' in "".join(lines)
        and len([line for line in lines if not line.startswith("#")])
        == len({line.rsplit(" ", 1)[0] for line in lines if not line.startswith("#")}),
        "as Prometheus text, each sample once",
    )


def preempted_before(rm, app):
    """After its end: the summary line; after a restart: the seconds, not the counts, as at
    Apache's."""
    found = ask(rm, f"/apps/{app}")[1]["app"]
    line = next(
        part for part in rm.said().splitlines() if f"ApplicationSummary: appId={app}" in part
    )
    tell(
        f"preemptedMemorySeconds={found['preemptedMemorySeconds']}," in line
        and "preemptedNonAMContainers=2,preemptedResources=" "<memory:2048\\, vCores:2>" in line,
        f"summary: {line[-500:]}",
    )
    rm.restart(rm.keys)
    again = ask(rm, f"/apps/{app}")[1]["app"]
    same(
        {
            k: again[k]
            for k in (
                "preemptedMemorySeconds",
                "preemptedVcoreSeconds",
                "preemptedResourceSecondsMap",
                "numNonAMContainerPreempted",
            )
        },
        {
            **{
                k: found[k]
                for k in (
                    "preemptedMemorySeconds",
                    "preemptedVcoreSeconds",
                    "preemptedResourceSecondsMap",
                )
            },
            "numNonAMContainerPreempted": 0,
        },
        "after a restart",
    )


def with_preemption():
    prefix, policy = "yarn.scheduler.capacity.", "yarn.resourcemanager.monitor.capacity.preemption."
    resources = "org.apache.hadoop.yarn.util.resource"
    keys = {
        "yarn.resourcemanager.scheduler.monitor.enable": "true",
        f"{policy}monitoring_interval": "100",
        f"{policy}max_wait_before_kill": "100",
        f"{policy}total_preemption_per_round": "1",
        f"{policy}natural_termination_factor": "1",
        "yarn.scheduler.maximum-allocation-mb": "65536",
        f"{prefix}user-metrics.enable": "true",
    }
    rm = Rm(
        keys,
        {
            f"{prefix}root.queues": "default,other",
            f"{prefix}root.default.capacity": "1",
            f"{prefix}root.other.capacity": "99",
            f"{prefix}root.default.user-limit-factor": "100",
            f"{prefix}maximum-am-resource-percent": "1",
            f"{prefix}resource-calculator": f"{resources}.DefaultResourceCalculator",
        },
    )
    rm.keys = keys
    found = []

    def at_pause():
        if not found:
            found.append(ask(rm, "/apps")[1]["apps"]["app"][0]["id"])
            report.case("preempted", preempted, rm, found[0])
        else:
            report.case("preempted before", preempted_before, rm, found[0])

    rm.driver("page", at_pause)
    rm.stop()


def types(rm):
    """yarn.io/gpu beside memory and vcores, in what is submitted and in each answer with
    resources."""

    def amounts(resource):
        rows = resource["resourceInformations"]["resourceInformation"]
        return {row["name"]: row["value"] for row in rows}, rows

    new = ask(rm, "/apps/new-application", "POST")[1]
    found, rows = amounts(new["maximum-resource-capability"])
    same(
        [(r["name"], r["units"], r["minimumAllocation"], r["maximumAllocation"]) for r in rows],
        [
            ("memory-mb", "Mi", 0, (1 << 63) - 1),
            ("vcores", "", 0, (1 << 63) - 1),
            ("yarn.io/gpu", "", 0, 8),
        ],
        "types",
    )
    app = new["application-id"]

    def body(name, value):
        rows = [{"name": name, "units": "", "value": value, "resourceType": "COUNTABLE"}]
        return {
            "application-id": app,
            "am-container-spec": {},
            "resource": {
                "memory": 1024,
                "vCores": 1,
                "resourceInformations": {"resourceInformation": rows},
            },
        }

    refused(
        rm,
        "/apps",
        "POST",
        body("yarn.io/fpga", 1),
        400,
        "the cluster has no resource type yarn.io/fpga",
    )
    refused(rm, "/apps", "POST", body("yarn.io/gpu", -1), 400, "yarn.io/gpu")
    refused(rm, "/apps", "POST", body("yarn.io/gpu", 9), 400, "nvalid resource request")
    same(ask(rm, "/apps", "POST", body("yarn.io/gpu", 2))[0], 202, "submission with 2 GPUs")
    while ask(rm, f"/apps/{app}/state") != (200, {"state": "ACCEPTED"}):
        time.sleep(0.01)
    for when in ("at first", "after a restart"):
        shown = ask(rm, f"/apps/{app}")[1]["app"]
        usage = shown["resourceInfo"]["resourceUsagesByPartition"][0]
        same(
            amounts(usage["pending"])[0],
            {"memory-mb": 1024, "vcores": 1, "yarn.io/gpu": 2},
            f"what it waits for {when}",
        )
        same(
            {e["key"]: e["value"] for e in shown["resourceSecondsMap"]["entry"]},
            {"memory-mb": "0", "vcores": "0", "yarn.io/gpu": "0"},
            f"seconds {when}",
        )
        if when == "at first":
            rm.restart(
                {
                    "yarn.resource-types": "yarn.io/gpu",
                    "yarn.resource-types.yarn.io/gpu.maximum-allocation": "8",
                }
            )
            while ask(rm, f"/apps/{app}/state") != (200, {"state": "ACCEPTED"}):
                time.sleep(0.01)
    leaf = ask(rm, "/scheduler")[1]["scheduler"]["schedulerInfo"]["queues"]["queue"][0]
    same(
        amounts(leaf["resourcesUsed"])[0],
        {"memory-mb": 0, "vcores": 0, "yarn.io/gpu": 0},
        "a queue's",
    )


def with_types():
    rm = Rm(
        {
            "yarn.resource-types": "yarn.io/gpu",
            "yarn.resource-types.yarn.io/gpu.maximum-allocation": "8",
        }
    )
    report.case("types", types, rm)
    rm.stop()
