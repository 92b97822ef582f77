"""Aggregated logs of our node on the pages of others: the ResourceManager's links lead to the node,
and from there, since the node has the logs no more, to Hadoop's JobHistoryServer, which shows them.
For test-hdfs."""
import html
import re
import urllib.request

from interop.cases import mapreduce


def expect(condition, detail=""):
    if not condition:
        raise AssertionError(detail)


def prepare(c, h):
    """Before the nodes start."""
    mapreduce.prepare(c, h)
    for node in c.nodes:
        node.site[
            "yarn.log.server.url"
        ] = f"http://{c.address}:{c.history_web_port}/jobhistory/logs"


def page(address):
    """Where a browser arrives, and what it shows."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.url, html.unescape(answer.read().decode(errors="replace"))


def shown(c, application, printed):
    """`printed`: the application's containers whose stdout says so."""
    c.wait(
        lambda: not application.outputs("stdout") and not application.outputs("AppMaster.stderr"),
        60,
        "the nodes delete the logs",
    )
    _, of_rm = page(f"{c.rm_url}/cluster/app/{application.id}")
    link = application.attempts()[0]["logsLink"]
    expect(
        re.search(r"/node/containerlogs/(container_\w+)/", link).group(0) in of_rm, of_rm[-3000:]
    )
    at, text = page(f"{link}/AppMaster.stderr?start=0")
    expect(
        at.startswith(f"http://{c.address}:{c.history_web_port}/jobhistory/logs/")
        and "ApplicationMaster" in text,
        f"{at}: {text[-3000:]}",
    )
    for container in printed:
        found = [
            page(f"{node.url}/node/containerlogs/{container}/{c.submitter.pw_name}/stdout?start=0")[
                1
            ]
            for node in c.nodes
        ]
        expect(any(f"printed by {container}" in text for text in found), f"{container}: {found}")
