"""What log-uploader has written, compared with what it was given: for test-log-uploader and its
cases."""
import hashlib
import os
import stat

from lib.uploader_process import PLACE, Logs, container, dump


def entry(number, name, data):
    return (
        container(number),
        name.encode() if isinstance(name, str) else name,
        len(data),
        hashlib.sha256(data).hexdigest(),
    )


def expect(condition, detail=""):
    if not condition:
        raise AssertionError(detail)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class UploadChecks:
    def __init__(self):
        self.logs = Logs()

    def same(self, wanted, answer, place=PLACE):
        expect(answer.outcome == "done", str(answer))
        found = dump(f"{self.logs.remote}/{place}")
        expect(found == wanted, f"{found} instead of {wanted}")
        expect(
            os.listdir(os.path.dirname(f"{self.logs.remote}/{place}")) == [os.path.basename(place)],
            "a .tmp file is left",
        )

    def check_complete(self, wanted):
        found = [
            e[1].decode()
            for name in self.rolled()
            if not name.endswith(".tmp")
            for e in self.rolled(name.rsplit("_", 1)[1])
        ]
        expect(len(found) == len(set(found)), f"twice: {sorted(found)}")
        missing = set(wanted) - set(found) - set(self.there(14))
        expect(not missing, f"lost: {missing}")
