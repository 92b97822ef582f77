"""Definitions of services, right and wrong ones, that are saved at an API server: each a small
change of a right one. And the calls that have no definition, or no service."""
import copy

NAME = "corpus"
BASE = {
    "name": NAME,
    "version": "1.0.0",
    "components": [
        {
            "name": "a",
            "number_of_containers": 1,
            "launch_command": "sleep 100000",
            "resource": {"cpus": 1, "memory": "64"},
        }
    ],
}
GONE = object()  # a key that is left out


def of_service(**changes):
    """The right definition with other values of the service."""
    made = {**copy.deepcopy(BASE), **changes}
    return {key: value for key, value in made.items() if value is not GONE}


def of_component(**changes):
    """The same with other values of its component."""
    made = copy.deepcopy(BASE)
    component = {**made["components"][0], **changes}
    made["components"] = [{k: v for k, v in component.items() if v is not GONE}]
    return made


def two(first=None, second=None):
    """Components a and b."""
    made = copy.deepcopy(BASE)
    a = made["components"][0]
    made["components"] = [{**a, **(first or {})}, {**a, "name": "b", **(second or {})}]
    return made


def resource(**changes):
    made = {"cpus": 1, "memory": "64", **changes}
    return of_component(resource={k: v for k, v in made.items() if v is not GONE})


def configured(**changes):
    return of_component(configuration=changes)


def file(**changes):
    made = {"type": "PROPERTIES", "dest_file": "f", "properties": {"k": "v"}, **changes}
    return configured(files=[{k: v for k, v in made.items() if v is not GONE}])


def placed(**changes):
    made = {"type": "ANTI_AFFINITY", "scope": "NODE", "target_tags": ["a"], **changes}
    made = {k: v for k, v in made.items() if v is not GONE}
    return of_component(placement_policy={"constraints": [made]})


def check(kind, **properties):
    return of_component(readiness_check={"type": kind, "properties": properties})


def artifact(**changes):
    return of_component(artifact=changes)


DEFINITIONS = {
    "smallest": of_service(),
    "description, queue, quicklinks": of_service(
        description="words", queue="default", quicklinks={"UI": "http://a-0.${SERVICE_NAME}:80"}
    ),
    # the service
    "no name": of_service(name=GONE),
    "name empty": of_service(name=""),
    "name null": of_service(name=None),
    "name with capital": of_service(name="Corpus"),
    "name with underscore": of_service(name="cor_pus"),
    "name with dot": of_service(name="cor.pus"),
    "name begins with digit": of_service(name="0corpus"),
    "name begins with hyphen": of_service(name="-corpus"),
    "name ends with hyphen": of_service(name="corpus-"),
    "name of 63": of_service(name="c" * 63),
    "name of 64": of_service(name="c" * 64),
    "name with slash": of_service(name="../corpus"),
    "name is a number": of_service(name=7),
    "no version": of_service(version=GONE),
    "version empty": of_service(version=""),
    "version is a number": of_service(version=2),
    "version with slash": of_service(version="1/2"),
    "unknown key": of_service(colour="red"),
    "queue unknown": of_service(queue="nowhere"),
    "queue empty": of_service(queue=""),
    "lifetime 0": of_service(lifetime=0),
    "lifetime -1": of_service(lifetime=-1),
    "lifetime -5": of_service(lifetime=-5),
    "lifetime 3600": of_service(lifetime=3600),
    "lifetime is a word": of_service(lifetime="long"),
    "id given": of_service(id="application_1_0001"),
    "resource of the service": of_service(
        resource={"cpus": 1, "memory": "64"},
        components=[{"name": "a", "number_of_containers": 1, "launch_command": "sleep 1"}],
    ),
    "dependency on a service that is not there": of_service(dependencies=["elsewhere"]),
    "principal without host": of_service(
        kerberos_principal={"principal_name": "a@R", "keytab": "file:///k"}
    ),
    "configuration of the service": of_service(
        configuration={"properties": {"p": "1"}, "env": {"E": "2"}}
    ),
    # its components
    "no components": of_service(components=GONE),
    "components empty": of_service(components=[]),
    "components null": of_service(components=None),
    "components is an object": of_service(components={"a": {}}),
    "component is a word": of_service(components=["a"]),
    "component without name": of_component(name=GONE),
    "component name empty": of_component(name=""),
    "component name with capital": of_component(name="A"),
    "component name with underscore": of_component(name="a_b"),
    "component name of 64": of_component(name="a" * 64),
    "component has the service's name": of_component(name=NAME),
    "two components of a name": two(second={"name": "a"}),
    "unknown key of a component": of_component(colour="red"),
    "no count": of_component(number_of_containers=GONE),
    "count null": of_component(number_of_containers=None),
    "count 0": of_component(number_of_containers=0),
    "count -1": of_component(number_of_containers=-1),
    "count 1.5": of_component(number_of_containers=1.5),
    "count is a word": of_component(number_of_containers="many"),
    "count is a number as text": of_component(number_of_containers="3"),
    "count 10^9": of_component(number_of_containers=10**9),
    "count 10^19": of_component(number_of_containers=10**19),
    "no command": of_component(launch_command=GONE),
    "command empty": of_component(launch_command=""),
    "command is a list": of_component(launch_command=["sleep", "1"]),
    # resources
    "no resource": of_component(resource=GONE),
    "no memory": resource(memory=GONE),
    "memory is a number": resource(memory=64),
    "memory with unit": resource(memory="64m"),
    "memory empty": resource(memory=""),
    "memory 0": resource(memory="0"),
    "memory -1": resource(memory="-1"),
    "no cpus": resource(cpus=GONE),
    "cpus null": resource(cpus=None),
    "cpus 0": resource(cpus=0),
    "cpus -1": resource(cpus=-1),
    "cpus 0.5": resource(cpus=0.5),
    "cpus as text": resource(cpus="2"),
    "profile": resource(profile="small", memory=GONE, cpus=GONE),
    "profile and memory": resource(profile="small"),
    "additional resource": resource(additional={"gpu": {"value": 1, "unit": ""}}),
    "additional memory": resource(additional={"memory-mb": {"value": 1, "unit": "Mi"}}),
    # artifacts
    "artifact DOCKER": artifact(type="DOCKER", id="library/zookeeper"),
    "artifact DOCKER without id": artifact(type="DOCKER"),
    "artifact without type": artifact(id="library/zookeeper"),
    "artifact of an unknown type": artifact(type="OCI", id="x"),
    "artifact type in small letters": artifact(type="tarball", id="/nowhere.tar.gz"),
    "artifact TARBALL without id": artifact(type="TARBALL"),
    "artifact TARBALL that is not there": artifact(type="TARBALL", id="/nowhere.tar.gz"),
    "artifact TARBALL": artifact(type="TARBALL", id="/corpus/package.tar.gz"),
    "artifact SERVICE without id": artifact(type="SERVICE"),
    "artifact SERVICE that is not there": artifact(type="SERVICE", id="elsewhere"),
    # dependencies
    "dependency": two(second={"dependencies": ["a"]}),
    "dependency unknown": two(second={"dependencies": ["c"]}),
    "dependency on itself": two(second={"dependencies": ["b"]}),
    "dependencies in a ring": two({"dependencies": ["b"]}, {"dependencies": ["a"]}),
    # readiness
    "readiness DEFAULT": check("DEFAULT"),
    "readiness DEFAULT with DNS": check("DEFAULT", **{"dns.check.enabled": "true"}),
    "readiness HTTP": check("HTTP", url="http://${THIS_HOST}:80/"),
    "readiness HTTP without url": check("HTTP"),
    "readiness PORT": check("PORT", port="80"),
    "readiness PORT without port": check("PORT"),
    "readiness unknown": check("GUESS"),
    "readiness without type": of_component(readiness_check={"properties": {}}),
    # restart
    "restart NEVER": of_component(restart_policy="NEVER"),
    "restart ON_FAILURE": of_component(restart_policy="ON_FAILURE"),
    "restart unknown": of_component(restart_policy="SOMETIMES"),
    "restart in small letters": of_component(restart_policy="never"),
    # placement
    "placement": placed(),
    "placement without type": placed(type=GONE),
    "placement of an unknown type": placed(type="NEAR"),
    "placement without scope": placed(scope=GONE),
    "placement of an unknown scope": placed(scope="CITY"),
    "placement on racks": placed(scope="RACK"),
    "placement without tags": placed(target_tags=GONE),
    "placement with an unknown tag": placed(target_tags=["c"]),
    "placement with attributes": placed(
        target_tags=GONE, type="AFFINITY", node_attributes={"os": ["linux"]}
    ),
    "placement with partitions": placed(node_partitions=["gpu"]),
    "placement with cardinality": placed(
        type="AFFINITY_WITH_CARDINALITY", min_cardinality=1, max_cardinality=3
    ),
    "placement with cardinality that cannot be": placed(
        type="AFFINITY_WITH_CARDINALITY", min_cardinality=3, max_cardinality=1
    ),
    "placement without rules": of_component(placement_policy={"constraints": []}),
    # configuration
    "property is a number": configured(properties={"p": 1}),
    "property is an object": configured(properties={"p": {}}),
    "property null": configured(properties={"p": None}),
    "properties is a list": configured(properties=["p"]),
    "env": configured(env={"E": "v"}),
    "env is a number": configured(env={"E": 1}),
    "file": file(),
    "file without type": file(type=GONE),
    "file of an unknown type": file(type="INI"),
    "file type in small letters": file(type="json"),
    "file without dest": file(dest_file=GONE),
    "file below a directory": file(dest_file="d/f"),
    "file at an absolute path": file(dest_file="/d/f"),
    "file outside": file(dest_file="../f"),
    "files of one name": configured(
        files=[{"type": "JSON", "dest_file": "f", "properties": {}} for _ in range(2)]
    ),
    "file XML": file(type="XML"),
    "file YAML": file(type="YAML"),
    "file HADOOP_XML": file(type="HADOOP_XML"),
    "file TEMPLATE without content": file(type="TEMPLATE"),
    "file TEMPLATE": file(type="TEMPLATE", properties={"content": "words"}),
    "file STATIC": file(type="STATIC", src_file="/corpus/file", properties=GONE),
    "file STATIC without src": file(type="STATIC", properties=GONE),
    "file STATIC with properties": file(type="STATIC", src_file="/corpus/file"),
    "file STATIC of a directory": file(type="STATIC", src_file="/corpus", properties=GONE),
    "file STATIC that is not there": file(type="STATIC", src_file="/nowhere", properties=GONE),
    "file ARCHIVE": file(type="ARCHIVE", src_file="/corpus/package.tar.gz", properties=GONE),
    "file for everybody": file(visibility="PUBLIC"),
    "file of unknown visibility": file(visibility="SECRET"),
    "master's options": of_service(
        configuration={"properties": {"yarn.service.am.java.opts": "-Xmx1g; reboot"}}
    ),
    "component quicklinks": of_component(quicklinks=["UI"]),
}

# name → (method, path, body, user, headers). No service of these names is there.
CALLS = {
    "version": ("GET", "/version", None, None, {}),
    "version without user": ("GET", "/version", None, "", {}),
    "version by POST": ("POST", "/version", {}, None, {}),
    "list": ("GET", "", None, None, {}),
    "PUT of the list": ("PUT", "", {}, None, {}),
    "DELETE of the list": ("DELETE", "", None, None, {}),
    "no body": ("POST", "", None, None, {}),
    "empty body": ("POST", "", "", None, {}),
    "not JSON": ("POST", "", "name: corpus", None, {}),
    "half JSON": ("POST", "", '{"name": "corpus"', None, {}),
    "JSON null": ("POST", "", "null", None, {}),
    "JSON list": ("POST", "", "[]", None, {}),
    "JSON number": ("POST", "", "7", None, {}),
    "JSON empty object": ("POST", "", "{}", None, {}),
    "JSON key twice": ("POST", "", '{"name": "x", "name": "y"}', None, {}),
    "text/plain": ("POST", "", BASE, None, {"Content-Type": "text/plain"}),
    "application/xml": ("POST", "", "<a/>", None, {"Content-Type": "application/xml"}),
    "JSON with charset": (
        "POST",
        "",
        "{}",
        None,
        {"Content-Type": "application/json; charset=utf-8"},
    ),
    "XML wanted": ("GET", "/absent", None, None, {"Accept": "application/xml"}),
    "GET of an absent one": ("GET", "/absent", None, None, {}),
    "GET of an absent one without user": ("GET", "/absent", None, "", {}),
    "GET of a wrong name": ("GET", "/Absent_1", None, None, {}),
    "GET of a name of 64": ("GET", "/" + "a" * 64, None, None, {}),
    "GET with a slash": ("GET", "/absent/", None, None, {}),
    "GET of dots": ("GET", "/%2e%2e", None, None, {}),
    "GET of an encoded path": ("GET", "/..%2fabsent", None, None, {}),
    "POST of a name": ("POST", "/absent", {}, None, {}),
    "DELETE of an absent one": ("DELETE", "/absent", None, None, {}),
    "DELETE of a wrong name": ("DELETE", "/Absent_1", None, None, {}),
    "PUT of an absent one, nothing": ("PUT", "/absent", {}, None, {}),
    "PUT of an absent one, STOPPED": ("PUT", "/absent", {"state": "STOPPED"}, None, {}),
    "PUT of an absent one, STARTED": ("PUT", "/absent", {"state": "STARTED"}, None, {}),
    "PUT of an absent one, lifetime": ("PUT", "/absent", {"lifetime": 60}, None, {}),
    "PUT of an absent one, unknown state": ("PUT", "/absent", {"state": "GONE"}, None, {}),
    "PUT of an absent one, flex": (
        "PUT",
        "/absent",
        {"state": "FLEX", "components": [{"name": "a", "number_of_containers": 2}]},
        None,
        {},
    ),
    "PUT of an absent one, upgrade": (
        "PUT",
        "/absent",
        {**BASE, "name": "absent", "state": "UPGRADING", "version": "2"},
        None,
        {},
    ),
    "PUT of an absent one, cancel": ("PUT", "/absent", {"state": "CANCEL_UPGRADING"}, None, {}),
    "PUT without body": ("PUT", "/absent", None, None, {}),
    "components of an absent one": ("GET", "/absent/components", None, None, {}),
    "PUT of components of an absent one": (
        "PUT",
        "/absent/components",
        [{"name": "a", "state": "UPGRADING"}],
        None,
        {},
    ),
    "PUT of no components": ("PUT", "/absent/components", [], None, {}),
    "component of an absent one": ("GET", "/absent/components/a", None, None, {}),
    "PUT of a component of an absent one": (
        "PUT",
        "/absent/components/a",
        {"number_of_containers": 2},
        None,
        {},
    ),
    "PUT of a component without body": ("PUT", "/absent/components/a", None, None, {}),
    "instances of an absent one": ("GET", "/absent/component-instances", None, None, {}),
    "PUT of no instances": ("PUT", "/absent/component-instances", [], None, {}),
    "PUT of instances of an absent one": (
        "PUT",
        "/absent/component-instances",
        [{"component_instance_name": "a-0", "state": "UPGRADING"}],
        None,
        {},
    ),
    "PUT of an instance of an absent one": (
        "PUT",
        "/absent/components/a/component-instances/a-0",
        {"state": "UPGRADING"},
        None,
        {},
    ),
    "an unknown path": ("GET", "/absent/nothing", None, None, {}),
}
