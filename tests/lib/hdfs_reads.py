"""Reads of container-localizer from scripted NameNodes and DataNodes, for the cases of
test-hdfs-peers."""
import os

from lib.localizer_process import PRIVATE, PROGRESS, Answer, Localizer
from lib.scripted_hdfs import NameNode

STAMP = 1700000000250
TIMEOUT_MS = 1000
DATA = bytes(i * 7 & 0xFF for i in range(10000))


class HdfsReads:
    def __init__(self, report, place):
        self.report, self.place = report, place

    def fetch(self, loc, namenode, path, size=len(DATA), **more):
        servers = more.pop("servers", f"127.0.0.1:{namenode.port}")
        return loc.fetch(
            f"hdfs://127.0.0.1:{namenode.port}{path}",
            os.path.basename(path),
            visibility=more.pop("visibility", PRIVATE),
            timestamp=STAMP,
            size=size,
            login="alice",
            servers=servers,
            io_timeout_ms=TIMEOUT_MS,
            **more,
        )

    def one(self, answers, path="/d/f", **more):
        """The answer to one request, and its place."""
        namenode, loc = NameNode(answers), Localizer(self.place)
        try:
            request, rel = self.fetch(loc, namenode, path, **more)
            reply = loc.answer(request)
            code = loc.close()
        finally:
            namenode.close()
        if code != 0:
            raise AssertionError(f"container-localizer ended with {code}")
        return reply, os.path.join(self.place.public, rel), namenode

    def all_refused(self, cases):
        """Requests of which each has a NameNode of its own, as many at once as a localizer takes
        from a NodeManager: [(name, answers, reason, words, {more fields})]."""
        loc, todo, waiting = Localizer(self.place), list(cases), {}
        while todo or waiting:
            while todo and len(waiting) < 16:
                case = todo.pop()
                namenode = NameNode(case[1])
                request, rel = self.fetch(loc, namenode, "/d/f", **case[4])
                waiting[request] = (case, namenode, os.path.join(self.place.public, rel))
            kind, request, body = loc.receive()
            if kind == PROGRESS:
                continue
            (name, _, reason, words, _), namenode, at = waiting.pop(request)
            namenode.close()
            reply, left = Answer(kind, request, body), [
                p for p in (at, at + "_tmp") if os.path.lexists(p)
            ]
            self.report.check(
                f"NameNode: {name}",
                not reply.done and reply.reason == reason and words in reply.text and not left,
                f"{reply} {left}",
            )
        self.report.check(
            "container-localizer survives all NameNodes", loc.close() == 0, loc.output()
        )
