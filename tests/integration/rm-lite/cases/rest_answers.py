"""What REST clients are told: statistics, metrics, every field that Apache's answers have, as JSON
and as XML, long lists, and which paths there are. Cases of test-rm-rest."""
import json
import re
import socket
import subprocess
import time
import xml.etree.ElementTree

from lib.rest_client import BASE, GOLDEN, JSON, ask, refused, same
from lib.rm_process import BUILD, tell

LISTS_MAX = 32  # rm-lite/web/rest/web-list.h
CROWD = 130  # applications of a long list: more than a stream keeps for a client


def as_xml(rm, app):
    for path, root, child in (
        ("/info", "clusterInfo", "id"),
        ("/apps", "apps", "app"),
        (f"/apps/{app}", "app", "id"),
        (f"/apps/{app}/state", "appstate", "state"),
        (f"/apps/{app}/priority", "applicationpriority", "priority"),
        (f"/apps/{app}/queue", "appqueue", "queue"),
        (f"/apps/{app}/timeouts", "timeouts", "timeout"),
        ("/nodes", "nodes", "node"),
        ("/scheduler", "scheduler", "schedulerInfo"),
        ("/metrics", "clusterMetrics", "activeNodes"),
        ("/appstatistics", "appStatInfo", "statItem"),
        (f"/apps/{app}/appattempts", "appAttempts", "appAttempt"),
        ("/apps/application_1_0001", "RemoteException", "message"),
    ):
        _, headers, text = rm.request(BASE + path, headers={"Accept": "application/xml"})
        tree = xml.etree.ElementTree.fromstring(text)
        tell(
            headers["Content-Type"].startswith("application/xml")
            and tree.tag == root
            and tree.find(child) is not None,
            f"{path} as XML: {text[:160]}",
        )
    _, headers, _ = rm.request(
        f"{BASE}/info", headers={"Accept": "application/json, application/xml"}
    )
    tell(headers["Content-Type"].startswith("application/json"), "JSON where both will do")


def statistics(rm, app):
    status, found = ask(rm, "/appstatistics")
    items = found["appStatInfo"]["statItem"] if status == 200 else []
    same(
        {i["state"]: i["count"] for i in items},
        {
            **dict.fromkeys(
                ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "FINISHED", "FAILED", "KILLED"), 0
            ),
            "RUNNING": 1,
        },
        "statistics",
    )
    tell(all(i["type"] == "*" for i in items), "of all types")
    kind = ask(rm, f"/apps/{app}")[1]["app"]["applicationType"]
    found = ask(rm, f"/appstatistics?states=running,KILLED&applicationTypes={kind}")[1][
        "appStatInfo"
    ]["statItem"]
    same(
        [(i["state"], i["type"], i["count"]) for i in found],
        [("RUNNING", kind.lower(), 1), ("KILLED", kind.lower(), 0)],
        "of one type",
    )
    refused(rm, "/appstatistics?states=nonsense", "GET", None, 400, "nonsense")
    refused(rm, "/appstatistics?applicationTypes=a,b", "GET", None, 400, "applicationTypes")


def cluster(rm, app):
    status, found = ask(rm, "/userinfo?user.name=ann")
    tell(
        status == 200 and found["requestedUser"] == "ann" and found["rmLoginUser"],
        f"userinfo: {found}",
    )
    status, found = ask(rm, "/queues/default/access?user=ann")
    tell(
        status == 200 and found["allowed"] == "true" and found["user"] == "ann", f"access: {found}"
    )
    status, found = ask(rm, "/queues/nowhere/access?user=ann")
    tell(
        status == 200 and found["allowed"] == "false" and "nowhere" in found["diagnostics"],
        f"access to no queue: {found}",
    )
    same(
        ask(rm, "/queues/default/access?user=ann&queue-acl-type=NOTHING")[0],
        400,
        "access of an unknown kind",
    )
    same(ask(rm, "/queues/default/access")[0], 400, "access of nobody")
    same(ask(rm, "/get-node-labels"), (200, {}), "no labels")
    status, found = ask(rm, "/get-rm-node-labels")
    label = found["nodeLabelInfo"]
    same(
        (status, label["name"], label["exclusivity"], label["activeNMs"]),
        (200, "<DEFAULT_PARTITION>", "true", str(len(ask(rm, "/nodes")[1]["nodes"]["node"]))),
        "the partition of all nodes, in texts",
    )
    same(ask(rm, "/get-node-to-labels"), (200, {"nodeToLabels": None}), "nor on nodes")
    same(ask(rm, "/scheduler-conf")[0], 400, "scheduler-conf")
    same(ask(rm, "/reservation/list?queue=default")[0], 400, "reservations")


def activities(rm, app):
    """Records of the scheduler's visits: refusals of queries in Hadoop's words, and forms; the
    contents are test-scheduler-scenarios'."""

    def said(path):
        status, found = ask(rm, f"/scheduler/{path}")
        return status, next(iter(found.values())).get("diagnostic", "")

    for query, words in (
        ("activities?groupBy=x", "Got invalid groupBy: x, valid groupBy types: [DIAGNOSTIC]"),
        ("activities?nodeId=nowhere:1", "Cannot find node manager with given node id"),
        (
            f"app-activities/{app}?groupBy=%3Cx%3E",
            "Got invalid groupBy: <x>, valid groupBy types: ",
        ),
        (f"app-activities/{app}?actions=get,put", "Got invalid action: put, valid actions: "),
        (f"app-activities/{app}?limit=0", "limit must be greater than 0!"),
        (f"app-activities/{app}?limit=one", "limit must be integer!"),
        (f"app-activities/{app}?requestPriorities=1,a", "request priorities must be integers!"),
        (
            f"app-activities/{app}?allocationRequestIds=-",
            "allocation request Ids must be integers!",
        ),
        (f"app-activities/{app}?maxTime=soon", "maxTime must be a number of seconds!"),
        (f"app-activities/{app}?actions=refresh", "Successfully received action: refresh"),
        (f"app-activities/{app}?maxTime=1e300", "waiting for display"),
        ("app-activities/nonsense", "Cannot find application with given appId"),
        ("app-activities/application_1_0001", "fail to get application activities after finished"),
    ):
        status, text = said(query)
        tell(status == 200 and text.startswith(words), f"{query}: {status} {text}")
    same(ask(rm, "/scheduler/bulk-activities?groupBy=x")[0], 400, "bulk: an unknown group")
    same(ask(rm, "/scheduler/bulk-activities?activitiesCount=x")[0], 404, "bulk: no number")
    for path, root in (("activities", "activities"), (f"app-activities/{app}", "appActivities")):
        _, _, text = rm.request(f"{BASE}/scheduler/{path}", headers={"Accept": "application/xml"})
        same(xml.etree.ElementTree.fromstring(text).tag, root, f"{path} as XML")


def metrics(rm, _app):
    found = {b["name"]: b for b in json.loads(rm.request("/jmx")[2])["beans"]}
    service = "Hadoop:service=ResourceManager,name="
    nodes, root = found[f"{service}ClusterMetrics"], found[f"{service}QueueMetrics,q0=root"]
    leaf = found[f"{service}QueueMetrics,q0=root,q1=default"]
    tell(
        nodes["NumActiveNMs"] == 1 and nodes["NumLostNMs"] == 0 and nodes["CapabilityMB"] == 65536,
        f"ClusterMetrics: {nodes}",
    )
    for q in (root, leaf):
        same(
            {
                k: q[k]
                for k in (
                    "AppsRunning",
                    "AppsSubmitted",
                    "AppsPending",
                    "AppsKilled",
                    "AllocatedContainers",
                    "AllocatedMB",
                    "AggregateContainersAllocated",
                    "running_0",
                )
            },
            {
                "AppsRunning": 1,
                "AppsSubmitted": 1,
                "AppsPending": 0,
                "AppsKilled": 0,
                "AllocatedContainers": 3,
                "AllocatedMB": 3072,
                "AggregateContainersAllocated": 3,
                "running_0": 1,
            },
            f"QueueMetrics of {q['tag.Queue']}",
        )
    ports = [b for b in found.values() if "RpcActivityForPort" in b["name"]]
    tracker = next(b for b in ports if b["tag.serverName"] == "ResourceTracker")
    tell(
        tracker["RpcProcessingTimeNumOps"] >= 2  # of registration and heartbeats
        and tracker["NumOpenConnections"] >= 1
        and tracker["RpcCallSuccesses"] == tracker["RpcProcessingTimeNumOps"]
        and tracker["ReceivedBytes"] > 100 < tracker["SentBytes"],
        f"RPC of the nodes: {tracker}",
    )
    tell(found[f"{service}JvmMetrics"]["MemHeapUsedM"] > 0, "its memory")
    with open(GOLDEN, encoding="utf-8") as f:
        known = {line.rsplit(":", 1)[0] for line in json.load(f)["rm GET /jmx"]}
    kinds = {name: re.search(r"name=([A-Za-z]+)", name).group(1) for name in found}
    ours = {f".{kinds[name]}.{k}" for name, b in found.items() for k in b}
    same(
        sorted(k for k in ours if ".tag." not in k and k not in known),
        [],
        "names that Hadoop has",
    )
    for query, count in (
        ("qry=Hadoop:*", 3 + 5),  # with JvmMetrics and a bean of each port
        ("qry=*RpcActivityForPort*", 4),
        (f"qry={service}ClusterMetrics", 1),
        ("qry=nothing", 0),
        ("qry=*q1=default", 1),
    ):
        same(len(json.loads(rm.request(f"/jmx?{query}")[2])["beans"]), count, f"/jmx?{query}")
    same(
        [
            b.get("NumActiveNMs")
            for b in json.loads(rm.request(f"/jmx?get={service}ClusterMetrics::NumActiveNMs")[2])[
                "beans"
            ]
        ],
        [1],
        "one attribute",
    )
    same(rm.request("/jmx?get=x")[0], 400, "/jmx?get=x")
    status, headers, text = rm.request("/metrics")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    tell(
        status == 200
        and headers["Content-Type"].startswith("text/plain; version=0.0.4")
        and all(
            re.fullmatch(
                r'[a-z_][a-z0-9_]*(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[0-9.e+-]+', line
            )
            for line in lines
        ),
        f"Prometheus text: {lines[:2]}",
    )
    tell(
        any(
            line.startswith("queue_metrics_apps_running{")
            and 'queue="root.default"' in line
            and line.endswith(" 1")
            for line in lines
        )
        and len(lines) == len(set(line.rsplit(" ", 1)[0] for line in lines)),
        "each sample once",
    )
    same(rm.request("/prom")[0], 200, "/prom, Hadoop's path")


def shape(value, path=""):
    """As tests/interop/cases/commands.py writes the golden file."""
    if isinstance(value, dict):
        return set().union(
            {f"{path}: object"}, *(shape(v, f"{path}.{k}") for k, v in value.items())
        )
    if isinstance(value, list):
        return set().union({f"{path}: list"}, *(shape(v, f"{path}[]") for v in value))
    kind = {str: "text", bool: "boolean", int: "number", float: "number", type(None): "null"}[
        type(value)
    ]
    return {f"{path}: {kind}"}


def queue_fields(wanted, got):
    """The members of the root and of a leaf queue in /scheduler: Apache's, and no other."""
    leaf = ".scheduler.schedulerInfo.queues.queue[]."
    missing, more = sorted(set(wanted) - got), sorted(got - set(wanted))
    tell(not missing, f"members of /scheduler: not there: {missing[:12]}")
    tell(not more, f"members of /scheduler: more than Apache's: {more[:12]}")
    tell(any(w.startswith(f"{leaf}users.user[]") for w in wanted), "users are among them")


def queue_kinds(rm, app):
    """What the members of a queue say, and the shape of the same answer as XML."""
    root = ask(rm, "/scheduler")[1]["scheduler"]["schedulerInfo"]
    leaf = root["queues"]["queue"][0]
    user = leaf["users"]["user"][0]
    found = ask(rm, f"/apps/{app}")[1]["app"]
    same(
        (root["type"], root["mode"], root["orderingPolicyInfo"], root["isAbsoluteResource"]),
        ("capacityScheduler", "percentage", "utilization", False),
        "the root",
    )
    same(
        {a["accessType"]: a["accessControlList"] for a in root["queueAcls"]["queueAcl"]},
        dict.fromkeys(("ADMINISTER_QUEUE", "APPLICATION_MAX_PRIORITY", "SUBMIT_APP"), "*"),
        "lists of the root",
    )
    same(
        (leaf["mode"], leaf["orderingPolicyInfo"], leaf["queueAcls"]["queueAcl"][2]),
        (
            "percentage",
            "fifo",
            {"accessType": "SUBMIT_APP", "accessControlList": " "},
        ),
        "a leaf",
    )
    same(
        leaf["capacities"]["queueCapacitiesByPartition"][0]["queueCapacityVectorInfo"],
        {
            "configuredCapacityVector": "[memory-mb=100.0%,vcores=100.0%]",
            "capacityVectorEntries": [
                {"resourceName": "memory-mb", "resourceValue": "100.0%"},
                {"resourceName": "vcores", "resourceValue": "100.0%"},
            ],
        },
        "its configured capacity",
    )
    same(
        (user["username"], user["numActiveApplications"], user["resourcesUsed"]["memory"]),
        (found["user"], 1, found["allocatedMB"]),
        "its only user",
    )
    last = {o["operation"]: o for o in root["health"]["operationsInfo"]}
    tell(
        last["last-allocation"]["containerId"].startswith(app.replace("application", "container"))
        and last["last-allocation"]["queue"] == "root.default"
        and last["last-allocation"]["nodeId"] == ask(rm, "/nodes")[1]["nodes"]["node"][0]["id"]
        and last["last-preemption"]["containerId"] == "N/A"
        and root["health"]["lastrun"] >= found["startedTime"],
        f"the scheduler's health: {root['health']}",
    )
    kind = "{http://www.w3.org/2001/XMLSchema-instance}type"
    tree = xml.etree.ElementTree.fromstring(
        rm.request(f"{BASE}/scheduler", headers={"Accept": "application/xml"})[2]
    )
    info = tree.find("schedulerInfo")
    same(
        (
            tree.tag,
            info.get(kind),
            info.find("queues/queue").get(kind),
            info.find("queues/queue/users/user/username").text,
            [e.find("operation").text for e in info.findall("health/operationsInfo")],
            tree.find(".//type"),
        ),
        (
            "scheduler",
            "capacityScheduler",
            "capacitySchedulerLeafQueueInfo",
            found["user"],
            ["last-allocation", "last-release", "last-preemption", "last-reservation"],
            None,
        ),
        "as XML",
    )


def fields(rm, app):
    """Every field of Apache's that the recorded answers have."""
    with open(GOLDEN, encoding="utf-8") as f:
        golden = json.load(f)
    node = ask(rm, "/nodes")[1]["nodes"]["node"][0]["id"]
    for path, name in (
        (f"/apps/{app}", "/apps/@RUNNING"),
        (f"/nodes/{node}", "/nodes/@NODE"),
        ("/metrics", "/metrics"),
        (f"/apps/{app}/timeouts", "/apps/@RUNNING/timeouts"),
        ("/userinfo", "/userinfo"),
        ("/appstatistics", "/appstatistics"),
        ("/queues/default/access?user=ann", "/queues/default/access?user=@USER"),
    ):
        wanted, got = golden[f"rm GET {BASE}{name}"][1:], shape(ask(rm, path)[1])
        wanted = [
            w for w in wanted if ".resourceSecondsMap.entry" not in w
        ]  # ours is a list; theirs the same member twice
        tell(not set(wanted) - got, f"{path}: fields of Apache's: {sorted(set(wanted) - got)[:6]}")
    queue_fields(golden[f"rm GET {BASE}/scheduler"][1:], shape(ask(rm, "/scheduler")[1]))
    queue_kinds(rm, app)
    found = ask(rm, f"/apps/{app}")[1]["app"]
    sums = found["resourceSecondsMap"]["entry"]
    tell({e["key"] for e in sums} == {"memory-mb", "vcores"}, f"resourceSecondsMap: {sums}")
    usage = found["resourceInfo"]["resourceUsagesByPartition"][0]
    tell(
        usage["used"]["memory"] == 3072
        and usage["used"]["vCores"] == 3
        and usage["partitionName"] == "",
        f"resourceInfo: {usage['used']}",
    )


def long_list(rm, _app):
    """More applications than one turn writes: to a client that reads late, to one that leaves, as
    XML, and a part."""
    ids = []
    for n in range(CROWD):
        ids.append(ask(rm, "/apps/new-application", "POST")[1]["application-id"])
        body = {
            "application-id": ids[-1],
            "application-name": f"n{n} " + "x" * 1000,
            "unmanaged-AM": True,
            "am-container-spec": {"commands": {"command": "true"}},
        }
        tell(rm.request(f"{BASE}/apps?user.name=ann", "POST", body)[0] == 202, f"submission {n}")
    status, found = ask(rm, "/apps")
    same(
        (status, [a["id"] for a in found["apps"]["app"]][-CROWD:]),
        (200, ids),
        "all, in the order of submission",
    )
    same(len(ask(rm, "/apps?limit=65")[1]["apps"]["app"]), 65, "a limit")
    guards = (
        "X-Content-Type-Options",
        "Content-Security-Policy",
        "X-Frame-Options",
        "Referrer-Policy",
    )
    streamed, at_once = (rm.request(f"{BASE}{path}")[1] for path in ("/apps", "/info"))
    same(
        [streamed[name] for name in guards],
        [at_once[name] for name in guards],
        "a streamed answer is guarded as one at once is",
    )
    members = ",".join(f"user-{n}" for n in range(999))
    status, some = ask(rm, f"/apps?user={members},ann&applicationTypes=yarn,{members}")
    same(
        (status, [a["id"] for a in some["apps"]["app"]][-CROWD:]),
        (200, ids),
        "those of one of 1,000 users",
    )
    refused(rm, f"/apps?user={members},ann,bob", "GET", None, 400, "user: more than 1000 members")
    same(ask(rm, "/apps?user=Ann&limit=9")[1]["apps"].get("app", []), [], "users are exact")
    tree = xml.etree.ElementTree.fromstring(
        rm.request(f"{BASE}/apps", headers={"Accept": "application/xml"})[2]
    )
    same([a.find("id").text for a in tree.findall("app")][-CROWD:], ids, "as XML")
    slow = []
    for _ in range(LISTS_MAX):  # they read nothing of some 450 kB, and kernels keep little
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        connection.connect(("127.0.0.1", rm.ports["webapp.address"]))
        connection.sendall(f"GET {BASE}/apps HTTP/1.0\r\nConnection: close\r\n\r\n".encode())
        slow.append(connection)
    got = ask(rm, "/apps")
    until = time.monotonic() + 60
    while got[0] == 200 and time.monotonic() < until:
        got = ask(rm, "/apps")
    tell(got[0] == 503 and "try again later" in str(got[1]), f"one too many: {str(got)[:200]}")
    same(ask(rm, "/apps?limit=20")[0], 200, "a short list meanwhile")
    with slow[0].makefile("rb") as late:
        whole = late.read()
    same(
        len(json.loads(whole.split(b"\r\n\r\n", 1)[1])["apps"]["app"]),
        len(found["apps"]["app"]),
        "read late",
    )
    for connection in slow:
        connection.close()
    while got[0] != 200 and time.monotonic() < until:
        got = ask(rm, "/apps")
    same(got[0], 200, "their places are free again")


def as_recorded(rm, line, path, method, body=None, headers=None):
    """Status and text of Apache's in tests/golden/commands."""
    with open(GOLDEN, encoding="utf-8") as f:
        wanted = json.load(f)[line.replace("BASE", BASE)]
    status, _, text = rm.request(BASE + path, method, body, headers)
    same([f"{status} application/json", text], wanted, line)


def delegation_tokens(rm, _app):
    """Refused for who has not logged in by Kerberos; RPC gives them."""
    body = {"renewer": "rob"}
    as_recorded(
        rm, 'rm POST BASE/delegation-token {"renewer":"rob"}', "/delegation-token", "POST", body
    )
    as_recorded(
        rm,
        'rm POST BASE/delegation-token?user.name=ann {"renewer":"rob"}',
        "/delegation-token?user.name=ann",
        "POST",
        body,
    )
    as_recorded(
        rm,
        "rm POST BASE/delegation-token/expiration",
        "/delegation-token/expiration",
        "POST",
        None,
        {"Hadoop-YARN-RM-Delegation-Token": "x" * 4000},
    )
    as_recorded(rm, "rm DELETE BASE/delegation-token", "/delegation-token", "DELETE")
    same(
        rm.request(f"{BASE}/delegation-token", "POST", "renewer", JSON)[0],
        400,
        "a body that is no JSON",
    )
    same(
        rm.request(f"{BASE}/delegation-token", "POST", "renewer", {"Content-Type": "text/plain"})[
            0
        ],
        415,
        "a body of another type",
    )
    same(rm.request(f"{BASE}/delegation-token")[0], 405, "GET")


def every_row(rm, app):
    """Each row of --print-interfaces has an answer, and each other method of its path none."""
    listed = subprocess.run(
        [f"{BUILD}/selvedge-rm", "--print-interfaces"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    rows = [
        line.split("\t")[1].split(" ") for line in listed.splitlines() if line.startswith("REST\t")
    ]
    names = {
        "appid": app,
        "appattemptid": app.replace("application", "appattempt") + "_000001",
        "queue": "default",
        "type": "LIFETIME",
        "containerid": app.replace("application", "container") + "_01_000001",
        "command": "NOTHING",
        "nodeId": ask(rm, "/nodes")[1]["nodes"]["node"][0]["id"],
    }
    for path in sorted({path for _, path in rows}):
        real = re.sub(r"{(\w+)}", lambda m: names[m.group(1)], path)
        for method in ("GET", "PUT", "POST", "DELETE"):
            status, _, text = rm.request(
                BASE + (real if real != "/" else ""),
                method,
                None if method in ("GET", "DELETE") else "[]",
                JSON,
            )
            tell(
                (status == 405) == ([method, path] not in rows)
                and "no such resource" not in text
                and status < 500,
                f"{method} {path}: {status} {text[:80]}",
            )
    same(ask(rm, "/no-such-path")[0], 404, "another path")


def ended(rm, app):
    """The containers of an attempt that has ended: for who looks for their logs."""
    attempt = app.replace("application", "appattempt") + "_000001"
    found = ask(rm, f"/apps/{app}/appattempts/{attempt}/containers")[1]
    listed = found.get("container", [])
    tell(
        len(listed) == 3
        and {c["containerState"] for c in listed} == {"COMPLETE"}
        and all(
            c["logUrl"].startswith("http://") and c["nodeId"] and c["finishedTime"] != "0"
            for c in listed
        ),
        f"containers of an ended attempt: {str(found)[:300]}",
    )
    for c in listed:
        same(
            ask(rm, f"/apps/{app}/appattempts/{attempt}/containers/{c['containerId']}"),
            (200, c),
            "each of them",
        )
    same(
        ask(rm, f"/apps/{app}/priority", "PUT", {"priority": 1})[0],
        200,
        "a final application keeps its priority",
    )
    same(
        ask(rm, f"/apps/{app}/state", "PUT", {"state": "KILLED"}),
        (200, {"state": "FINISHED"}),
        "it has ended",
    )
