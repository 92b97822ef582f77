"""For bench-krb: what a handshake with one call costs the server, ours with selvedge-gss
(tests/interop/kerberos-server.c) and Apache's ResourceManager, in turns. Our client at both, one
connection at a time; the processor time of the server and of its helper counts."""
import os
import statistics

from interop import hadoop

TICK = os.sysconf("SC_CLK_TCK")
PEER = f"Apache Hadoop {hadoop.REFERENCE}, ResourceManager"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def cpu(pid):
    """Seconds, its helper's too."""
    total = 0
    for one in (pid, *children(pid)):
        with open(f"/proc/{one}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / TICK
    return total


def one(load, pid, connections):
    before = cpu(pid)
    rate = load("connections", connections)["rate"]
    return {"ms": 1000 / rate, "cpu": connections / max(cpu(pid) - before, 1 / TICK)}


def measure(sides, rounds, warm, connections):
    """Rows of the report. `sides`: {"ours": (client, the server's pid), "peer": the same}."""
    for load, _ in sides.values():
        load("connections", warm)
    found = [
        {who: one(load, pid, connections) for who, (load, pid) in sides.items()}
        for _ in range(rounds)
    ]

    def row(name, unit, key, wanted):
        ours, peer = (statistics.median(r[who][key] for r in found) for who in ("ours", "peer"))
        return {
            "name": name,
            "unit": unit,
            "ours": round(ours, 3),
            "peer": round(peer, 3),
            "peer_name": PEER,
            "ratio": round(statistics.median(r["ours"][key] / r["peer"][key] for r in found), 4),
            "wanted": wanted,
        }

    return [
        row("server_handshakes_per_cpu_second", "1/s", "cpu", ">=5"),
        row("handshake_at_the_server", "ms", "ms", "<=1"),
    ]
