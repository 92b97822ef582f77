"""One YARN service, driven by Hadoop's command line or by calls of the API server: its states, its
instances and the processes of its containers."""
import contextlib
import copy
import glob
import json
import os
import re
import signal
import urllib.error
import urllib.request

from cluster import ClusterError
from cluster.host import PATIENCE, pids
from interop import hadoop, peers
from interop.services import ENDED

CLI = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"


class Answer:
    """An answer of the API: `json` is None where the body is none."""

    def __init__(self, status, headers, body):
        self.status, self.type = status, headers.get("Content-Type")
        self.text, self.json = body.decode("utf-8", "replace"), None
        with contextlib.suppress(ValueError):
            self.json = json.loads(self.text)

    def __repr__(self):
        return f"{self.status} {self.type} {self.text[:2000]}"


def call(c, method, path, body=None, user=None, headers=None, api=None):
    """One call of the API. `path`: behind /app/v1/services. `body`: an object, or text as it is.
    `user`: None for the submitter, "" for none. `api`: the URL, None for the cluster's."""
    user = c.submitter.pw_name if user is None else user
    url = (
        (api or c.api)
        + path
        + (("&" if "?" in path else "?") + f"user.name={user}" if user else "")
    )
    data = None
    if body is not None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
    request = urllib.request.Request(url, data=data, method=method)
    for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
        request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=2 * PATIENCE) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read())


def processes(container):
    """Process ids of a container, by its environment: Apache's nodes have no cgroups."""
    mark, found = f"CONTAINER_ID={container}".encode(), []
    for pid in pids():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
            if mark in f.read().split(b"\0"):
                found.append(pid)
    return found


def kill(container, sig=signal.SIGKILL):
    """A signal for each process of a container; their ids."""
    found = processes(container)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)
    if not found:
        raise ClusterError(f"{container}: no process has it in its environment")
    return found


def ready(status):
    """{instance: row of its container} of a status, of those that are READY."""
    return {
        row["component_instance_name"]: row
        for component in status.get("components") or []
        for row in component.get("containers") or []
        if row.get("state") == "READY"
    }


class Service:
    """`definition`: without the name. `api`: the API server that it is driven by, of services.py,
    None for the cluster's. `direct`: there is no API server, the command line is Hadoop's
    ServiceClient, which asks the ResourceManager and the master itself."""

    def __init__(self, c, name, definition, api=None):
        self.c, self.name = c, name
        self.definition = {"name": name, "version": "1.0.0", **copy.deepcopy(definition)}
        self.url, self.conf = (c.apis[api].url, c.apis[api].conf) if api else (None, None)
        self.url, self.conf = self.url or c.api, self.conf or c.services_conf
        self.direct = self.url is None

    def call(self, method, path="", body=None, **more):
        """A call of the API about it."""
        return call(self.c, method, f"/{self.name}{path}", body, api=self.url, **more)

    def put(self, body, path="", status=(200, 202)):
        """A change that must be accepted."""
        answer = self.call("PUT", path, body)
        if answer.status not in status:
            raise ClusterError(f"PUT {self.name}{path} {body}: {answer}{self.logs()}")
        return answer

    def file(self, **changes):
        """Writes the definition for the command line."""
        path = f"{self.c.root}/tmp/{self.name}.json"
        with open(path, "w", encoding="ascii") as f:
            json.dump({**self.definition, **changes}, f)
        return path

    def cli(self, *words, conf=None):
        """Output of Hadoop's command line."""
        conf = conf or self.conf
        options = peers.options(self.c, "client")
        argv = hadoop.java(self.c.peer_client, CLI, *words, conf=conf, options=options)
        done = peers.run_as_submitter(self.c, argv, conf)
        if done.returncode:
            raise ClusterError(
                f"yarn {' '.join(words)}: exit {done.returncode}:\n"
                f"{done.stdout[-3000:]}{self.logs()}"
            )
        return done.stdout

    def app(self, verb, *words):
        """`yarn app -VERB NAME WORDS`"""
        return self.cli("app", f"-{verb}", self.name, *words)

    def direct_app(self, verb, *words):
        """The same by Hadoop's ServiceClient, which asks the master and the file system itself."""
        return self.cli("app", f"-{verb}", self.name, *words, conf=self.c.direct_conf)

    def post(self):
        """Launches it without the command line."""
        answer = call(self.c, "POST", "", self.definition, api=self.url)
        if answer.status != 202:
            raise ClusterError(f"POST of {self.name}: {answer}")

    def status(self):
        """What the API server says, or the command line where there is none; {} for nothing."""
        if not self.direct:
            answer = self.call("GET")
            return (answer.status == 200 and answer.json) or {}
        out = self.app("status")
        begin = re.search(r"^\{", out, re.M)  # behind lines of its log
        return json.JSONDecoder().raw_decode(out, begin.start())[0] if begin else {}

    def wait(self, found, seconds, what):
        """The result of found(status), once it is true."""
        last = {}

        def asked():
            last["status"] = self.status()
            return found(last["status"])

        try:
            return self.c.wait(asked, seconds, f"{self.name}: {what}")
        except ClusterError as error:
            raise ClusterError(f"{error}: {json.dumps(last)[:3000]}{self.logs()}") from None

    def until(self, state, seconds=180):
        """The status, once it has the state."""
        return self.wait(lambda status: status.get("state") == state and status, seconds, state)

    def stable(self, counts, seconds=240, without=()):
        """Waits until the service is STABLE with so many READY instances of each component, none
        in a container of `without`; {instance: container}."""

        def found(status):
            rows = ready(status)
            names = [name.rsplit("-", 1)[0] for name in rows]
            containers = {name: row["id"] for name, row in rows.items()}
            if (
                status.get("state") == "STABLE"
                and {name: names.count(name) for name in counts} == counts
                and not set(containers.values()) & set(without)
            ):
                return containers
            return None

        return self.wait(found, seconds, f"STABLE with {counts}")

    def application(self):
        """The ResourceManager's report of its last application, {} where it had none."""
        apps = ((self.c.rm_get("/ws/v1/cluster/apps") or {}).get("apps") or {}).get("app") or []
        return max(
            (app for app in apps if app["name"] == self.name), key=lambda a: a["id"], default={}
        )

    def attempts(self):
        return peers.Application(self.c, self.application()["id"]).attempts()

    def outputs(self, name="stdout.txt"):
        """{container: text} of a log of its containers."""
        return peers.Application(self.c, self.application()["id"]).outputs(name)

    def logs(self):
        """The last report, and the ends of its masters' logs."""
        app, text = self.application(), ""
        for node in self.c.nodes if app else ():
            for directory in node.log_dirs:
                for path in sorted(glob.glob(f"{directory}/{app['id']}/*/*err*")):
                    with open(path, encoding="utf-8", errors="replace") as f:
                        text += f"\n{path}:\n{f.read()[-3000:]}"
        return f"\n{app.get('state')} {app.get('diagnostics')}{text}"

    def end(self):
        """Destroys the service in any state; waits until its application has ended."""
        if self.direct:
            with contextlib.suppress(ClusterError):
                self.app("stop")
            self.app("destroy")
        else:
            self.call("PUT", body={"state": "STOPPED"})
            self.c.wait(
                lambda: self.application().get("state") in (None, *ENDED), 60, f"{self.name} ends"
            )
            answer = self.call("DELETE")
            if answer.status != 200:
                raise ClusterError(f"DELETE of {self.name}: {answer}")
