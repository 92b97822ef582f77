"""What keeps the daemon from its work when it starts: a helper, ports, a state store, a
configuration that it cannot use. Cases of test-nodemanager."""
import contextlib
import os
import socket

from cluster import host
from lib.driven_node import DrivenNode
from lib.nm_driver import container


class Starts(DrivenNode):
    def helper_refuses(self):
        """Started with a helper that refuses it, the daemon ends before it has requested anything
        but the check; the container runs on, and a daemon with a good configuration takes it up."""
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 60, "running")
        self.node.process.stop()
        failed = self.told("initialization failed")
        cfg = f"{self.node.prefix}/etc/selvedge/container-executor.cfg"
        with open(cfg, encoding="ascii") as f:
            good = f.read()
        with open(cfg, "a", encoding="ascii") as f:
            f.write("banned.users\n")  # no value
        self.node.start()
        code = self.node.process.process.wait(host.PATIENCE)
        self.node.process.process = None
        with open(cfg, "w", encoding="ascii") as f:
            f.write(good)
        assert self.told("initialization failed") == failed, self.node.process.tail(20)
        assert (
            code == 5
            and "not started: container-executor is not usable" in self.node.process.tail(3)
        ), (
            code,
            self.node.process.tail(3),
        )
        self.node.start()
        again = self.driver.registered()
        assert [c["state"] for c in again["containers"] if c["id"] == container(app, 1)] == [
            2
        ], again
        self.wait(lambda: self.driver.stop(app, 1)["ok"], 20, "stop after the adoption")
        self.expect_ends(1)
        self.driver("finish", app)
        self.c.settle(30)

    def listener(self, kind):
        """Of somebody else, on a port of the daemon that was killed, once what that has just
        started is through its exec."""

        def listen():
            with contextlib.suppress(OSError):
                return socket.create_server(("127.0.0.1", self.node.ports[kind]))

        return self.c.wait(listen, 20, f"the {kind} port is free")

    def ports_held(self):
        """A child of a killed daemon that is not through its exec yet has the daemon's ports: the
        next one waits. Ports that somebody keeps end it, with words."""
        self.node.process.kill()
        for kind in ("rpc", "web"):
            before = self.told("waiting for it")
            with self.listener(kind):
                self.node.start()
                self.wait(
                    lambda: self.node.process.must_run() and self.told("waiting for it") > before,
                    60,
                    f"it waits for the {kind} port",
                )
            self.driver.registered()
            self.node.process.kill()
        with self.listener("rpc"):
            self.node.start()
            code = self.node.process.process.wait(host.PATIENCE)
        assert code == 1 and "Address already in use" in self.node.process.tail(3), (
            code,
            self.node.process.tail(3),
        )
        self.node.process.process = None
        self.node.start()
        self.driver.registered()

    def refused_starts(self):
        """A store from the future, or a damaged one, is refused with words; systemd does not start
        the daemon again."""
        self.node.process.stop()
        store = f"{self.node.dir}/recovery/nm-state.db"
        with open(store, "rb") as f:
            good = f.read()
        for spoil, words in (
            (lambda b: b[:60] + bytes([0, 0, 0, 99]) + b[64:], "schema 99"),
            (lambda b: b[:20], "damaged"),
            (lambda b: b"\xff" * 8192, "damaged"),
        ):
            with open(store, "wb") as f:
                f.write(spoil(good))
            self.node.start()
            code = self.node.process.process.wait(host.PATIENCE)
            assert code == 4 and words in self.node.process.tail(3), (
                code,
                self.node.process.tail(3),
            )
            self.node.process.process = None
        with open(store, "wb") as f:
            f.write(good)
        self.node.start()
        self.driver.registered()

    def secure_configuration(self):
        """The files of a cluster with Kerberos want a principal, and a method of authentication
        that is none is refused with file, line and key."""
        self.node.process.stop()
        path = f"{self.node.conf_dir}/core-site.xml"
        for method, words in (
            ("kerberos", "yarn.nodemanager.principal: not set"),
            ("token", f'{path}:2: hadoop.security.authentication is "token": neither simple nor'),
        ):
            with open(path, "w", encoding="utf-8") as f:
                f.write(
                    "<configuration>\n<property><name>hadoop.security.authentication</name>"
                    f"<value>{method}</value></property></configuration>\n"
                )
            self.node.process.start()
            code = self.node.process.process.wait(host.PATIENCE)
            tail = self.node.process.tail(3)
            assert code == 4 and words in tail, (code, tail)
            self.node.process.process = None
        self.node.start()
        self.driver.registered()

    def prepared(self):
        """What containers see of the host is made again when a mount comes; what root does not
        allow is told at start."""

        def made():
            with contextlib.suppress(FileNotFoundError):  # it is being made again
                return os.stat(f"{self.node.state}/policy").st_ino

        self.wait(made, host.PATIENCE, "prepared at start")
        before = made()
        with open(self.node.process.log, encoding="utf-8") as log:
            log.seek(0, os.SEEK_END)
            where = f"{self.node.dir}/mounted"
            os.mkdir(where)
            host.mount("tmpfs", where, "tmpfs")
            told = []
            self.wait(
                lambda: told.append(log.read()) or "is prepared again" in "".join(told),
                host.PATIENCE,
                "a mount is seen",
            )
            self.wait(lambda: made() not in (None, before), host.PATIENCE, "prepared again")
            seen = "".join(told).count("is prepared again")
            host.umount(where)
            self.wait(
                lambda: told.append(log.read()) or "".join(told).count("is prepared again") > seen,
                host.PATIENCE,
                "and its end",
            )
            assert "may not see a mount" not in "".join(told), told
        for key, value, theirs in (
            ("selvedge.nodemanager.sandbox.profile", "hadoop", "selvedge.sandbox.profiles"),
            ("selvedge.nodemanager.network", "private", "selvedge.sandbox.networks"),
        ):
            self.node.process.stop()
            self.node.site[key] = value
            self.node.start()
            self.wait(lambda: not self.node.process.running(), host.PATIENCE, "its end")
            assert (
                f"{key} is {value}, which {theirs} in container-executor.cfg does not allow"
                in self.node.process.tail(60)
            ), self.node.process.tail()
            self.node.process.process = None
            del self.node.site[key]
            self.node.start()
            self.driver.registered()  # perhaps of the one that has ended
            assert self.driver("beats", 60000, 2)["reached"]
