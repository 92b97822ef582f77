"""An ApplicationMaster that counts the cluster's nodes, as Spark's does, over a restart of
selvedge-rm: until the nodes are back it is told of those that there were. Spark before SPARK-29683
ends a job that is told of none (java/reference/NodeCount.java)."""
import contextlib
import os
import threading

from cluster import ClusterError
from interop import peers


class Counts:
    """What the master has been told, in order."""

    def __init__(self, c):
        self.c, self.end = c, f"{c.root}/tmp/counted"
        self.process = peers.start_client(c, "NodeCount", self.end)
        self.told, self.lines = [], []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("count\t"):
                self.told.append(int(line.split("\t")[1]))

    def more(self, count, seconds, what):
        """Waits for that many further answers."""
        wanted = len(self.told) + count
        try:
            self.c.wait(lambda: len(self.told) >= wanted, seconds, what)
        except ClusterError as error:
            raise ClusterError(f"{error}: {''.join(self.lines[-20:])}") from None

    def stop(self):
        with open(self.end, "w", encoding="ascii"):
            pass
        self.process.wait(60)
        self.reader.join()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.end)


def restart(c):
    """The node comes back after the master has asked several times."""
    (node,) = c.nodes
    counts = Counts(c)
    try:
        counts.more(3, 60, "the master is told")
        node.process.kill()
        c.rm.kill()
        peers.start_rm(c)
        counts.more(5, 60, "the master is told by the new ResourceManager")
        away = len(counts.told)
        peers.start_node(c, node)
        peers.wait_nodes(c)
        counts.more(3, 60, "the master is told of the node that is back")
        counts.stop()
    finally:
        counts.close()
    if set(counts.told) != {1} or counts.process.returncode != 0:
        raise ClusterError(
            f"{counts.told}, {away} of them before the node was back; "
            f"{counts.process.returncode}: {''.join(counts.lines[-20:])}"
        )


def run(report, c):
    report.case(f"{c.pairing}: a master that counts nodes over a restart", restart, c)
