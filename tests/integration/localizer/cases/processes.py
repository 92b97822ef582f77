"""The localizer's processes: requests over its channel, cancel, crashes. Cases of
test-localizer."""
import os
import signal
import threading
import time

from cases.archives import remove_as_user
from lib.localizer_cases import STAMP, expect, quote
from lib.localizer_process import PROGRAM, PROGRESS, Localizer, become_user, left_over


class Process:
    def __init__(self, place):
        self.place = place

    def parallel(self):
        loc = Localizer(self.place)
        sent = {}
        for i in range(16):
            path = self.place.put(f"p{i}", os.urandom(1 << 20))
            request, rel = loc.fetch(quote(path), "f", timestamp=STAMP, size=1 << 20)
            sent[request] = rel
        while sent:
            kind, request, _ = loc.receive()
            if kind != PROGRESS:
                expect(
                    kind == 17
                    and os.path.exists(os.path.join(self.place.public, sent.pop(request), "f")),
                    kind,
                )
        expect(loc.close() == 0, "ends")

    def refuses_garbage(self):
        for data in (b"x", b"\x53LOC" + bytes(20), os.urandom(8000), bytes(9000)):
            loc = Localizer(self.place)
            loc.send(data)
            expect(loc.receive() is None, "must close")
            expect(loc.close() == 1, "must say that it failed")

    def refuses_bad_fields(self):
        for change in (
            {"rel": "../x"},
            {"rel": "0//1"},
            {"rel": "/1"},
            {"rel": "A"},
            {"name": "a/b"},
            {"name": ".."},
            {"directory": 32},
            {"visibility": 4},
            {"kind": 0},
            {"size": -2},
            {"max_bytes": 0},
        ):
            loc = Localizer(self.place)
            loc.fetch(**{"url": "file:///etc/passwd", "name": "x", **change})
            expect(loc.receive() is None, f"must close for {change}")
            loc.close()

    def no_directory(self):
        loc = Localizer(self.place, dirs=False)
        request, _ = loc.fetch("file:///etc/passwd", "x")
        answer = loc.answer(request)
        expect(answer.reason == "internal" and "not given" in answer.text, str(answer))
        loc.close()

    def root_is_refused(self):
        if os.getuid() != 0:
            raise AssertionError("needs root")
        import subprocess

        p = subprocess.run([PROGRAM], stderr=subprocess.PIPE, check=False, timeout=60)
        expect(p.returncode == 1 and b"must not run as root" in p.stderr, p.stderr)

    def without_channel(self):
        import subprocess

        p = subprocess.run(
            [PROGRAM], preexec_fn=become_user, stderr=subprocess.PIPE, check=False, timeout=60
        )
        expect(p.returncode == 1 and b"is not the NodeManager's channel" in p.stderr, p.stderr)

    def workers(self, loc):
        with open(
            f"/proc/{loc.process.pid}/task/{loc.process.pid}/children", encoding="ascii"
        ) as f:
            return [int(p) for p in f.read().split()]

    def hanging(self, server):
        loc = Localizer(self.place)
        request, rel = loc.fetch(server + "/hang", "hang", deadline_ms=60000)
        wait_for(
            lambda: self.workers(loc)
            and os.path.isdir(os.path.join(self.place.public, rel + "_tmp"))
        )
        return loc, request, rel

    def cancel(self, server):
        loc, request, rel = self.hanging(server)
        loc.cancel(request)
        answer = loc.answer(request)
        expect(answer.reason == "cancelled" and not left_over(self.place.public), str(answer))
        expect(loc.close() == 0, "ends")

    def worker_killed(self, server):
        loc, request, rel = self.hanging(server)
        os.kill(self.workers(loc)[0], signal.SIGKILL)
        answer = loc.answer(request)
        expect(answer.reason == "internal" and "signal 9" in answer.text, str(answer))
        expect(not left_over(self.place.public), "left")
        path = self.place.put("next", b"x")
        request, _ = loc.fetch(quote(path), "x", timestamp=STAMP, size=1)
        expect(loc.answer(request).done, "the next one works")
        loc.close()

    def channel_closes(self, server):
        loc, _, rel = self.hanging(server)
        worker = self.workers(loc)[0]
        expect(loc.close() == 0 and rel + "_tmp" not in left_over(self.place.public), "cleans up")
        wait_for(lambda: not os.path.exists(f"/proc/{worker}"))

    def main_killed(self, server):
        loc, _, rel = self.hanging(server)
        worker = self.workers(loc)[0]
        loc.process.kill()
        loc.process.wait()
        wait_for(lambda: not os.path.exists(f"/proc/{worker}"))
        remove_as_user(os.path.join(self.place.public, rel + "_tmp"))

    def progress(self, server):
        loc, request, _ = self.hanging(server)
        kinds = [loc.receive()[0] for _ in range(3)]
        expect(kinds == [PROGRESS] * 3, kinds)
        loc.cancel(request)
        loc.answer(request)
        loc.close()

    def not_debuggable(self, server):
        loc, request, _ = self.hanging(server)
        for pid in self.workers(loc) + [loc.process.pid]:
            expect(os.stat(f"/proc/{pid}/mem").st_uid == 0, "dumpable")
        loc.cancel(request)
        loc.answer(request)
        loc.close()


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, "condition did not come true in time")
        threading.Event().wait(0.01)
