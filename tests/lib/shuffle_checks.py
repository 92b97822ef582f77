"""Two jobs with map outputs, and the report: what the cases of test-shuffle share."""

from lib.report import Report
from lib.shuffle_process import ALICE, BOB, Job

T = Report()
ONE = Job(1, "alice", ALICE, b"the first job's secret")
TWO = Job(2, "bob", BOB, b"the second job's secret")
BIG = bytes(i * 31 & 0xFF for i in range(3 << 20))


def refused(name, answer, status, text=None):
    T.check(
        name,
        answer is not None
        and answer.status == status
        and (text is None or text in answer.body.decode()),
        answer,
    )
