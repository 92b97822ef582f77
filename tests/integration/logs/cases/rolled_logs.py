"""Logs of containers that still run, in rounds: what is uploaded, deleted and kept, also by an
uploader that is killed. Cases of test-log-uploader."""
import os

from cluster.host import wait_for
from lib.localizer_process import USER
from lib.upload_checks import UploadChecks, entry, expect
from lib.uploader_process import APP, PLACE, Uploader, container, dump, upload


class RolledLogs(UploadChecks):
    # ---- An application that runs: rolled logs ----

    def roll(self, number, time, **more):
        """One upload while the application runs; who is not said to have ended runs."""
        return upload(
            self.logs,
            number if isinstance(number, list) else [number],
            **{
                "app_runs": True,
                "rolled_include": r"\.\d$",
                "time": str(time),
                "file": "node4_1",
                **more,
            },
        )

    def rolled(self, time=None):
        """The files of node4_1, or the entries of one of them."""
        where = f"{self.logs.remote}/{os.path.dirname(PLACE)}"
        if time is None:
            return sorted(n for n in os.listdir(where) if n.startswith("node4_1"))
        return dump(f"{where}/node4_1_{time}")

    def there(self, number, disk=0):
        return sorted(
            os.fsdecode(n) for n in os.listdir(os.path.dirname(self.logs.path(number, "x", disk)))
        )

    def forget_rolled(self):
        for name in self.rolled():
            os.unlink(f"{self.logs.remote}/{os.path.dirname(PLACE)}/{name}")
        for disk in self.logs.disks:
            for path in (f"{disk}/{APP}/.uploaded-logs",):
                if os.path.exists(path):
                    os.unlink(path)

    def rolled_patterns(self):
        """Rolled logs of a container that runs, all of one that has ended; what is uploaded is
        deleted, and is not there twice when the application ends."""
        for number in (10, 11):
            for name in ("syslog", "syslog.1", "gc.2"):
                self.logs.put(number, name, f"{number} {name}".encode(), disk=number % 2)
        answer = self.roll([10, 11], 1001, ended=[11], exclude="^gc", rolled_exclude="never")
        expect(answer.outcome == "done" and answer.files == 5, str(answer))
        expect(
            self.rolled(1001)
            == [
                entry(n, name, f"{n} {name}".encode())
                for n, names in ((10, ("gc.2", "syslog.1")), (11, ("gc.2", "syslog", "syslog.1")))
                for name in names
            ],
            str(self.rolled(1001)),
        )
        expect(
            self.there(10) == ["syslog"] and self.there(11, 1) == [],
            f"{self.there(10)} {self.there(11, 1)}",
        )
        answer = self.roll([10], 1002)
        expect(
            answer.outcome == "nothing" and self.rolled() == ["node4_1_1001"],
            f"{answer} {self.rolled()}",
        )
        answer = self.roll([], 1003, app_runs=False)
        expect(answer.outcome == "done", str(answer))
        expect(
            [e for e in self.rolled(1003) if e[0] in (container(10), container(11))]
            == [entry(10, "syslog", b"10 syslog")],
            str(self.rolled(1003)),
        )
        self.forget_rolled()

    def ended_before_a_restart(self):
        """The daemon names who runs: of the others, all logs, unless the directory is younger than
        the daemon."""
        for number, when in ((20, 5000), (21, 5000), (22, 5000), (23, 7000)):
            for name in ("syslog", "syslog.1"):
                self.logs.put(number, name, f"{number} {name}".encode(), disk=1)
            os.utime(os.path.dirname(self.logs.path(number, "x", 1)), (when, when))
        answer = self.roll([21], 1001, others_before=6000000, skips=[22, *range(20)])
        expect(answer.outcome == "done" and answer.files == 3, str(answer))
        expect(
            self.rolled(1001)
            == [entry(20, n, f"20 {n}".encode()) for n in ("syslog", "syslog.1")]
            + [entry(21, "syslog.1", b"21 syslog.1")],
            str(self.rolled(1001)),
        )
        expect([len(self.there(n, 1)) for n in range(20, 24)] == [0, 1, 2, 2], "what is deleted")
        self.forget_rolled()

    def rolled_and_kept(self):
        """Without deletion a log is uploaded once, whatever name it gets; one that has grown is
        uploaded again; one that grows while it is uploaded is not deleted."""
        self.logs.put(12, "log.1", b"one")
        for time in (1, 2):
            answer = self.roll(12, time, delete=False)
            expect(answer.outcome == ("done" if time == 1 else "nothing"), str(answer))
        os.rename(self.logs.path(12, "log.1"), self.logs.path(12, "log.2"))
        self.logs.put(12, "log.1", b"two")
        expect(
            self.roll(12, 3, delete=False).files == 1
            and self.rolled(3) == [entry(12, "log.1", b"two")],
            "renamed",
        )
        with open(self.logs.path(12, "log.1"), "ab") as f:
            f.write(b" more")
        expect(
            self.roll(12, 4, delete=False).files == 1
            and self.rolled(4) == [entry(12, "log.1", b"two more")],
            "grown",
        )
        expect(self.there(12) == ["log.1", "log.2"], str(self.there(12)))
        path = self.logs.put(12, "big.1", b"x" * (8 << 20))
        finish = self.held(
            12, "node4_1_5", file="node4_1", app_runs=True, rolled_include="^big", time="5"
        )
        with open(path, "ab") as f:
            f.write(b"y")
        expect(
            finish()[0].outcome == "done" and "big.1" in self.there(12),
            "a log was deleted with lines that are nowhere",
        )
        self.forget_rolled()

    def oldest_removed(self):
        """files_max remote files of this node, the newest; another node's stay."""
        where = f"{self.logs.remote}/{os.path.dirname(PLACE)}"
        for name in ("node4_12_5", "node4_1_x", "node4_1_7.tmp"):
            with open(f"{where}/{name}", "wb"):
                pass
        os.system(f"chown -R {USER} {where}")
        for time in (9, 10, 11, 100):
            self.logs.put(13, "log.1", str(time).encode())
            expect(self.roll(13, time, files_max=3).outcome == "done")
        expect(
            self.rolled()
            == [
                "node4_12_5",
                "node4_1_10",
                "node4_1_100",
                "node4_1_11",
                "node4_1_7.tmp",
                "node4_1_x",
            ],
            str(self.rolled()),
        )
        self.forget_rolled()

    def rolled_and_killed(self):
        """Killed at any point: each log is in exactly one remote file, or still here."""
        rounds, wanted = int(os.environ.get("KILLS", 10)), {}
        for i in range(rounds):
            wanted.update({f"log{i}-{k}.1": os.urandom(200000 + i) for k in range(3)})
            for k in range(3):
                self.logs.put(14, f"log{i}-{k}.1", wanted[f"log{i}-{k}.1"])
            u = Uploader(
                self.logs,
                [14],
                app_runs=True,
                rolled_include=r"\.1$",
                time=str(i + 1),
                file="node4_1",
                files_max=1000,
            )
            final = f"{self.logs.remote}/{os.path.dirname(PLACE)}/node4_1_{i + 1}"
            marks = (
                (lambda: os.path.exists(final)),
                (lambda: len(self.there(14)) <= 2),
                (lambda: os.path.exists(f"{self.logs.disks[0]}/{APP}/.uploaded-logs")),
                (lambda: True),
            )
            wait_for(
                lambda mark=marks[i % 4]: u.process.poll() is not None or mark(),
                60,
                "the upload gets on",
                poll=0.0002,
            )
            u.process.kill()
            u.process.wait()
            self.check_complete(wanted)
        expect(
            self.roll(14, rounds + 1, rolled_include=r"\.1$", files_max=1000).outcome
            in ("done", "nothing")
        )
        self.check_complete(wanted)
        expect(self.there(14) == [], str(self.there(14)))
        self.forget_rolled()
