"""Disks without room, and how long files and logs are kept. Cases of test-nodemanager."""
import collections
import concurrent.futures
import contextlib
import glob
import json
import os
import shutil
import time
import urllib.error

from cluster import conf, host
from lib.driven_node import DrivenNode
from lib.nm_driver import container


class Disks(DrivenNode):
    def in_time(self, function):
        """function(delay) looks whether something lasts for `delay` seconds and returns how many
        had gone at most, and what it has seen. On a machine where that look comes too late it tells
        nothing: a longer delay does.
        """
        for delay in (3, 12, 48):
            took, kept = function(delay)
            if kept:
                return
            assert took > delay, f"gone before {delay} s were over"
        raise AssertionError("this machine is too slow to see it")

    def report(self):
        info = self.node.get("/ws/v1/node/info")["nodeInfo"]
        return info["nodeHealthy"], info["healthReport"]

    @contextlib.contextmanager
    def checked_disks(self, *small, options):
        """The node restarts with tmpfs of these options on the directories `small`, and checks its
        disks often."""
        keys = {
            "enable": "true",
            "interval-ms": 200,
            "max-disk-utilization-per-disk-percentage": 100,
        }
        keys = {f"yarn.nodemanager.disk-health-checker.{k}": v for k, v in keys.items()}
        owner = self.c.daemon
        self.node.process.stop()
        for path in small:
            host.mount(
                "tmpfs",
                path,
                "tmpfs",
                data=f"{options},mode=755,uid={owner.pw_uid},gid={owner.pw_gid}",
            )
        self.node.site.update(keys)
        try:
            self.node.start()
            self.driver.registered()
            yield
        finally:
            self.node.process.stop()
            for path in small:
                host.umount(path)
            for key in keys:
                del self.node.site[key]
            self.node.start()
            self.driver.registered()  # perhaps of the one that has ended
            assert self.driver("beats", 60000, 2)["reached"]

    def without_inodes(self):
        """One of two local directories has no inodes left: it is named, and every container runs on
        the other one. Without a log directory the node is unhealthy, and healthy again when there
        are inodes."""
        app = self.new_app()
        with self.checked_disks(
            self.node.local_dirs[1], self.node.log_dirs[0], options="nr_inodes=4000"
        ):
            self.wait(lambda: self.report() == (True, ""), host.PATIENCE, "healthy")
            fillers = {}
            for path in (self.node.local_dirs[1], self.node.log_dirs[0]):
                fillers[path] = os.path.join(path, "filler")
                os.mkdir(fillers[path])
                with contextlib.suppress(OSError):
                    for n in range(5000):
                        os.close(os.open(f"{fillers[path]}/{n}", os.O_CREAT | os.O_WRONLY, 0o600))
            self.wait(
                lambda: all(
                    f"{path} : 0 free inodes, below the minimum of 1000" in self.report()[1]
                    for path in fillers
                )
                and not self.report()[0],
                host.PATIENCE,
                "unhealthy, for want of inodes in both",
            )
            refused = self.new_app()
            assert len(self.driver.start(refused, 1, 1, self.user, "true")["ok"]) == 1
            self.expect_ends(1)
            end = self.driver.exits()[container(refused, 1)]
            assert (
                end["exit"] == -1000 and "all log-dirs failed their checks" in end["diagnostics"]
            ), end
            self.driver("finish", refused)
            shutil.rmtree(fillers[self.node.log_dirs[0]])
            self.wait(lambda: self.report()[0], host.PATIENCE, "healthy with one local directory")
            assert self.node.log_dirs[0] not in self.report()[1], self.report()
            assert "1/2 local-dirs are bad" in self.report()[1], self.report()
            assert len(self.driver.start(app, 1, 8, self.user, "true")["ok"]) == 8
            self.expect_ends(8)
            assert {self.driver.exits()[container(app, n)]["exit"] for n in range(1, 9)} == {
                0
            }, self.driver.exits()
            shutil.rmtree(fillers[self.node.local_dirs[1]])
            self.wait(lambda: self.report() == (True, ""), host.PATIENCE, "healthy again")
            caches = f"{self.node.local_dirs[1]}/usercache/{self.user}/appcache"
            mine = f"{caches}/application_1700000000000_{app:04d}"
            self.wait(
                lambda: os.path.isdir(mine), host.PATIENCE, "the application's directory there"
            )
            assert len(self.driver.start(app, 11, 30, self.user, "true")["ok"]) == 30
            self.expect_ends(30)
            assert {self.driver.exits()[container(app, n)]["exit"] for n in range(11, 41)} == {
                0
            }, self.driver.exits()
            self.driver("finish", app)
            self.driver("beats", 60000, 3)

    @contextlib.contextmanager
    def second_log_disk(self):
        """The node restarts with one more log directory."""
        second = f"{self.node.dir}/containers-2"
        cfg = f"{self.node.prefix}/etc/selvedge/container-executor.cfg"
        owner = self.c.daemon
        self.node.process.stop()
        os.mkdir(second, 0o755)
        os.chown(second, owner.pw_uid, owner.pw_gid)
        self.node.log_dirs.append(second)
        conf.write_executor_cfg(cfg, self.node)
        self.node.start()
        self.driver.registered()
        try:
            yield
        finally:
            self.node.process.stop()
            self.node.log_dirs.remove(second)
            conf.write_executor_cfg(cfg, self.node)
            self.node.start()
            self.driver.registered()

    def followed(self, name):
        """(status, text) of a part of the container's stdout, as `selvedge logs -f` asks for it."""
        path = f"/ws/v1/node/containerlogs/{name}/stdout?format=octet-stream&start=0&end=1000"
        try:
            return 200, self.get(path)[2].decode()
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)["RemoteException"]["message"]

    def held(self):
        """The daemon's threads and descriptors, by kind."""
        proc = f"/proc/{self.node.process.process.pid}"
        names = collections.Counter({"thread": len(os.listdir(f"{proc}/task"))})
        for fd in os.listdir(f"{proc}/fd"):
            with contextlib.suppress(FileNotFoundError):
                names[os.readlink(f"{proc}/fd/{fd}").split(":[")[0]] += 1
        return names

    def hung_log_disk(self):
        """A log disk hangs while its logs are followed: heartbeats go on, logs of the other disk
        are served, readers of the hung one get words, and a container that fails there is reported.
        When the disk is back, so is everything."""
        app = self.new_app()
        works = f"usercache/*/appcache/application_1700000000000_{app:04d}/container_*"
        command = "echo hello ><LOG_DIR>/stdout; until [ -e go ]; do sleep 0.1; done; exit 7"
        with self.second_log_disk(), concurrent.futures.ThreadPoolExecutor(4) as pool:
            on = {path: [] for path in self.node.log_dirs}
            while not all(on.values()):
                number = sum(map(len, on.values())) + 1
                self.driver.start(app, number, 1, self.user, command)
                name = container(app, number)
                self.wait(
                    lambda n=name: self.followed(n) == (200, "hello\n"), 20, "its log is served"
                )
                (disk,) = (
                    d
                    for d in on
                    if os.path.exists(f"{d}/application_1700000000000_{app:04d}/{name}/stdout")
                )
                on[disk].append(name)
            self.driver.start(app, 99, 1, self.user, "exit 7")
            self.expect_ends(1)
            before = self.held()
            (hung, lost), (_, served) = ((d, names[0]) for d, names in on.items())
            with host.hung_disk(hung):
                readers = [pool.submit(self.followed, lost) for _ in range(4)]
                assert self.driver("beats", 20000, 3)["reached"]
                assert self.followed(served) == (200, "hello\n")
                for reader in readers:
                    words = f"log directory {hung} does not answer: its disk hangs"
                    assert (
                        reader.result()[0] == 503 and words in reader.result()[1]
                    ), reader.result()
                row = self.node.get(f"/ws/v1/node/containers/{served}")["container"]
                assert row["containerLogFiles"].count("stdout") == 1, row
                for work in (w for d in self.node.local_dirs for w in glob.glob(f"{d}/{works}")):
                    os.close(os.open(f"{work}/go", os.O_CREAT | os.O_WRONLY, 0o644))
                self.expect_ends(sum(map(len, on.values())))
                text = self.driver.exits()[lost]["diagnostics"]
                assert f"No error file was read: {words}" in text, text
                assert self.followed(served) == (200, "hello\n")
            self.wait(
                lambda: self.followed(lost) == (200, "hello\n"), host.PATIENCE, "served again"
            )
            self.driver("finish", app)
            self.wait(
                lambda: not any(f"_{app:04d}" in d for d in self.node.leftovers()),
                host.PATIENCE,
                "the application's directories are gone",
            )
            self.wait(
                lambda: not self.held() - before,
                host.PATIENCE,
                f"no thread or descriptor is left beside {before}: {self.held()}",
            )

    def full_state_store(self):
        """No container starts while its record cannot be written: the node says so until it can."""
        app, number, refused = self.new_app(), 0, None
        recovery = f"{self.node.dir}/recovery"
        with self.checked_disks(recovery, options="size=4m"):
            self.wait(lambda: self.report() == (True, ""), host.PATIENCE, "healthy")
            with contextlib.suppress(OSError), open(f"{recovery}/filler", "wb", buffering=0) as f:
                while True:
                    f.write(bytes(4096))
            while not refused and number < 100:
                number += 1
                answer = self.driver.start(app, number, 1, self.user, "true")
                if answer.get("ok"):
                    self.expect_ends(1)
                refused = answer.get("message")
            assert refused and refused.endswith("cannot write its state store"), answer
            self.wait(lambda: not self.report()[0], host.PATIENCE, "unhealthy")
            assert (
                f"state store {recovery}/nm-state.db: database or disk is full; no container "
                "starts until it can be written" in self.report()[1]
            ), self.report()
            os.unlink(f"{recovery}/filler")
            self.wait(lambda: self.report() == (True, ""), host.PATIENCE, "healthy again")
            assert self.driver.start(app, number + 1, 1, self.user, "true")["ok"]
            self.expect_ends(1)
            self.driver("finish", app)
            self.driver("beats", 60000, 3)

    def debug_delay(self):
        """yarn.nodemanager.delete.debug-delay-sec keeps the files, also over a restart."""
        self.in_time(self.files_kept)
        self.c.settle()

    def files_kept(self, delay):
        self.node.process.stop()
        self.node.site["yarn.nodemanager.delete.debug-delay-sec"] = str(delay)
        self.node.site["yarn.nodemanager.log.retain-seconds"] = "0"
        self.node.start()
        self.driver.registered()
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "echo kept ><LOG_DIR>/stdout; touch kept")
        self.expect_ends(1)
        since = time.monotonic()
        self.driver("finish", app)
        self.wait(
            lambda: not any(
                a["id"].endswith(f"_{app:04d}")
                for a in (self.node.get("/ws/v1/node/apps")["apps"] or {}).get("app", [])
            ),
            10,
            "forgotten",
        )
        del (
            self.node.site["yarn.nodemanager.delete.debug-delay-sec"],
            self.node.site["yarn.nodemanager.log.retain-seconds"],
        )
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        logs = f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}"
        kept = os.path.exists(f"{logs}/{container(app, 1)}/stdout") and [
            d for d in self.node.leftovers() if f"_{app:04d}" in d and "appcache" in d
        ]
        took = time.monotonic() - since
        self.wait(
            lambda: not os.path.exists(logs),
            delay + 2 * host.PATIENCE,
            "logs are deleted when the delay is over",
        )
        return took, kept

    def logs_expire(self):
        self.in_time(self.logs_kept)

    def logs_kept(self, delay):
        self.node.process.stop()
        self.node.site["yarn.nodemanager.log.retain-seconds"] = str(delay)
        self.node.start()
        self.driver.registered()
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "echo x ><LOG_DIR>/stdout")
        self.expect_ends(1)
        logs = f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}"
        assert os.path.exists(f"{logs}/{container(app, 1)}/stdout")
        since = time.monotonic()
        self.driver("finish", app)
        self.driver("beats", 20000, 3)
        kept = os.path.exists(logs)
        took = time.monotonic() - since
        self.node.process.kill()
        del self.node.site["yarn.nodemanager.log.retain-seconds"]
        self.node.start()  # the deadline is on record
        self.driver.registered()
        self.wait(
            lambda: not os.path.exists(logs),
            2 * host.PATIENCE,
            "logs are deleted when their time is over",
        )
        return took, kept
