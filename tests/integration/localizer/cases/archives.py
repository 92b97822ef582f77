"""Archives, good and hostile ones: what is unpacked, and what is refused. Cases of
test-localizer."""
import os
import time

from lib import hostile_archives
from lib.localizer_cases import STAMP, expect, quote
from lib.localizer_process import (
    ARCHIVE,
    PATTERN,
    Localizer,
    become_user,
    left_over,
    tree,
    wrong_modes,
)


def wanted_tree(wanted):
    full = dict(wanted)
    for path in wanted:  # directories on the way
        path = os.fsencode(path)
        while os.path.dirname(path):
            path = os.path.dirname(path)
            full.setdefault(os.fsdecode(path), "dir")
    return full


def check_archive(report, place, loc, case):
    path = place.put(case.file, case.data)
    before = place.snapshot()
    name = os.path.basename(path)
    began = time.monotonic()
    request, rel = loc.fetch(
        quote(path),
        name,
        PATTERN if case.pattern else ARCHIVE,
        timestamp=STAMP,
        size=len(case.data),
        pattern=case.pattern or "",
        max_bytes=1 << 30,
    )
    answer = loc.answer(request)
    took = time.monotonic() - began
    wrong = []
    if took > 60:
        wrong.append(f"took {took:.0f} s")
    if place.snapshot() != before:
        wrong.append("something outside the cache has changed")
    if any(ord(c) < 32 or ord(c) == 127 for c in answer.text):
        wrong.append(f"control bytes in {answer.text!r}")
    left = left_over(place.public)
    if answer.done:
        if str(case.wanted).startswith("refuse"):
            wrong.append("was not refused")
        top = os.path.join(place.public, rel, name)
        found, bad = tree(top)
        wrong += bad + wrong_modes(os.path.join(place.public, rel), False)
        if isinstance(case.wanted, dict):
            wanted = wanted_tree({k if k != "job.jar" else name: v for k, v in case.wanted.items()})
            if found != wanted:
                wrong.append(f"found {sorted(map(str, found))}, wanted {sorted(map(str, wanted))}")
        if left != [rel]:
            wrong.append(f"also left {left}")
        remove_as_user(os.path.join(place.public, rel))
    else:
        if isinstance(case.wanted, dict):
            wrong.append(str(answer))
        if answer.reason not in ("archive", "limit", "url"):
            wrong.append(f"reason is {answer}")
        if left:
            wrong.append(f"left {left}")
    os.unlink(path)
    report.check(f"archive {case.name} ({took:.1f} s)", not wrong, "; ".join(wrong))


def remove_as_user(path):
    """An entry must be deletable by its owner alone, without changing modes first."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            become_user()
            for where, dirs, files in os.walk(path, topdown=False):
                for f in files:
                    os.unlink(os.path.join(where, f))
                for d in dirs:
                    p = os.path.join(where, d)
                    os.unlink(p) if os.path.islink(p) else os.rmdir(p)
            os.rmdir(path)
            status = 0
        finally:
            os._exit(status)
    expect(os.waitpid(pid, 0)[1] == 0, f"{path} cannot be deleted by its owner")


def archives(report, place):
    loc = Localizer(place)
    for case in hostile_archives.all_archives():
        try:
            check_archive(report, place, loc, case)
        except (AssertionError, EOFError, TimeoutError, OSError) as error:
            report.check(f"archive {case.name}", False, repr(error))
            loc = Localizer(place)
    report.check("localizer lives after all archives", loc.process.poll() is None)
    report.check("no control bytes in its log", "\x1b" not in loc.output(), loc.output()[:300])
    report.check("ends with the channel", loc.close() == 0)
