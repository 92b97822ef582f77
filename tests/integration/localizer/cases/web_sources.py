"""Files of web servers, of S3 and of WebHDFS. Cases of test-localizer."""
import os
import socket

from lib.localizer_cases import STAMP, expect
from lib.localizer_process import ARCHIVE, PUBLIC, Localizer, tree, wrong_modes
from lib.scripted_web import BROKEN, S3_SECRET, STAMP_HTTP, Server


class Http:
    def __init__(self, place, server):
        self.place, self.server = place, server

    def get(self, path, **more):
        loc = Localizer(self.place)
        url = path if "://" in path else self.server + path
        request, rel = loc.fetch(url, more.pop("name", "f"), **more)
        answer = loc.answer(request)
        expect(loc.close() == 0, "localizer must end with its channel")
        return answer, os.path.join(self.place.public, rel)

    def refused(self, reason, path, words="", **more):
        answer, at = self.get(path, **more)
        expect(not answer.done and answer.reason == reason and words in answer.text, str(answer))
        expect(not os.path.lexists(at) and not os.path.lexists(at + "_tmp"), f"{at} was left")

    def fetched(self, path, content=b"hello", **more):
        answer, at = self.get(path, **more)
        expect(answer.done, str(answer))
        with open(os.path.join(at, "f"), "rb") as f:
            expect(f.read() == content, "content")
        expect(not wrong_modes(at, more.get("visibility") == PUBLIC), "modes")

    def good(self):
        self.fetched("/good", timestamp=STAMP, size=5)
        self.fetched("/good?query=1", timestamp=STAMP - 250, size=5, visibility=PUBLIC)
        self.fetched("/no-time", size=5)  # Hadoop's clients send time 0 for http
        self.fetched("/chunked", size=5)

    def archive(self):
        answer, at = self.get("/t.tgz", name="t.tgz", kind=ARCHIVE, timestamp=STAMP)
        expect(
            answer.done and tree(os.path.join(at, "t.tgz"))[0] == {"a": "dir", "a/b": b"1"},
            str(answer),
        )
        expect(os.listdir(at) == ["t.tgz"], "the download itself is not kept")

    def changed(self):
        self.refused("changed", "/good", timestamp=STAMP + 1000, words='was: "2023-11-14T22:13:20')
        self.refused("changed", "/no-time", timestamp=STAMP, words="no Last-Modified")
        self.refused("changed", "/good", size=4)
        self.refused("changed", "/good", size=6)

    def lengths(self):
        self.refused("source", "/short", size=50)
        self.fetched("/long", size=5)
        self.refused("limit", "/endless", max_bytes=1 << 20)
        self.refused("changed", "/endless", size=100000)
        self.fetched("/gzip", b"\x1f\x8b not unpacked")

    def resumed(self):
        """One resume after a broken connection, by Range where the server says that the content is
        the same."""
        seen, half = Server.requests, f"bytes={len(BROKEN) // 2}-"
        for kind, condition in (("time", STAMP_HTTP), ("etag", '"one"'), ("weak", STAMP_HTTP)):
            path = f"/broken/{kind}"
            self.fetched(path, BROKEN, size=len(BROKEN))
            expect(seen[path] == [(None, None), (half, condition)], seen[path])
        path = "/broken/none"  # nothing to tell whether it is the same: from the start
        self.fetched(path, BROKEN, size=len(BROKEN))
        expect(seen[path] == [(None, None), (None, None)], seen[path])
        self.fetched("/broken/ignored", BROKEN, size=len(BROKEN))
        for kind in ("other", "shifted", "refused"):
            path = f"/broken/{kind}"
            self.fetched(path, BROKEN, size=len(BROKEN))
            expect(len(seen[path]) == 3 and seen[path][2][0] is None, f"{kind}: {seen[path]}")
        base = self.server.replace("http:", "webhdfs:")
        self.fetched(base + "/once", BROKEN, timestamp=STAMP, size=len(BROKEN))
        opened = [seen[key] for key in seen if "/once?op=OPEN" in key]
        expect(opened == [[(None, None), (None, None)]], opened)
        self.refused("source", "/broken/twice", size=len(BROKEN))
        expect(len(seen["/broken/twice"]) == 2, seen["/broken/twice"])

    def directory(self):
        """Of WebHDFS; listed in parts."""
        base = self.server.replace("http:", "webhdfs:")
        answer, at = self.get(base + "/dir", timestamp=STAMP, size=0, visibility=PUBLIC)
        expect(answer.done and answer.size == 5 and answer.entries == 5, str(answer))
        expect(
            tree(os.path.join(at, "f"))[0] == {"a": b"aa", "sub": "dir", "sub/c": b"ccc", "z": b""},
            tree(at),
        )
        self.refused("source", base + "/endless", timestamp=STAMP, words="listing is malformed")
        self.refused("not-public", base + "/closed", timestamp=STAMP, visibility=PUBLIC)
        self.refused(
            "source",
            base + "/zone",
            timestamp=STAMP,
            words='"a" in it: it is in an encryption zone',
        )

    def s3(self):
        """Signed with the keys of the request, or not at all; never sent elsewhere."""
        seen = Server.requests.setdefault("s3", [])

        def get(key, *wanted, **more):
            del seen[:]
            values = {
                "servers": self.server,
                "region": "eu-west-1",
                "options": 2,
                "timestamp": STAMP,
                "size": 6,
                "access_key": "AKIA",
                "secret_key": S3_SECRET.decode(),
                **more,
            }
            answer, at = self.get(f"s3a://bucket/{key}", **values)
            expect(seen == list(wanted), f"{key}: {seen} {answer}")
            return answer, at

        answer, at = get(
            "a/b%20%2B%C3%A9~",
            ("/bucket/a/b%20%2B%C3%A9~", "127.0.0.1", "AKIA eu-west-1 s3 good None"),
        )
        expect(answer.done and tree(at)[0] == {"f": b"object"}, str(answer))
        answer, _ = get(
            "t",
            ("/bucket/t", "127.0.0.1", "AKIA eu-west-1 s3 good session"),
            session_token="session",
        )
        expect(answer.done, str(answer))
        answer, _ = get(
            "t",
            ("/bucket/t", "127.0.0.1", "nothing"),
            access_key="",
            secret_key="",
            visibility=PUBLIC,
        )
        expect(answer.done, str(answer))
        answer, _ = get(
            "t",
            ("/t", "bucket.localhost", "AKIA eu-west-1 s3 good None"),
            options=0,
            servers=self.server.replace("127.0.0.1", "localhost"),
        )
        expect(answer.done, str(answer))
        for key, reason, words, more in (
            ("denied", "source", "access denied; the keys were those of the job's credentials", {}),
            ("denied", "source", "the cluster's (fs.s3a.access.key)", {"visibility": PUBLIC}),
            ("elsewhere", "source", "the bucket is at another endpoint; set fs.s3a.endpoint", {}),
            ("t", "changed", "changed on src", {"timestamp": STAMP + 1000}),
            ("t", "changed", "5 bytes", {"size": 5}),
            ("t", "limit", "larger than the limit", {"size": -1, "max_bytes": 5}),
        ):
            answer, at = get(
                key, (f"/bucket/{key}", "127.0.0.1", "AKIA eu-west-1 s3 good None"), **more
            )
            expect(
                not answer.done and answer.reason == reason and words in answer.text, str(answer)
            )
            expect(
                S3_SECRET.decode() not in answer.text and not os.path.lexists(at + "_tmp"),
                str(answer),
            )
        answer, _ = get("t", servers="nowhere")
        expect(answer.reason == "url", str(answer))

    def deadlines(self):
        self.refused("limit", "/drip", deadline_ms=1500)
        self.refused("limit", "/hang", deadline_ms=1000)

    def redirects(self):
        self.fetched("/hops/4", size=5)
        self.fetched("/relative", size=5)
        self.refused("url", "/hops/5", words="more than 5 redirects")
        for where in ("file", "https", "user", "gopher", "nowhere"):
            self.refused("url", "/to/" + where)
        self.refused("source", "/to/metadata")

    def errors(self):
        self.refused("source", "/nothing", words="404")
        self.refused("source", "/error", words="500")
        self.refused("source", "/huge-header")
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            self.refused("source", f"http://127.0.0.1:{closed.getsockname()[1]}/x")
        self.refused("source", "http://169.254.169.254/latest/meta-data")
        self.refused("source", "http://[::ffff:169.254.169.254]/x")
