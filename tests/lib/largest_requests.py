"""What the programs test-largest-requests of both daemons share: the loop's guard as a judge of
requests, and the names that a request's query may have."""
import glob
import http.client
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import host  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_MS = 20  # of processor time in one handler
TIMES = 5  # that requests above MOST_MS are sent
FULL = os.environ.get("SELVEDGE_CHECK") == "full"
JUDGED = not {"ASAN_OPTIONS", "SANITIZE"} & set(os.environ)  # times are those of the product
QUERY = 28000  # bytes: what MHD's buffer of a request takes
GUARD = {"SELVEDGE_LOOP_CPU_MS": "1"}  # the daemon's environment
HANDLER = re.compile(r"event loop: (\S+ .+) computed for (\d+) us, longest in (\S+ .+)")


def query_names(folder):
    """Names that a folder's sources, and what all pages share, look up in a request's query."""
    found = set()
    for path in glob.glob(f"{TOP}/common/web/*.c"):
        with open(path, encoding="utf-8") as file:
            found.update(re.findall(r'sv_http_query\(req, "([^"]+)"', file.read()))
    for path in glob.glob(f"{TOP}/{folder}/**/*.c", recursive=True):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if "sv_http_query(" in text:
            found.update(re.findall(r'"([a-z][A-Za-z.]{2,})"', text))
    return sorted(found)


def long_values():
    """Values of a query: many different members; in the whole check also empty ones, and one."""
    found = [",".join(f"t{i}" for i in range(QUERY // 6))]
    return found + ["," * QUERY, "x" * QUERY] if FULL else found


def links(text):
    """Paths that a page leads to."""
    return [link.replace("&amp;", "&") for link in re.findall(r'href="(/[^"]*)"', text)]


def ask(address, method, path, body=None, kind=None):
    """Status and text; 0 where the server has closed the connection. A stream of events has no
    end: only its begin is read."""
    connection = http.client.HTTPConnection(*address, timeout=host.PATIENCE)
    try:
        connection.request(method, path, body, {"Content-Type": kind} if kind else {})
        answer = connection.getresponse()
        if answer.getheader("Content-Type", "").startswith("text/event-stream"):
            return answer.status, answer.read1().decode(errors="replace")
        return answer.status, answer.read().decode(errors="replace")
    except (BrokenPipeError, ConnectionResetError):
        return 0, ""
    finally:
        connection.close()


class Guard:
    """What the loop's guard of a daemon says in its log after each group of requests. `tell`: takes
    a condition and its words."""

    def __init__(self, log, tell):
        self.log, self.tell = log, tell
        self.read = 0
        self.longest = {}  # of a handler and its part: milliseconds, during which group

    def look(self, group):
        """What it has said since the last look: the longest handler, its milliseconds."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            file.seek(self.read)
            text = file.read()
            self.read = file.tell()
        most = 0, ""
        for handler, us, part in HANDLER.findall(text):
            ms = int(us) / 1000
            key = f"{handler}, {part}"
            if ms > self.longest.get(key, (0,))[0]:
                self.longest[key] = ms, group
            most = max(most, (ms, key))
        return most

    def judge(self, group, send, times=TIMES):
        """Sends requests; none may keep the loop. Work for others of the processor's caches adds to
        a time, so the shortest one of `times` counts."""
        for _ in range(times):
            send()
            ms, where = self.look(group)
            if ms <= MOST_MS or not JUDGED:
                break
        else:
            self.tell(False, f"{group}: no handler above {MOST_MS} ms: {ms} {where}")

    def table(self):
        for key, (ms, group) in sorted(self.longest.items(), key=lambda item: -item[1][0])[:20]:
            print(f"  {ms:8.1f} ms  {key}, during {group}")

    def pages(self, address, first, most=60):
        """Each page that another one leads to, once of its kind; returns how many."""
        waiting, seen = list(first), set()
        while waiting:
            path = waiting.pop(0)
            kind = re.sub(r"\d[\d_]*", "0", path.split("?")[0])
            if kind in seen or len(seen) > most or kind.startswith("/proxy"):
                continue
            seen.add(kind)
            self.judge(kind, lambda p=path: ask(address, "GET", p))
            waiting += links(ask(address, "GET", path)[1])
        return len(seen)
