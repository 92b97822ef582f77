"""What ApplicationMasters and a ResourceManager may send to do harm: wrong tokens, hostile requests
and answers, and where the keys of tokens may be found. Cases of test-nodemanager."""
import base64
import contextlib
import os
import re
import stat
import urllib.error

from lib.driven_node import DrivenNode
from lib.nm_driver import INVALID_TOKEN, YARN, container


class HostilePeers(DrivenNode):
    def bad_tokens(self):
        app = self.new_app()
        for fault, java, words in [
            ("wrongkey", INVALID_TOKEN, "Invalid container token used for starting container"),
            ("shortpassword", INVALID_TOKEN, "Invalid container token used for starting"),
            ("keyid", INVALID_TOKEN, "seems to have an illegally generated token."),
            ("othernode", INVALID_TOKEN, "is not valid for current Node manager. Expected : "),
            ("truncated", YARN + "YarnException", "Invalid ContainerToken"),
            ("nmtoken", "javax.security.sasl.SaslException", "Mismatched response"),
            ("nmnode", INVALID_TOKEN, "is not valid for current node manager"),
        ]:
            answer = self.driver.start(app, 1, 1, self.user, "true", fault)
            assert answer.get("class") == java and words in answer["message"], (fault, answer)
        for fault, java, words in [
            ("expired", "YarnException", "\nThis token is expired. current time is "),
            ("otherapp", "YarnException", "was used for starting container with container token"),
            ("oldrm", "InvalidContainerException", "is allocated by a previous RM"),
            (
                "aux:no_such_service:x",
                "InvalidAuxServiceException",
                "The auxService:no_such_service does not exist",
            ),
        ]:
            answer = self.driver.start(app, 1, 1, self.user, "true", fault)
            assert not answer["ok"] and len(answer["failed"]) == 1, (fault, answer)
            row = list(answer["failed"].values())[0]
            assert row["class"] == YARN + java and words in row["message"], (fault, row)
        for user in ("root", "no-such-user-here", "daemon", "../x", "-rf"):
            answer = self.driver.start(app + 500 + len(user), 1, 1, user, "true")
            if answer["ok"]:
                self.expect_ends(1)
                row = self.driver.exits()[container(app + 500 + len(user), 1)]
                assert row["exit"] == -1000 and "initialization failed" in row["diagnostics"], row
                self.driver("finish", app + 500 + len(user))
        assert self.driver.start(app, 1, 1, self.user, "true")["ok"], "it is still alive"
        self.expect_ends(1)
        answer = self.driver.start(app, 1, 1, self.user, "true")
        assert (
            "Attempt to relaunch the same container"
            in answer["failed"][container(app, 1)]["message"]
        ), answer
        self.driver("finish", app)

    def f65_same_token_twice(self):
        """HARDENING F65: twice in one call, again while it runs, again when it has ended."""
        app = self.new_app()
        answer = self.driver.start(app, 1, 1, self.user, "sleep 1000", "twice")
        assert answer["ok"] == [container(app, 1)], answer
        assert "Attempt to relaunch" in answer["failed"][container(app, 1)]["message"], answer
        answer = self.driver.start(app, 1, 1, self.user, "true")
        assert not answer["ok"], answer
        self.driver.stop(app, 1)
        self.expect_ends(1)
        answer = self.driver.start(app, 1, 1, self.user, "true")
        assert (
            not answer["ok"]
            and "Attempt to relaunch" in answer["failed"][container(app, 1)]["message"]
        ), answer
        self.driver("finish", app)

    def memory_kib(self):
        with open(f"/proc/{self.node.process.pid}/status", encoding="ascii") as f:
            return int(next(line.split()[1] for line in f if line.startswith("VmRSS:")))

    def e62_hostile_requests(self):
        """What an application with good tokens may send: refused or ended with words, and nothing
        else of the node notices."""
        app = self.new_app()
        assert self.driver.start(app, 1, 1, self.user, "sleep 300")["ok"]
        self.wait(lambda: container(app, 1) in self.running(), 20, "the neighbour")
        before = self.memory_kib()
        number = 1
        for fault in (
            "key-up",
            "key-slash",
            "key-absolute",
            "key-empty",
            "key-dots",
            "env-equals",
            "env-empty",
            "env-space",
            "env-newline",
            "env-substitution",
            "many-resources",
            "long-variable",
            "many-references",
        ):
            number += 1
            answer = self.driver.start(app, number, 1, self.user, "touch /tmp/ran", fault)
            if fault == "many-references":
                name = container(app, number)
                row = answer["failed"][name]
                assert (
                    row["class"] == YARN + "YarnException"
                    and row["message"]
                    == f"Container {name}: 5125500 bytes of environment, at most "
                    "1048576 are accepted"
                ), row
            if not answer.get("ok"):
                assert answer.get("message") or answer["failed"], (fault, answer)
                continue
            self.expect_ends(1)
            row = self.driver.exits()[container(app, number)]
            assert row["exit"] != 0 and row["diagnostics"].strip(), (fault, row)
        answer = self.driver.start(app, 1000, 20000, self.user, "true", "wrongkey")
        assert "message" in answer or len(answer["failed"]) == 20000, str(answer)[:500]
        assert [c for c in self.running() if c == container(app, 1)], "a neighbour has ended"
        assert self.driver("beats", 60000, 2)["reached"]
        if not os.environ.get("SANITIZE"):
            assert self.memory_kib() < before + 300 * 1024, (before, self.memory_kib())
        self.driver("finish", app)
        self.expect_ends(1)

    def e63_hostile_answers(self):
        """What a ResourceManager may answer to a heartbeat: nothing of it moves a container or
        stops the heartbeats."""
        app = self.new_app()
        assert self.driver.start(app, 1, 1, self.user, "sleep 300")["ok"]
        self.wait(lambda: container(app, 1) in self.running(), 20, "running")
        before = self.memory_kib()
        for kind, n in (
            ("cleanup", 100000),
            ("signal", 10000),
            ("update", 10000),
            ("keys", 1),
            ("numbers", 1),
            ("action", 1),
        ):
            self.driver("hostile", kind, n)
            assert self.driver("beats", 60000, 3)["reached"], kind
            assert container(app, 1) in self.running(), kind
        if not os.environ.get("SANITIZE"):
            assert self.memory_kib() < before + 100 * 1024, (before, self.memory_kib())
        assert self.driver.start(app, 2, 1, self.user, "true").get(
            "ok"
        ), "its keys are those from before"
        self.expect_ends(1)
        self.driver("finish", app)
        self.expect_ends(1)

    def f68_master_keys_stay_inside(self):
        """HARDENING F68: the keys are in the state store, which is the daemon's alone, and nowhere
        else: no log at the most talkative level, environment, command line, file of a container,
        web page, core file.
        """
        self.node.process.stop()
        self.node.start(env={"SELVEDGE_LOG_LEVEL": "debug"})
        self.driver.registered()
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "env; cat /proc/self/environ; exec sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 20, "it runs")
        keys = self.driver.keys()
        forms = [
            f
            for k in keys
            for f in (k, k.hex().encode(), k.hex().upper().encode(), base64.b64encode(k))
        ]
        daemon = self.node.process.pid
        places = [
            f"/proc/{p}/{f}"
            for p in [daemon, *self.c.container_processes()]
            for f in ("environ", "cmdline")
        ]
        store = os.path.join(self.node.dir, "recovery")
        seen, in_store = 0, False
        for top, _, names in os.walk(self.c.root):
            places += [os.path.join(top, name) for name in names]
        for place in places:
            try:
                if not stat.S_ISREG(os.lstat(place).st_mode):
                    continue  # a fifo would wait for its writer
                with open(place, "rb") as f:
                    text = f.read(64 << 20)
            except OSError:
                continue  # a process or file that has gone; a socket
            seen += 1
            found = any(form in text for form in forms)
            if place.startswith(store + "/"):
                in_store |= found
                mode = os.stat(place).st_mode
                assert (
                    not mode & 0o077 or not os.stat(os.path.dirname(place)).st_mode & 0o077
                ), f"{place} is open to others: {oct(mode)}"
            else:
                assert not found, f"a master key is in {place}"
        for page in ("/ws/v1/node/info", "/ws/v1/node/containers", "/metrics"):
            with contextlib.suppress(urllib.error.HTTPError):
                assert not any(form in self.get(page)[2] for form in forms), page
        assert in_store and seen > 50, "the search finds what is there"
        with open(f"/proc/{daemon}/limits", encoding="ascii") as f:
            assert re.search(r"^Max core file size +0 +0 ", f.read(), re.M), "no core file"
        self.driver("finish", app)
        self.expect_ends(1)
        self.node.process.stop()
        self.node.start()
        self.driver.registered()
