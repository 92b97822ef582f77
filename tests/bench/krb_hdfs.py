"""For bench-krb: bytes a CPU-second of a client that reads and writes files of a secure HDFS,
Apache's, with privacy on each connection: ours (hdfs-load.c) and Hadoop's (java/HdfsLoad.java), in
turns, with the cipher of the SASL mechanism (3DES) and with AES. Medians of ROUNDS=3, a file of
MIB=32. SMOKE=1: one round of 4 MiB, for a JVM that has not compiled yet."""
import json
import os
import statistics
import subprocess

from cluster import ClusterError
from interop import hadoop, hdfs

HERE = os.path.dirname(os.path.abspath(__file__))
SMOKE = os.environ.get("SMOKE") == "1"
ROUNDS = int(os.environ.get("ROUNDS", "1" if SMOKE else "3"))
MIB = int(os.environ.get("MIB", "4" if SMOKE else "32"))
PEER = f"Apache Hadoop {hadoop.REFERENCE}, HDFS client"
CIPHERS = {"3des": {}, "aes": hdfs.AES}


class Load:
    """A client that takes commands; MB a CPU-second."""

    def __init__(self, argv):
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, what):
        self.process.stdin.write(f"{what} 1\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise ClusterError(f"{self.process.args[0]} has ended")
        r = json.loads(line)
        return r["bytes"] / max(r["cpu"], 0.001) / 1e6

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def compile_java():
    lib, out = hadoop.jars(hadoop.REFERENCE), f"{hadoop.BUILD}/bench/classes"
    os.makedirs(out, exist_ok=True)
    subprocess.run(
        ["javac", "-nowarn", "-proc:none", "-d", out, "-cp", f"{lib}/*"]
        + [f"{HERE}/java/HdfsLoad.java"],
        check=True,
    )
    return out


def loads(h, where, kdc, credentials, local):
    """Our client and Hadoop's, with the configuration in a directory."""
    url = h.url("/bench/file")
    ours = [f"{hadoop.BUILD}/tests/bench/hdfs-load", where, credentials, url, local]
    options = ["-Xmx512m", "-XX:-UsePerfData", f"-Djava.security.krb5.conf={kdc.conf}"]
    java = hadoop.java(
        hadoop.REFERENCE,
        "HdfsLoad",
        credentials,
        url,
        conf=f"{where}:{compile_java()}",
        options=options,
    )
    return Load(ours), Load(java)


def in_turns(h, name, more, kdc, credentials, local, protection):
    """[{"read": (ours, peer), "write": …}] of the rounds; the JVM has compiled by then."""
    where = f"{h.root}/client-{name}"
    size = {"dfs.blocksize": MIB << 20, "dfs.replication": 1}
    hdfs.write_client(where, {**hdfs.secure_client(protection, protection), **more, **size})
    ours, peer = loads(h, where, kdc, credentials, local)
    with ours, peer:
        for what in ("read", "write", "read", "write"):
            peer(what)
        return [
            {what: (ours(what), peer(what)) for what in ("read", "write")} for _ in range(ROUNDS)
        ]


def measure(kdc, protection):
    """Rows of the report."""
    rows, data = [], os.urandom(MIB << 20)
    site = {**hdfs.secure_site(kdc), "dfs.blocksize": MIB << 20, "dfs.replication": 1}
    options = ("-Xmx512m", f"-Djava.security.krb5.conf={kdc.conf}")
    with hdfs.Hdfs(hadoop.REFERENCE, site=site, datanodes=1, java_options=options) as h:
        credentials, local = f"{h.root}/alice.token", f"{h.root}/local"
        h.ask("token", "alice", credentials)
        h.ask("mkdir", "/bench", "777")
        h.put("/bench/file", data, block=MIB << 20, replicas=1)
        with open(local, "wb") as f:
            f.write(data)
        for name, more in CIPHERS.items():
            rounds = in_turns(h, name, more, kdc, credentials, local, protection)
            for what in ("read", "write"):
                ours, peer = (statistics.median(r[what][i] for r in rounds) for i in (0, 1))
                rows.append(
                    {
                        "name": f"hdfs_{what}_per_cpu_second_{name}",
                        "unit": "MB/s",
                        "ours": round(ours, 3),
                        "peer": round(peer, 3),
                        "peer_name": PEER,
                        "ratio": round(
                            statistics.median(r[what][0] / r[what][1] for r in rounds), 4
                        ),
                        "wanted": ">=3",
                    }
                )
    return rows
