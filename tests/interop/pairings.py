"""Test programs of one pairing of ResourceManager and NodeManager. The groups of cases
(tests/interop/cases) of a pairing share one running cluster, because the start of Apache's daemons
takes longer than most cases; cases that kill a daemon have programs with clusters of their own.

    pairings.main(Pairing("apache-3.4.2", "selvedge", full=[shell, kills], brief=[shell]))

A group is a module of tests/interop/cases: run(report, c) runs its cases in the cluster `c`, which
has not been used before the first group. Its SITE are keys of yarn-site.xml, its prepare(c) runs
before the daemons start."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import ClusterError, HostError, Report, private_namespace  # noqa: E402
from interop import hadoop, peers  # noqa: E402

APACHE = f"apache-{hadoop.REFERENCE}"


def name_of(group):
    return group.__name__.rsplit(".", 1)[1]


class Pairing:
    """`full`, `brief`: groups for make check-full and for make check. `site`: keys for
    yarn-site.xml; `variant`: words for the name of a pairing with such keys. `nm`, `client`: as
    peers.cluster()'s.
    """

    def __init__(self, rm, nm, full, brief=(), site=None, variant="", client=None):
        self.rm, self.nm, self.site, self.client = rm, nm, site or {}, client
        self.name = "+".join([rm, *([nm] if isinstance(nm, str) else nm)]) + (
            variant and " " + variant
        )
        self.groups = brief if hadoop.BRIEF else full
        for group in self.groups:
            self.site = {**getattr(group, "SITE", {}), **self.site}

    def run(self, report, picked):
        groups = [g for g in self.groups if not picked or name_of(g) in picked]
        if not groups:
            return
        print(f"{self.name}:", flush=True)

        def prepare(c):
            for group in groups:
                getattr(group, "prepare", lambda _: None)(c)

        try:
            with peers.cluster(
                "pairing", self.rm, self.nm, client=self.client, site=self.site, prepare=prepare
            ) as c:
                c.pairing = self.name
                for group in groups:
                    try:
                        group.run(report, c)
                    except Exception as error:  # noqa: BLE001 - the other groups still run
                        report.check(
                            f"{self.name}: {name_of(group)}",
                            False,
                            f"{type(error).__name__}: {error}",
                        )
                c.close()
        except hadoop.Unavailable as reason:
            report.skip(self.name, str(reason))
        except (ClusterError, HostError) as error:
            report.check(self.name, False, str(error))
        else:
            report.check(f"{self.name}: nothing is left behind", True)


def main(*pairings):
    """Runs the pairings one after the other. Command line: names of groups, and of pairings such as
    apache-3.3.6+selvedge; all without."""
    private_namespace()
    report = Report()
    names = {p.name for p in pairings} & set(sys.argv[1:])
    groups = {name_of(g) for p in pairings for g in p.groups} & set(sys.argv[1:])
    unknown = set(sys.argv[1:]) - names - groups
    if unknown:
        sys.exit(f"{sys.argv[0]}: no group or pairing {' '.join(sorted(unknown))}")
    for pairing in pairings:
        if not names or pairing.name in names:
            pairing.run(report, groups)
    report.finish()
