#!/usr/bin/python3
"""`job.py COUNT PROGRAM [ARGUMENT]...` runs a program in containers, waits, and prints what they
wrote. It submits itself: in its own container it is the ApplicationMaster."""
import os
import sys

import selvedge


class Job(selvedge.Master):
    """Starts `count` containers, and succeeds if all end with 0."""

    def __init__(self, loop, count, argv):
        super().__init__(loop)
        self.count, self.argv, self.ended, self.failed = count, argv, 0, 0
        self.nodes = {}  # of the containers that were started

    def registered(self, memory_mb, vcores):
        self.request(self.count, memory_mb=min(128, memory_mb))

    def allocated(self, container):
        if len(self.nodes) == self.count:
            self.release(container.id)  # more than were asked for
            return
        self.nodes[container.id] = container.http_address
        self.start(container.id, selvedge.Launch(argv=self.argv, tokens=self.tokens))

    def started(self, container, status, why):
        if status < 0:
            self.completed(container, status, why)

    def completed(self, container, exit_status, diagnostics):
        self.ended += 1
        self.failed += exit_status != 0
        if self.ended == self.count:  # tells the client where their logs are
            self.finish(not self.failed, " ".join(f"{c}@{n}" for c, n in self.nodes.items()))


def submit(count, argv):
    here = os.path.dirname(os.path.abspath(__file__))
    files = [
        selvedge.File(name, f"file://{here}/{name}")
        for name in ("job.py", "selvedge.py", "libselvedge-client.so.1")
        if os.path.exists(f"{here}/{name}")  # or the node has them installed
    ]
    rm = selvedge.ResourceManager(selvedge.Loop())
    master = selvedge.Launch(
        argv=["/usr/bin/python3", "job.py", "master", count, *argv],
        files=files,
        env={"LD_LIBRARY_PATH": ".", "PYTHONPATH": "."},  # files of a container are links
        tokens=rm.tokens(),  # with Kerberos; its nodes write logs with them
    )
    app = rm.submit(master, name="job.py", memory_mb=256, tags=["example"])
    print(f"submitted {app}", flush=True)
    report = rm.wait(app)
    for container, _, node in (text.partition("@") for text in report.diagnostics.split()):
        print(f"{container}: {rm.log(container, http_address=node).decode()}")
    print(report.final)
    return 0 if report.final == "SUCCEEDED" else 1


if __name__ == "__main__":
    if sys.argv[1] == "master":
        job = Job(selvedge.Loop(), int(sys.argv[2]), sys.argv[3:])
        job.register()
        job.run()
    else:
        sys.exit(submit(sys.argv[1], sys.argv[2:]))
