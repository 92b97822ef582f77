"""Findings of `selvedge doctor` on networks, ports and devices: what root does not allow, and what
the kernel does not do. Cases of test-doctor."""
import os
import subprocess

from lib import device_filters
from lib.doctor_answers import Doctor, expect, with_file
from lib.network_fixture import IN_VM, without_module

PRIVATE = {"selvedge.nodemanager.network": "private"}
GUARANTEES = {**PRIVATE, "yarn.nodemanager.resource.network.enabled": "true"}
STRICT = {
    **GUARANTEES,
    "yarn.nodemanager.linux-container-executor.cgroups.strict-resource-usage": "true",
}


def root_says(c, test, **keys):
    """With these keys in container-executor.cfg; - stands as __ and . as _."""

    def change(text):
        for key, value in keys.items():
            name = key.replace("__", "-").replace("_", ".")
            text = "".join(
                line for line in text.splitlines(True) if not line.startswith(name + "=")
            )
            text = (
                text.replace("\n[", f"\n{name}={value}\n[", 1)
                if "\n[" in text
                else text + f"{name}={value}\n"
            )
        return text

    with_file(f"{c.nodes[0].prefix}/etc/selvedge/container-executor.cfg", change, test)


def not_allowed_by_root(c):
    """What the NodeManager asks for with each launch and root does not allow."""

    def test():
        d = Doctor(c, None, site={"selvedge.nodemanager.sandbox.profile": "hadoop", **PRIVATE})
        for key, value, theirs in (
            ("selvedge.nodemanager.sandbox.profile", "hadoop", "selvedge.sandbox.profiles=strict"),
            ("selvedge.nodemanager.network", "private", "selvedge.sandbox.networks=host,none"),
        ):
            found = d.find(
                "bad",
                "helper",
                f"{key} is {value}, root allows {theirs}: every launch would be refused",
            )
            expect(
                "remedy", found["remedy"].startswith(f"add {value} to {theirs.split('=')[0]}"), True
            )
        expect("others", len(d.bad()), 2)
        expect("nothing is wrong", Doctor(c).bad(), [])

    root_says(c, test, selvedge_sandbox_profiles="strict", selvedge_sandbox_networks="host,none")


def kernel_has(module):
    """As the kernel itself says, in a network namespace that is thrown away."""
    made = subprocess.run(
        [
            "unshare",
            "-n",
            "sh",
            "-c",
            "ip link add svp type dummy 2>/dev/null || ip link add svp type bridge; "
            f"ip link add link svp svx type {module}",
        ],
        capture_output=True,
        text=True,
    )
    return "Unknown device type" not in made.stderr


def private_networks(c):
    """Root's settings and the NodeManager's are what each launch would be refused for."""
    net = {
        "selvedge_sandbox_networks": "private",
        "selvedge_network_mode": "bridge",
        "selvedge_network_link": "svdoc0",
        "selvedge_network_range": "10.77.0.0/24",
    }

    def expects(site, state, words):
        def test():
            d = Doctor(c, None, site=site)
            if state == "bad":
                found = d.only_bad("network", words)
                expect("a remedy", bool(found["remedy"]), True)
            else:
                expect("bad", d.bad(), [])
                d.find(state, "network", words)

        return test

    root_says(
        c, expects(PRIVATE, "bad", "selvedge.network.mode="), selvedge_sandbox_networks="private"
    )
    root_says(
        c,
        expects(PRIVATE, "bad", "selvedge.network.range=10.77.0.1/24"),
        **{**net, "selvedge_network_range": "10.77.0.1/24"},
    )
    root_says(
        c, expects(PRIVATE, "ok", "private: bridge svdoc0, 10.77.0.0/24 with 253 addresses"), **net
    )
    root_says(c, expects(PRIVATE, "ok", "the kernel has bridge"), **net)
    root_says(
        c,
        expects(GUARANTEES, "bad", "can be guaranteed only with a total, selvedge.network"),
        **net,
    )
    root_says(
        c,
        expects(
            STRICT, "ok", "20000 kbit/s outbound guaranteed to each of 50 containers, 20000 at most"
        ),
        **net,
    )
    all_of_it = {**net, "selvedge_network_outbound__mbit": 1000}
    root_says(
        c,
        expects(
            GUARANTEES,
            "ok",
            "20000 kbit/s outbound guaranteed to each of 50 containers, 1000000 at most",
        ),
        **all_of_it,
    )
    for part in ("veth", "sch_htb", "ifb", "sch_ingress", "cls_bpf", "act_mirred"):
        root_says(c, expects(GUARANTEES, "ok", part), **all_of_it)
    root_says(
        c,
        expects(
            {**GUARANTEES, "selvedge.nodemanager.network.shares": "40"},
            "weak",
            "of 500 Mbit/s 20 containers can be guaranteed 25000 kbit/s each; the "
            "NodeManager counts with 40",
        ),
        **{**net, "selvedge_network_outbound__mbit": 500},
    )
    root_says(
        c,
        expects(PRIVATE, "bad", "selvedge.network.link=lo: not a bridge"),
        **{**net, "selvedge_network_link": "lo"},
    )
    root_says(
        c,
        expects(PRIVATE, "bad", "selvedge.network.link=svdoc0: no such device"),
        **{**net, "selvedge_network_mode": "macvlan"},
    )
    if IN_VM:
        with without_module("ifb"):
            root_says(
                c, expects(GUARANTEES, "bad", "the kernel has no ifb (CONFIG_IFB)"), **all_of_it
            )
    missing = not kernel_has("ipvlan")
    root_says(
        c,
        expects(
            PRIVATE,
            "bad" if missing else "ok",
            "the kernel has no ipvlan" if missing else "the kernel has ipvlan",
        ),
        **{**net, "selvedge_network_mode": "ipvlan", "selvedge_network_link": "lo"},
    )


def no_device_filter(c):
    """The kernel takes no filter: whatever starts something is refused. The node says so, and goes
    on with the rest."""
    node = c.nodes[0]
    report_of = lambda: node.get("/ws/v1/node/info")["nodeInfo"]

    def started(healthy):
        node.start()
        c.wait(
            lambda: node.process.must_run() and answers(report_of) == healthy,
            120,
            f"a NodeManager, healthy: {healthy}",
        )

    node.site = {}
    c.start_rm()
    started(True)
    node.process.stop()
    device_filters.detach(node.cgroup)
    os.removexattr(node.cgroup, "trusted.selvedge.devices")
    try:
        expect(
            "filters of others", device_filters.attach(node.cgroup, times=device_filters.MOST), True
        )
        os.utime(f"{node.prefix}/etc/selvedge/container-executor.cfg")
        started(False)
        for what in (
            "filter cannot be attached",
            "BPF_PROG_ATTACH on " + node.cgroup,
            "CONFIG_CGROUP_BPF",
        ):
            expect(f"{what!r} in the report", what in report_of()["healthReport"], True)
        Doctor(c).only_bad("helper", "no filter can be attached: BPF_PROG_ATTACH on " + node.cgroup)
        node.process.stop()
    finally:
        device_filters.detach(node.cgroup)
    started(True)
    expect("bad", Doctor(c).bad(), [])
    node.process.stop()
    c.rm.stop()


def connections(c):
    """Ports of the ResourceManager that root's configuration does not refuse; the filter turned
    off."""
    path = f"{c.nodes[0].prefix}/etc/selvedge/container-executor.cfg"
    tracker, admin = c.ports["tracker"], c.ports["admin"]
    keys = {
        "tracker": "yarn.resourcemanager.resource-tracker.address",
        "admin": "yarn.resourcemanager.admin.address",
    }
    d = Doctor(c)
    d.find("ok", "connections", "port 8031,8033 of any machine")
    found = d.find("weak", "connections", f"{keys['tracker']}: port {tracker} can be reached")
    expect(
        "remedy", f"add {tracker} to selvedge.connect-filter.refused-ports" in found["remedy"], True
    )
    d.find("weak", "connections", f"{keys['admin']}: port {admin} can be reached")

    def told(site=None):
        return [
            f["text"].split(" can be")[0]
            for f in Doctor(c, site=site).findings
            if f["area"] == "connections" and f["state"] == "weak"
        ]

    def all_refused():
        expect("weak", told(), [])
        expect(
            "two ResourceManagers",
            told({keys["tracker"] + ".rm2": "other:18031", keys["admin"] + ".rm1": f"one:{admin}"}),
            [keys["tracker"] + ".rm2: port 18031"],
        )

    with_file(
        path,
        lambda text: text + f"selvedge.connect-filter.refused-ports=1,{tracker},{admin}\n",
        all_refused,
    )
    with_file(
        path,
        lambda text: text + f"selvedge.connect-filter.refused-ports={tracker // 10},{admin}\n",
        lambda: expect("a port that begins alike", told(), [f"{keys['tracker']}: port {tracker}"]),
    )
    with_file(
        path,
        lambda text: text + "selvedge.connect-filter.enabled=false\n",
        lambda: Doctor(c).find("weak", "connections", "the connect filter is off"),
    )


def answers(report_of):
    try:
        return report_of()["nodeHealthy"]
    except OSError:
        return None
