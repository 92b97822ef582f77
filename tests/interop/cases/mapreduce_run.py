"""What the programs test-mapreduce* have in common: cases picked by the words of a command line, on
one HDFS and one network."""
import sys

from cluster import Report, private_namespace
from cluster.network import Network
from interop import hadoop
from interop.cases import mapreduce, mapreduce_tls
from interop.hdfs import Hdfs


def picked(rows, words):
    """Those of `rows`, (pairing, version, {case: function}), that words name: pairings, versions,
    parts of a case's name."""
    names, versions = {row[0] for row in rows} & set(words), {row[1] for row in rows} & set(words)
    parts, found = set(words) - names - versions, []
    for name, version, cases in rows:
        if name in (names or {name}) and version in (versions or {version}):
            found.append(
                (
                    name,
                    version,
                    {
                        case: cases[case]
                        for case in cases
                        if not parts or any(part in case for part in parts)
                    },
                )
            )
    return [row for row in found if row[2]]


def main(rows):
    private_namespace()
    report, rows = Report(), picked(rows, sys.argv[1:])
    if not rows:
        sys.exit(f"{sys.argv[0]}: no case has such a name")
    try:
        for version in {hadoop.REFERENCE, *(row[1] for row in rows)}:
            hadoop.classes(version)  # before the machine's network is out of reach
        network = Network(3)
        with Hdfs(hadoop.REFERENCE, network=network) as h:
            for name, version, cases in rows:
                if name == mapreduce_tls.NAME:  # its certificate is one of loopback
                    mapreduce.pairing(report, h, name, cases, own=mapreduce_tls)
                else:
                    mapreduce.pairing(
                        report, h, name, cases, version, client=version, network=network
                    )
    except hadoop.Unavailable as reason:
        report.skip("MapReduce", str(reason))
    report.finish()
