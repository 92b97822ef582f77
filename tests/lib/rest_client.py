"""A REST client of selvedge-rm, for test-rm-rest and its cases."""
import json
import os

from lib.rm_process import tell

BASE = "/ws/v1/cluster"
GOLDEN = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../golden/commands/apache-3.4.2.json"
)
JSON = {"Content-Type": "application/json"}


def ask(rm, path, method="GET", body=None, headers=None):
    """Status and the JSON answer, or its text."""
    status, _, text = rm.request(BASE + path, method, body, headers)
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


def same(got, wanted, what):
    tell(got == wanted, f"{what}: {str(got)[:300]}")


def refused(rm, path, method, body, status, words):
    got = rm.request(BASE + path, method, body)
    tell(
        got[0] == status and words in got[2],
        f"{method} {path} {str(body)[:60]}: {got[0]} {got[2][:200]}",
    )
