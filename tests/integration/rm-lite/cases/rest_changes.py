"""What REST clients change: submission, state, queue, priority, timeouts, nodes, signals, and who
may. Cases of test-rm-rest."""
import json

from cases.rest_answers import shape
from lib.rest_client import BASE, GOLDEN, JSON, ask, refused, same
from lib.rm_process import tell


def state(rm, app):
    same(ask(rm, f"/apps/{app}/state"), (200, {"state": "RUNNING"}), "state")
    same(
        ask(rm, f"/apps/{app}/state", "PUT", {"state": "RUNNING"}),
        (200, {"state": "RUNNING"}),
        "PUT of the state it has",
    )
    refused(rm, f"/apps/{app}/state", "PUT", {"state": "FAILED"}, 400, "Only 'KILLED' is allowed")
    for body in (
        "",
        "[]",
        "{",
        '{"state":1}',
        '{"state":"' + "x" * 3000 + '"}',
        '{"state":"\\u0000"}',
    ):
        refused(
            rm,
            f"/apps/{app}/state",
            "PUT",
            json.loads('{"a":1}') if not body else body.encode(),
            400 if not body else 415,
            "RemoteException",
        )
        if body:
            status, _, text = rm.request(f"{BASE}/apps/{app}/state", "PUT", body, JSON)
            tell(
                status == 400 and "BadRequestException" in text, f"PUT state {body[:20]}: {status}"
            )


def queue(rm, app):
    same(ask(rm, f"/apps/{app}/queue"), (200, {"queue": "root.default"}), "queue")
    for name in ("default", "root.default"):
        same(
            ask(rm, f"/apps/{app}/queue", "PUT", {"queue": name}),
            (200, {"queue": "root.default"}),
            f"move to {name}",
        )
    refused(rm, f"/apps/{app}/queue", "PUT", {"queue": "nowhere"}, 400, "doesn't exist")
    refused(rm, f"/apps/{app}/queue", "PUT", {"priority": 1}, 400, "queue")


def priority(rm, app):
    same(ask(rm, f"/apps/{app}/priority"), (200, {"priority": 0}), "priority")
    same(
        ask(rm, f"/apps/{app}/priority", "PUT", {"priority": 3}),
        (200, {"priority": 3}),
        "another priority",
    )
    same(
        ask(rm, f"/apps/{app}/priority", "PUT", {"priority": 99}),
        (200, {"priority": 5}),
        "the cluster's maximum",
    )
    same(ask(rm, f"/apps/{app}")[1]["app"]["priority"], 5, "as the application shows it")
    for body in ({"priority": "high"}, {"priority": 1 << 40}, {"priority": -1}, {}):
        refused(rm, f"/apps/{app}/priority", "PUT", body, 400, "priority")


def timeouts(rm, app):
    none = {"type": "LIFETIME", "expiryTime": "UNLIMITED", "remainingTimeInSeconds": -1}
    same(ask(rm, f"/apps/{app}/timeouts"), (200, {"timeouts": {"timeout": [none]}}), "timeouts")
    same(ask(rm, f"/apps/{app}/timeouts/LIFETIME"), (200, {"timeout": none}), "one timeout")
    refused(rm, f"/apps/{app}/timeouts/NOTHING", "GET", None, 400, "NOTHING")
    end = {"type": "LIFETIME", "expiryTime": "2099-01-01T00:00:00.000+0000"}
    status, found = ask(rm, f"/apps/{app}/timeout", "PUT", {"timeout": end})
    tell(
        status == 200
        and found["timeout"]["expiryTime"][:19] == end["expiryTime"][:19]
        and found["timeout"]["remainingTimeInSeconds"] > 0,
        f"a timeout is set: {status} {found}",
    )
    status, found = ask(rm, f"/apps/{app}/timeouts/LIFETIME")
    tell(found["timeout"]["expiryTime"][:19] == end["expiryTime"][:19], f"and stays: {found}")
    for body in (
        {"timeout": {**end, "type": "OTHER"}},
        {"timeout": {"type": "LIFETIME"}},
        {},
        {"timeout": {**end, "expiryTime": "2001-01-01T00:00:00.000+0000"}},
        {"timeout": {**end, "expiryTime": "soon"}},
    ):
        refused(rm, f"/apps/{app}/timeout", "PUT", body, 400, "BadRequestException")


def other_requests(rm, app):
    for method, path, status in (
        ("DELETE", f"/apps/{app}", 405),
        ("POST", "/info", 405),
        ("PUT", "/info", 405),
        ("POST", f"/apps/{app}/state", 405),
        ("PUT", "/apps", 405),
        ("PUT", f"/apps/{app}/timeouts", 405),
        ("PUT", f"/apps/{app}/nothing", 404),
        ("GET", f"/apps/{app}/nothing", 404),
        ("PUT", "/apps/application_1_0001/state", 404),
    ):
        got = rm.request(BASE + path, method, "{}" if method != "GET" else None, JSON)[0]
        tell(got == status, f"{method} {path}: {got}")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
        got = rm.request(
            f"{BASE}/apps/{app}/state", "PUT", '{"state":"KILLED"}', {"Content-Type": kind}
        )[0]
        tell(got == 415, f"a body of {kind}: {got}")
    said = {
        **JSON,
        "Content-Length": str((128 << 10) + 1),
    }  # and not sent: the answer does not wait for it
    tell(
        rm.request(f"{BASE}/apps/{app}/state", "PUT", "{", said)[0] == 413,
        "a body over 128 KiB: 413",
    )
    got = rm.request(f"{BASE}/apps/{app}/state", "PUT", '{"state":"%s"}' % ("x" * (16 << 10)), JSON)
    tell(
        got[0] == 413 and "appstate: the body is larger than 16 KiB" in got[2],
        f"a state over 16 KiB: {got[0]} {got[2][:200]}",
    )
    same(
        ask(rm, f"/apps/{app}/state"),
        (200, {"state": "RUNNING"}),
        "nothing of it changed the application",
    )


def submission(rm, _app):
    status, new = ask(rm, "/apps/new-application", "POST")
    tell(
        status == 200
        and new["application-id"].startswith("application_")
        and new["maximum-resource-capability"]["memory"] > 0,
        f"new-application: {new}",
    )
    with open(GOLDEN, encoding="utf-8") as f:
        same(
            sorted(set(json.load(f)[f"rm POST {BASE}/apps/new-application"][1:]) - shape(new)),
            [],
            "fields of Apache's",
        )
    body = {
        "application-id": new["application-id"],
        "application-name": "by REST",
        "queue": "default",
        "priority": 2,
        "application-type": "PROBE",
        "unmanaged-AM": True,
        "max-app-attempts": 1,
        "resource": {"memory": 1024, "vCores": 1},
        "application-tags": {"tag": ["one", "two"]},
        "am-container-spec": {
            "commands": {"command": "true"},
            "environment": {"entry": [{"key": "A", "value": "b"}]},
        },
        "application-timeouts": {"entry": [{"key": "LIFETIME", "value": 6000}]},
    }
    status, headers, text = rm.request(f"{BASE}/apps?user.name=ann", "POST", body)
    tell(
        status == 202 and headers["Location"].endswith(f"{BASE}/apps/{new['application-id']}"),
        f"submission: {status} {text}",
    )
    found = ask(rm, f"/apps/{new['application-id']}")[1]["app"]
    same(
        {
            k: found[k]
            for k in (
                "user",
                "name",
                "queue",
                "priority",
                "applicationType",
                "applicationTags",
                "unmanagedApplication",
            )
        },
        {
            "user": "ann",
            "name": "by REST",
            "queue": "root.default",
            "priority": 2,
            "applicationType": "PROBE",
            "applicationTags": "one,two",
            "unmanagedApplication": True,
        },
        "what was submitted",
    )
    tell(found["timeouts"]["timeout"][0]["remainingTimeInSeconds"] > 5000, "with its timeout")
    for change, words in (
        ({"application-id": "nonsense"}, "application-id"),
        ({"application-id": None}, "application-id"),
        (
            {"resource": {"memory": 1 << 40, "vCores": 1}, "unmanaged-AM": False},
            "Invalid resource request",
        ),
        (
            {"resource": {"memory": -1, "vCores": 1}, "unmanaged-AM": False},
            "nvalid resource request",
        ),
        ({"priority": "x"}, "priority"),
        ({"application-tags": {"tag": ["x" * 200]}}, "is too long"),
        ({"unmanaged-AM": "perhaps"}, "unmanaged-AM"),
        ({"am-container-spec": {"commands": 7}}, "commands"),
        ({"am-container-spec": []}, "am-container-spec"),
    ):
        again = ask(rm, "/apps/new-application", "POST")[1]["application-id"]
        refused(rm, "/apps", "POST", {**body, "application-id": again, **change}, 400, words)
        tell(ask(rm, f"/apps/{again}")[0] == 404, "and there is no such application")
    refused(rm, "/apps", "POST", [], 400, "BadRequestException")
    # For an unmanaged one Hadoop has no client wait, and says where to look only if it has to.
    url = f"{BASE}/apps/{new['application-id']}/state"
    status, headers, text = rm.request(f"{url}?user.name=ann", "PUT", {"state": "KILLED"})
    same(
        (status, json.loads(text), headers["Location"]),
        (200, {"state": "KILLING"}, None),
        "it is killed",
    )
    managed = ask(rm, "/apps/new-application", "POST")[1]["application-id"]
    body = {**body, "application-id": managed, "unmanaged-AM": False}
    same(rm.request(f"{BASE}/apps?user.name=ann", "POST", body)[0], 202, "one with a master")
    url = f"{BASE}/apps/{managed}/state"
    status, headers, text = rm.request(f"{url}?user.name=ann", "PUT", {"state": "KILLED"})
    same(
        (status, json.loads(text), headers["Location"]),
        (
            202,
            {"state": "KILLING"},
            f"http://127.0.0.1:{rm.ports['webapp.address']}{url}",
        ),
        "it is being killed",
    )


def xml_bodies(rm, app):
    def put(path, body, kind="application/xml"):
        status, _, text = rm.request(
            f"{BASE}/apps/{app}/{path}", "PUT", body, {"Content-Type": kind}
        )
        return status, text

    for path, body in (
        ("state", "<appstate><state>RUNNING</state></appstate>"),
        ("queue", "<appqueue><queue>default</queue></appqueue>"),
        (
            "priority",
            "<?xml "
            "version='1.0'?><applicationpriority><priority>4</priority></applicationpriority>",
        ),
        (
            "timeout",
            "<timeout><type>LIFETIME</type><expiryTime>"
            "2098-01-01T00:00:00.000+0000</expiryTime></timeout>",
        ),
    ):
        got = put(path, body, "application/xml; charset=utf-8")
        tell(got[0] == 200, f"PUT {path} as XML: {got}")
    found = ask(rm, f"/apps/{app}")[1]["app"]
    tell(
        found["priority"] == 4
        and found["timeouts"]["timeout"][0]["expiryTime"].startswith("2098-01-01"),
        f"what was put: {found['priority']} {found['timeouts']}",
    )
    for body, words in (
        ("<appqueue><priority>1</priority></appqueue>", "the document element is"),
        ("{}", "XML"),
        ("", "XML"),
        ("<applicationpriority><priority>high</priority></applicationpriority>", "priority"),
        (
            "<!DOCTYPE a [<!ENTITY b "
            "'1'>]><applicationpriority><priority>&b;</priority></applicationpriority>",
            "DOCTYPE",
        ),
        ("<applicationpriority>" + "<a>" * 5000, "deeper than"),
    ):
        got = put("priority", body)
        tell(got[0] == 400 and words in got[1], f"PUT {body[:70]}: {got[0]} {got[1][:200]}")
    got = rm.request(
        f"{BASE}/apps",
        "POST",
        "<application-submission-context>" + "<a/>" * 30000,
        {"Content-Type": "application/xml"},
    )
    tell(got[0] == 400 and "elements" in got[2], f"30,000 elements: {got[0]} {got[2][:200]}")
    tell(put("priority", "<applicationpriority/>", "text/xml")[0] == 415, "text/xml: 415")
    new = ask(rm, "/apps/new-application", "POST")[1]["application-id"]
    body = f"""<application-submission-context><application-id>{new}</application-id><application-name>by &lt;XML&gt;</application-name>
        <unmanaged-AM>true</unmanaged-AM><priority>2</priority><resource><memory>1024</memory><vCores>1</vCores></resource>
        <application-tags><tag>one</tag><tag>two</tag></application-tags><am-container-spec><commands><command>true</command></commands>
        <environment><entry><key>A</key><value>b</value></entry></environment><service-data/></am-container-spec>
        <application-timeouts><entry><key>LIFETIME</key><value>6000</value></entry></application-timeouts></application-submission-context>"""
    status, headers, text = rm.request(
        f"{BASE}/apps?user.name=ann", "POST", body, {"Content-Type": "application/xml"}
    )
    tell(status == 202 and headers["Location"].endswith(new), f"submission as XML: {status} {text}")
    found = ask(rm, f"/apps/{new}")[1]["app"]
    same(
        {
            k: found[k]
            for k in ("user", "name", "priority", "applicationTags", "unmanagedApplication")
        },
        {
            "user": "ann",
            "name": "by <XML>",
            "priority": 2,
            "applicationTags": "one,two",
            "unmanagedApplication": True,
        },
        "what was submitted as XML",
    )
    same(ask(rm, f"/apps/{new}/state", "PUT", {"state": "KILLED"})[0], 200, "it is killed")


def node_resource(rm, _app):
    node = ask(rm, "/nodes")[1]["nodes"]["node"][0]["id"]
    path = f"/nodes/{node}/resource"

    def total():
        found = ask(rm, f"/nodes/{node}")[1]["node"]["totalResource"]
        return found["memory"], found["vCores"]

    before = total()
    status, found = ask(
        rm, path, "POST", {"resource": {"memory": 9000, "vCores": 7}, "overCommitTimeout": -1}
    )
    tell(
        status == 200
        and (found["resourceInfo"]["memory"], found["resourceInfo"]["vCores"]) == (9000, 7),
        f"resource: {found}",
    )
    same(total(), (9000, 7), "what the node shows")
    with open(GOLDEN, encoding="utf-8") as f:
        wanted = json.load(f)[
            (
                f"rm POST {BASE}/nodes/@NODE/resource "
                f'{{"resource":{{"memory":4096,"vCores":4}},"overCommitTimeout":-1}}'
            )
        ]
    same(sorted(set(wanted[1:]) - shape(found)), [], "fields of Apache's")
    xml_body = (
        "<resourceOption><resource><memory>9001</memory><vCores>7</vCores></resource>"
        "</resourceOption>"
    )
    same(
        rm.request(BASE + path, "POST", xml_body, {"Content-Type": "application/xml"})[0],
        200,
        "as XML",
    )
    same(total(), (9001, 7), "what the node shows then")
    for body, words in (
        ({}, "resource: missing"),
        ({"resource": {"memory": -1}}, "memory"),
        ({"resource": {"vCores": 1 << 33}}, "vCores"),
        ({"resource": {"memory": 1 << 41}}, "memory"),
        ({"resource": [1]}, "resource"),
        ({"resource": {"memory": 1}, "overCommitTimeout": "soon"}, "overCommitTimeout"),
    ):
        refused(rm, path, "POST", body, 400, words)
    refused(
        rm,
        "/nodes/nobody:1/resource",
        "POST",
        {"resource": {"memory": 1}},
        404,
        "nodeId, nobody:1, is not found",
    )
    same(rm.request(BASE + path)[0], 405, "GET of it")
    same(total(), (9001, 7), "refusals changed nothing")
    same(
        ask(rm, path, "POST", {"resource": {"memory": before[0], "vCores": before[1]}})[0],
        200,
        "as before",
    )


def signals(rm, app):
    attempt = app.replace("application", "appattempt") + "_000001"
    first = ask(rm, f"/apps/{app}/appattempts/{attempt}/containers")[1]["container"][0][
        "containerId"
    ]
    same(
        rm.request(f"{BASE}/containers/{first}/signal/output_thread_dump", "POST")[0],
        200,
        "a signal",
    )
    refused(rm, f"/containers/{first}/signal/NONSENSE", "POST", None, 400, "valid commands are")
    refused(
        rm,
        f"/containers/{first[:-1]}9/signal/GRACEFUL_SHUTDOWN",
        "POST",
        None,
        404,
        "absent container",
    )
    refused(
        rm,
        "/containers/nonsense/signal/GRACEFUL_SHUTDOWN",
        "POST",
        None,
        400,
        "Invalid ContainerId",
    )
    same(rm.request(f"{BASE}/containers/{first}/signal", "POST")[0], 404, "no command")


def denied(rm, app):
    """With ACLs: by the owner and MODIFY_APP's users and groups, administrators of the cluster and
    of the queue."""
    change = {"priority": 1}
    for user, may in (
        ("bob", False),
        ("eve", False),
        ("", False),
        ("mod", True),
        ("daemon", True),
        ("boss", True),
        ("chief", True),
        ("ann", True),
    ):
        status, text = ask(rm, f"/apps/{app}/priority?user.name={user}", "PUT", change)
        tell(
            status == (200 if may else 403),
            f"{user or 'nobody'} changes the priority: {status} {text}",
        )
    node = ask(rm, "/nodes")[1]["nodes"]["node"][0]["id"]
    container = app.replace("application", "container") + "_01_000009"
    for user, status in (("ann", 403), ("bob", 403), ("", 403), ("boss", 404)):
        for path in (
            f"/nodes/{node}1/resource",
            f"/containers/{container}/signal/OUTPUT_THREAD_DUMP",
        ):
            same(
                ask(rm, f"{path}?user.name={user}", "POST", {"resource": {"memory": 1}})[0],
                status,
                f"POST {path} by {user or 'nobody'}",
            )
    status, text = ask(rm, "/apps?user.name=", "POST", {"application-id": "application_1_0001"})
    tell(status == 403, f"nobody submits: {status} {text}")
    status, text = ask(
        rm,
        "/apps?user.name=bob",
        "POST",
        {
            "application-id": ask(rm, "/apps/new-application?user.name=bob", "POST")[1][
                "application-id"
            ],
            "queue": "default",
            "resource": {"memory": 1024, "vCores": 1},
            "am-container-spec": {},
        },
    )
    tell(
        status == 403 and "does not have permission to submit" in str(text),
        f"bob may not submit: {status} {text}",
    )
