"""Headless Chromium over the pipe of its DevTools protocol: one browser for many pages. For
tests/integration/client/test-screenshots."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

PATIENCE = 60


class ChromiumError(Exception):
    pass


class Chromium:
    """with Chromium(directory) as b: b.open(…). `directory`: an empty one of its own."""

    def __init__(self, directory):
        self.directory, self.number, self.session, self.events, self.rest = (
            directory,
            0,
            None,
            [],
            b"",
        )

    def __enter__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise ChromiumError("no program chromium: packaging/install-deps deps-debian-full.txt")
        into, self.into = os.pipe()
        self.out_of, out_of = os.pipe()
        argv = [
            program,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            f"--user-data-dir={self.directory}",
            "about:blank",
        ]
        # The browser reads commands from 3 and writes to 4, whatever numbers the pipes have here.
        self.process = subprocess.Popen(
            [
                "bash",
                "-c",
                'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"',
                "bash",
                str(into),
                str(out_of),
                *argv,
            ],
            pass_fds=(into, out_of),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(into)
        os.close(out_of)
        return self

    def __exit__(self, *_):
        os.close(self.into)
        os.close(self.out_of)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # its own session, with its renderers
        except ProcessLookupError:
            pass
        self.process.wait()

    def read(self, deadline):
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.out_of], [], [], left)[0]:
                raise ChromiumError(f"no answer within {PATIENCE} s")
            data = os.read(self.out_of, 1 << 20)
            if not data:
                raise ChromiumError("the browser has ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        """Its result. Events that come before are kept in self.events."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.into, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ChromiumError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def event(self, method):
        """Waits for one that may have come already."""
        deadline = time.monotonic() + PATIENCE
        while not any(e["method"] == method for e in self.events):
            answer = self.read(deadline)
            if "method" in answer:
                self.events.append(answer)

    def open(self, url, width, height, dark, script):
        """A new page, loaded; live figures of a page never end."""
        self.session, self.events = None, []
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=self.target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events = []
        said = self.call("Page.navigate", url=url)
        if said.get("errorText"):
            raise ChromiumError(f"{url}: {said['errorText']}")
        self.event("Page.loadEventFired")

    def close(self):
        self.session = None
        self.call("Target.closeTarget", targetId=self.target)

    def value(self, expression):
        """Of JavaScript in the page, without any of its own where that is off."""
        said = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in said:
            raise ChromiumError(f"{expression}: {said['exceptionDetails']['text']}")
        return said["result"].get("value")

    def wait(self, expression):
        deadline = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise ChromiumError(f"not true within {PATIENCE} s: {expression}")
            time.sleep(0.1)

    def size(self):
        """(width, height) of all that there is to scroll to."""
        box = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return round(box["width"]), round(box["height"])

    def errors(self):
        """Texts of the console: errors and warnings, exceptions, what the page's policy refused."""
        found = []
        for e in self.events:
            p = e["params"]
            if e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append(
                    f"{p['entry']['source']}: {p['entry']['text']} {p['entry'].get('url', '')}"
                )
            elif e["method"] == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"]["text"])
            elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in (
                "error",
                "warning",
                "assert",
            ):
                found.append(f"console.{p['type']}")
        return found

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)[
            "data"
        ]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
