"""Calls of the API server of YARN services: definitions that are saved, calls of services that are
not there, and the life of one. What Apache's API server in an all-Apache cluster answers is kept in
tests/golden/services-api, without what differs from run to run; SERVICES_CAPTURE=1 writes it. Of
Apache's API server in front of our ResourceManager the same calls must have the same answers, of
ours too, but for the table of service_differences.py."""
import glob
import io
import json
import os
import re
import tarfile

from cluster import ClusterError
from interop import hadoop, peers
from interop.cases import service_differences
from interop.cases.service_definitions import BASE, CALLS, DEFINITIONS, NAME
from interop.service import Service, call
from interop.services import ENDED

GOLDEN = os.path.join(hadoop.TOP, "tests", "golden", "services-api", f"apache-{hadoop.REFERENCE}")
LIVE = "alive"
SLEEP = {"launch_command": "sleep 100000", "resource": {"cpus": 1, "memory": "64"}}
LIFE = {
    "configuration": {"properties": {"yarn.service.container-failure.retry.max": "0"}},
    "components": [
        {"name": "a", "number_of_containers": 2, **SLEEP},
        {"name": "b", "number_of_containers": 1, **SLEEP, "dependencies": ["a"]},
    ],
}
FILES, USED = os.path.join(hadoop.TOP, "tests", "golden", "services"), "zookeeper-ensemble"
# --- what is kept of answers -----------------------------------------------------------------


def masked(c, value):
    """Text without names of this run."""
    for found, name in (
        (c.submitter.pw_name, "USER"),
        (c.users[1].pw_name, "OTHER"),
        (c.hdfs.url(""), "hdfs://"),
    ):
        value = value.replace(found, name)
    for pattern, name in (
        (r"application_\d+_\d+", "APPLICATION"),
        (r"container_(e\d+_)?\d+_\d+_\d+_\d+", "CONTAINER"),
        (r"\n\tat (.|\n)*", ""),  # a stack
        (r"node\d\.selvedge\.test(:\d+)?", "NODE"),
        (r"\b10\.78\.0\.\d+(:\d+)?", "ADDRESS"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d{4})", "TIME"),
        (r"@[0-9a-f]{6,8}\b", "@HASH"),
    ):
        value = re.sub(pattern, name, value)
    return value


def steady(c, value, key=""):
    """A JSON value without what differs from run to run."""
    if isinstance(value, dict):
        return {k: steady(c, v, k) for k, v in sorted(value.items())}
    if isinstance(value, list):
        made = [steady(c, v) for v in value]
        return sorted(made, key=json.dumps) if key in ("", "containers", "components") else made
    if isinstance(value, str):
        return {"bare_host": "NODE", "hostname": "NODE", "ip": "ADDRESS"}.get(key, masked(c, value))
    if key == "launch_time" or (key == "lifetime" and 3000 < value < 3600):
        return "TIME"
    return value


def recorded(c, answer):
    """What is kept of an answer."""
    body = masked(c, answer.text) if answer.json is None else steady(c, answer.json)
    if answer.json is None and answer.text.lstrip().startswith("<"):
        body = "(HTML)"
    return {"status": answer.status, "type": answer.type, "body": body}


# --- calls ----------------------------------------------------------------------------------


def prepare(c):
    """Files that definitions name."""
    c.hdfs.ask("mkdir", "/corpus", "755")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz"):
        pass
    c.hdfs.put("/corpus/package.tar.gz", made.getvalue(), replicas=1)
    c.hdfs.put("/corpus/file", b"words\n", replicas=1)


def definitions():
    """{name: definition}, those of service_definitions.py and, as text, the files of
    tests/golden/services, of which others use the service zookeeper."""
    found = dict(DEFINITIONS)
    names = sorted(os.path.basename(path)[: -len(".json")] for path in glob.glob(f"{FILES}/*.json"))
    for name in sorted(names, key=lambda name: name != USED):
        with open(f"{FILES}/{name}.json", encoding="utf-8") as f:
            found[f"{name}.json"] = f.read()
    return found


def to_save(definition):
    """The body of a request that saves a definition, and the service's name."""
    if isinstance(definition, str):
        try:
            definition = json.loads(definition)
        except ValueError:
            return definition, ""
        if not isinstance(definition, dict):
            return definition, ""
    return {**definition, "state": "STOPPED"}, definition.get("name")


def saved(c, answers, found=None):
    """Each definition is saved and, where it was, read, at the API and on HDFS, and removed.
    `found`: some in place of all."""
    used = None
    for name, definition in (definitions() if found is None else found).items():
        body, service = to_save(definition)
        answer = call(c, "POST", "", body)
        answers[f"save: {name}"] = recorded(c, answer)
        if answer.status == 202:
            answers[f"saved: {name}"] = recorded(c, call(c, "GET", f"/{service}"))
            answers[f"stored: {name}"] = stored(c, service)
            if name == f"{USED}.json":
                used = service
            else:
                remove(c, service)
    if used:
        remove(c, used)
    saved_again(c, answers)


def remove(c, service):
    answer = call(c, "DELETE", f"/{service}")
    if answer.status != 200:
        raise ClusterError(f"DELETE of {service}: {answer}")


def saved_again(c, answers):
    """One that is saved, and not started."""
    again = {**BASE, "state": "STOPPED"}
    for name, method, path, body in (
        ("save", "POST", "", again),
        ("save again", "POST", "", again),
        ("flex of a saved one", "PUT", f"/{NAME}", flex(a=2)),
        ("stop of a saved one", "PUT", f"/{NAME}", {"state": "STOPPED"}),
        ("instances of a saved one", "GET", f"/{NAME}/component-instances", None),
        (
            "upgrade of a saved one",
            "PUT",
            f"/{NAME}",
            {**BASE, "version": "2", **state("UPGRADING")},
        ),
        ("destroy of a saved one", "DELETE", f"/{NAME}", None),
        ("destroy again", "DELETE", f"/{NAME}", None),
    ):
        answers[name] = recorded(c, call(c, method, path, body))


def stored(c, name):
    """The file of a service that either side's master could start."""
    local = f"{c.root}/tmp/stored.json"
    c.hdfs.ask("get", f"/user/{c.submitter.pw_name}/.yarn/services/{name}/{name}.json", local)
    with open(local, encoding="utf-8") as f:
        return {"status": 0, "type": "file", "body": steady(c, json.load(f))}


def state(name):
    return {"state": name}


def flex(**counts):
    components = [{"name": name, "number_of_containers": n} for name, n in counts.items()]
    return {"state": "FLEX", "components": components}


def absent(c, answers):
    for name, (method, path, body, user, headers) in CALLS.items():
        answers[name] = recorded(c, call(c, method, path, body, user, headers))


RUNNING = {
    "launch again": ("POST", "", {**LIFE, "name": LIVE, "version": "1.0.0"}),
    "save a running one": (
        "POST",
        "",
        {**LIFE, "name": LIVE, "version": "1.0.0", **state("STOPPED")},
    ),
    "start a running one": ("PUT", f"/{LIVE}", state("STARTED")),
    "PUT of nothing": ("PUT", f"/{LIVE}", {}),
    "flex of a component that is not there": ("PUT", f"/{LIVE}", flex(c=1)),
    "flex without a count": ("PUT", f"/{LIVE}", {"state": "FLEX", "components": [{"name": "a"}]}),
    "flex without components": ("PUT", f"/{LIVE}", state("FLEX")),
    "component: not there": ("PUT", f"/{LIVE}/components/c", {"number_of_containers": 1}),
    "component: other name": (
        "PUT",
        f"/{LIVE}/components/a",
        {"name": "b", "number_of_containers": 1},
    ),
    "component: no count": ("PUT", f"/{LIVE}/components/a", {"name": "a"}),
    "component: less than nothing": ("PUT", f"/{LIVE}/components/a", {"number_of_containers": -1}),
    "component: upgrade": ("PUT", f"/{LIVE}/components/a", state("UPGRADING")),
    "components: upgrade": ("PUT", f"/{LIVE}/components", [{"name": "a", **state("UPGRADING")}]),
    "components: nothing": ("PUT", f"/{LIVE}/components", [{"name": "a"}]),
    "instances": ("GET", f"/{LIVE}/component-instances", None),
    "instances of a component": ("GET", f"/{LIVE}/component-instances?componentName=b", None),
    "instances of two components": (
        "GET",
        f"/{LIVE}/component-instances?componentName=b&componentName=a",
        None,
    ),
    "instances of no component": ("GET", f"/{LIVE}/component-instances?componentName=c", None),
    "instances READY": ("GET", f"/{LIVE}/component-instances?containerState=READY", None),
    "instances FAILED": ("GET", f"/{LIVE}/component-instances?containerState=FAILED", None),
    "instances of a wrong state": ("GET", f"/{LIVE}/component-instances?containerState=WELL", None),
    "instances of a version": ("GET", f"/{LIVE}/component-instances?version=1.0.0", None),
    "instances of another version": ("GET", f"/{LIVE}/component-instances?version=2", None),
    "instances: upgrade": (
        "PUT",
        f"/{LIVE}/component-instances",
        [{"component_instance_name": "a-0", **state("UPGRADING")}],
    ),
    "instances: nothing": (
        "PUT",
        f"/{LIVE}/component-instances",
        [{"component_instance_name": "a-0"}],
    ),
    "instance: not there": (
        "PUT",
        f"/{LIVE}/components/a/component-instances/a-9",
        state("UPGRADING"),
    ),
    "instance: upgrade": (
        "PUT",
        f"/{LIVE}/components/a/component-instances/a-0",
        state("UPGRADING"),
    ),
    "instance: nothing": ("PUT", f"/{LIVE}/components/a/component-instances/a-0", {}),
    "upgrade to its own version": (
        "PUT",
        f"/{LIVE}",
        {**LIFE, "version": "1.0.0", **state("UPGRADING")},
    ),
    "cancel without upgrade": ("PUT", f"/{LIVE}", state("CANCEL_UPGRADING")),
    "decommission of another component": (
        "PUT",
        f"/{LIVE}",
        {"components": [{"name": "c", "decommissioned_instances": ["c-0"]}]},
    ),
    "lifetime": ("PUT", f"/{LIVE}", {"lifetime": 3600}),
    "component to its own count": ("PUT", f"/{LIVE}/components/a", {"number_of_containers": 2}),
}


def alive(c, answers):
    """One service from its launch to its end."""
    s = Service(c, LIVE, LIFE)

    def made(name, method, path="", body=None, user=None):
        answers[name] = recorded(
            c, call(c, method, f"/{LIVE}{path}" if path != "/" else "", body, user)
        )

    made("launch", "POST", "/", s.definition)
    if answers["launch"]["status"] != 202:
        raise ClusterError(f"launch: {answers['launch']}")
    s.stable({"a": 2, "b": 1})
    addressed(s)
    made("STABLE", "GET")
    made("by another user", "GET", user=c.users[1].pw_name)
    made("stopped by another user", "PUT", body=state("STOPPED"), user=c.users[1].pw_name)
    for name, (method, path, body) in RUNNING.items():
        answers[f"running: {name}"] = recorded(c, call(c, method, path, body))
    s.stable({"a": 2, "b": 1})
    made("flex a to -1", "PUT", body=flex(a=-1))  # one less
    s.stable({"a": 1, "b": 1})
    made("flex a to 3", "PUT", "/components/a", {"number_of_containers": 3})
    s.stable({"a": 3, "b": 1})
    made("flex a to 1, b to 2", "PUT", body=flex(a=1, b=2))
    s.stable({"a": 1, "b": 2})
    made("decommission b-0", "PUT", body=decommission("b", "b-0"))
    s.stable({"a": 1, "b": 1})
    addressed(s)
    made("STABLE after flexes", "GET")
    second = {**s.definition, "version": "2.0.0", "components": upgraded()}
    made("upgrade", "PUT", body={**second, **state("UPGRADING")})
    s.until("UPGRADING")
    made("UPGRADING", "GET")
    made("flex while UPGRADING", "PUT", "/components/a", {"number_of_containers": 2})
    made("upgrade while UPGRADING", "PUT", body={**second, "version": "3", **state("UPGRADING")})
    made("upgrade of an instance", "PUT", "/component-instances", instance("a-0"))
    s.wait(lambda status: states(status)["a"] == ["READY"], 180, "a-0 is READY")
    made("upgrade of an instance again", "PUT", "/component-instances", instance("a-0"))
    made("finalize", "PUT", body=state("STARTED"))
    s.stable({"a": 1, "b": 1})
    made("STABLE after the upgrade", "GET")
    made("stop", "PUT", body=state("STOPPED"))
    s.until("STOPPED")
    c.wait(lambda: s.application().get("state") in ENDED, 60, "the application ends")
    for name, method, path, body in (
        ("STOPPED", "GET", "", None),
        ("stop a stopped one", "PUT", "", state("STOPPED")),
        ("flex a stopped one", "PUT", "", flex(a=2)),
        ("flex a component of a stopped one", "PUT", "/components/a", {"number_of_containers": 2}),
        ("instances of a stopped one", "GET", "/component-instances", None),
        ("lifetime of a stopped one", "PUT", "", {"lifetime": 60}),
        ("launch a stopped one", "POST", "/", s.definition),
        ("upgrade a stopped one", "PUT", "", {**second, "version": "3", **state("UPGRADING")}),
    ):
        made(name, method, path, body)
    made("start", "PUT", body=state("STARTED"))
    s.until("STABLE")
    made("destroy a running one", "DELETE")
    made("destroyed", "GET")


def addressed(s):
    """Waits for the addresses of all containers, which nodes tell."""
    s.wait(
        lambda status: all(
            row.get("ip") for one in status["components"] for row in one["containers"]
        ),
        60,
        "every container has its address",
    )


def decommission(component, name):
    return {"components": [{"name": component, "decommissioned_instances": [name]}]}


def instance(name):
    return [{"component_instance_name": name, **state("UPGRADING")}]


def upgraded():
    a, b = LIFE["components"]
    return [
        {**a, "number_of_containers": 1, "launch_command": "sleep 200000"},
        {**b, "number_of_containers": 1},
    ]


def states(status):
    return {
        component["name"]: sorted(row["state"] for row in component.get("containers") or [])
        for component in status["components"]
    }


def capture(answers):
    """Writes the golden files: every answer; and what becomes of each definition, which tests of
    the parser read."""
    verdicts = {
        name: {
            **({"definition": definition} if isinstance(definition, dict) else {}),
            "status": answers[f"save: {name}"]["status"],
            "diagnostics": answers[f"save: {name}"]["body"],
            "stored": answers.get(f"stored: {name}", {}).get("body"),
        }
        for name, definition in definitions().items()
    }
    os.makedirs(GOLDEN, exist_ok=True)
    for name, rows in (("calls", answers), ("definitions", verdicts)):
        lines = [f" {json.dumps(k)}: {json.dumps(v, sort_keys=True)}" for k, v in rows.items()]
        with open(f"{GOLDEN}/{name}.json", "w", encoding="ascii") as f:
            f.write("{\n" + ",\n".join(lines) + "\n}\n")


def run(report, c, row, table):
    prepare(c)
    answers = {}
    for name, function in (
        ("definitions are saved", saved),
        ("calls of services that are not there", absent),
        ("calls of a running service", alive),
    ):
        report.case(f"{row}: {name}", function, c, answers)
    if peers.SELVEDGE not in (c.peer_rm, *c.peer_nms) and os.environ.get("SERVICES_CAPTURE"):
        capture(answers)
    golden = {}
    if report.check(f"{row}: the golden file is there", os.path.exists(f"{GOLDEN}/calls.json")):
        with open(f"{GOLDEN}/calls.json", encoding="ascii") as f:
            golden = json.load(f)
    compare(report, row, answers, golden, table)


def compare(report, row, answers, golden, table, names=None):
    """`names`: as in service_differences.compare()."""
    problems, n = service_differences.compare(answers, golden, table, names)
    report.check(f"{row}: {n} calls, {len(problems)} differences or rows too many", not problems)
    for problem in problems:
        report.check(row, False, problem)
