"""Files and directories of this machine, below file: URLs. Cases of test-localizer."""
import os
import resource

from cases.archives import remove_as_user
from lib import hostile_archives
from lib.localizer_cases import STAMP, expect, quote
from lib.localizer_process import (
    APPLICATION,
    ARCHIVE,
    FILE,
    PATTERN,
    PRIVATE,
    PUBLIC,
    Localizer,
    tree,
    wrong_modes,
)


class Files:
    def __init__(self, place):
        self.place = place

    def get(self, path, kind=FILE, **more):
        loc = Localizer(self.place)
        size = os.stat(path).st_size if os.path.exists(path) else 1
        values = {"timestamp": STAMP, "size": size, **more}
        name = values.pop("name", os.path.basename(path))
        request, rel = loc.fetch(values.pop("url", quote(path)), name, kind, **values)
        answer = loc.answer(request)
        expect(loc.close() == 0, "localizer must end with its channel")
        base = self.place.app if more.get("visibility") == APPLICATION else self.place.public
        return answer, os.path.join(base, rel)

    def refused(self, reason, *args, words="", **more):
        answer, at = self.get(*args, **more)
        expect(not answer.done and answer.reason == reason and words in answer.text, str(answer))
        expect(not os.path.lexists(at) and not os.path.lexists(at + "_tmp"), f"{at} was left")

    def private(self):
        path = self.place.put("plain", b"content", mode=0o644)
        answer, at = self.get(path)
        expect(answer.done and answer.size == 7 and answer.entries == 1, str(answer))
        with open(os.path.join(at, os.path.basename(path)), "rb") as f:
            expect(f.read() == b"content", "content")
        expect(not wrong_modes(at, False), wrong_modes(at, False))

    def public(self):
        path = self.place.put("plain", b"content")
        answer, at = self.get(path, visibility=PUBLIC)
        expect(answer.done, str(answer))
        expect(not wrong_modes(at, True), wrong_modes(at, True))

    def application_in_hierarchy(self):
        path = self.place.put("plain", b"content")
        answer, at = self.get(path, visibility=APPLICATION, rel="0/z/4711")
        expect(answer.done and os.path.exists(at), str(answer))
        expect(os.stat(os.path.join(self.place.app, "0")).st_mode & 0o777 == 0o710, "mode of 0/")

    def empty_and_large(self):
        answer, _ = self.get(self.place.put("empty", b""))
        expect(answer.done and answer.size == 0, str(answer))
        data = os.urandom(20 << 20)
        path = self.place.put("large", data)
        answer, at = self.get(path)
        with open(os.path.join(at, os.path.basename(path)), "rb") as f:
            expect(f.read() == data, "content of 20 MiB")

    def unknown_archive_is_a_file(self):
        path = self.place.put("thing.bz2", b"BZh not unpacked")
        answer, at = self.get(path, ARCHIVE)
        expect(
            answer.done and os.path.isfile(os.path.join(at, os.path.basename(path))), str(answer)
        )

    def changed(self):
        path = self.place.put("plain", b"content")
        self.refused(
            "changed",
            path,
            timestamp=STAMP + 1,
            words='changed on src filesystem - expected: "2023-11-14T22:13:20.251+0000", '
            'was: "2023-11-14T22:13:20.250+0000", current time: "',
        )
        self.refused("changed", path, size=8, words="expected: 8 bytes, was: 7 bytes")
        answer, _ = self.get(path, size=-1)
        expect(answer.done, str(answer))

    def not_there(self):
        self.refused("source", os.path.join(self.place.src, "nothing"), words="does not exist")

    def not_regular(self):
        fifo = os.path.join(self.place.src, "fifo")
        os.mkfifo(fifo)
        self.refused("source", fifo, words="not a regular file")
        self.refused("source", "/dev/zero", words="not a regular file", name="zero")

    def make_directory(self, name, **more):
        """A directory of files, directories and links inside, at the time STAMP."""
        top = os.path.join(self.place.src, name)
        os.makedirs(os.path.join(top, "a/b/empty"))
        for path, data in {
            "one": b"1",
            "a/two": b"22",
            "a/b/three": b"333",
            "zero": b"",
            **more,
        }.items():
            with open(os.path.join(top, path), "wb") as f:
                f.write(data)
        os.symlink("a/two", os.path.join(top, "link"))
        os.utime(top, ns=(STAMP * 10**6,) * 2)
        return top

    def directory(self):
        """Copied, whatever the type and the size of the request."""
        top = self.make_directory("directory")
        wanted = {
            "one": b"1",
            "a": "dir",
            "a/two": b"22",
            "a/b": "dir",
            "a/b/three": b"333",
            "a/b/empty": "dir",
            "zero": b"",
            "link": "-> a/two",
        }
        for visibility, kind in ((PRIVATE, FILE), (PUBLIC, FILE), (PRIVATE, PATTERN)):
            answer, at = self.get(top, kind=kind, visibility=visibility)
            expect(answer.done and answer.size == 6 and answer.entries == 9, str(answer))
            found, wrong = tree(os.path.join(at, "directory"))
            expect(found == wanted and not wrong, f"{found} {wrong}")
            expect(not wrong_modes(at, visibility == PUBLIC), wrong_modes(at, visibility == PUBLIC))
            remove_as_user(at)
        jar = self.make_directory("directory.jar")
        answer, at = self.get(jar, kind=ARCHIVE)
        expect(answer.done and tree(os.path.join(at, "directory.jar"))[0] == wanted, str(answer))
        self.refused("changed", top, timestamp=STAMP - 1, words="changed on src filesystem")

    def directory_limits(self):
        """Those of an archive."""
        top = self.make_directory("limited", big=bytes(5000))
        self.refused("limit", top, max_bytes=4999, words="limit")
        self.refused("limit", top, max_entries=8, words="too many entries")
        deep = self.make_directory("deep")
        os.makedirs(os.path.join(deep, *["d"] * 70))
        os.utime(deep, ns=(STAMP * 10**6,) * 2)
        self.refused("limit", deep, words="deeper than 64")

    def directory_hostile(self):
        """Nothing outside of it is read, nothing but files, directories and links inside is
        copied."""

        def one(name, make, reason, words, **more):
            top = self.make_directory(name)
            make(top)
            os.utime(top, ns=(STAMP * 10**6,) * 2)
            self.refused(reason, top, words=words, **more)

        one(
            "out",
            lambda t: os.symlink("../../etc", os.path.join(t, "a/out")),
            "archive",
            "leads out",
        )
        one(
            "absolute",
            lambda t: os.symlink("/etc/passwd", os.path.join(t, "x")),
            "archive",
            "absolute link",
        )
        one("pipe", lambda t: os.mkfifo(os.path.join(t, "a/fifo")), "archive", "FIFO")
        one("control", lambda t: os.mkdir(os.path.join(t, "a\x1b[2J")), "archive", "control byte")
        one(
            "closed-file",
            lambda t: os.chmod(os.path.join(t, "one"), 0o600),
            "source",
            "Permission denied",
        )
        one(
            "unsearchable",
            lambda t: os.chmod(os.path.join(t, "a/b"), 0o744),
            "source",
            "Permission denied",
        )
        one(
            "public-file",
            lambda t: os.chmod(os.path.join(t, "a/two"), 0o640),
            "not-public",
            "publicly accessible",
            visibility=PUBLIC,
        )
        one(
            "public-dir",
            lambda t: os.chmod(os.path.join(t, "a/b"), 0o711),
            "not-public",
            "publicly accessible",
            visibility=PUBLIC,
        )

    def not_readable(self):
        if os.getuid() != 0:
            raise AssertionError("needs root to make a file of another user")
        path = self.place.put("secret", b"x", mode=0o600)
        self.refused("source", path, words="Permission denied")
        self.refused("source", "/etc/shadow", words="Permission denied", name="shadow")

    def not_public(self):
        path = self.place.put("mine", b"x", mode=0o640)
        os.chown(path, 65534, 65534)
        self.refused(
            "not-public",
            path,
            visibility=PUBLIC,
            words="is not publicly accessible and " "as such cannot be part of the public cache.",
        )
        answer, _ = self.get(path)
        expect(answer.done, f"as PRIVATE: {answer}")
        closed = os.path.join(self.place.src, "closed")
        os.mkdir(closed, 0o700)
        os.chown(closed, 65534, 65534)
        inside = os.path.join(closed, "f")
        os.rename(self.place.put("f", b"x"), inside)
        self.refused("not-public", inside, visibility=PUBLIC)
        link = os.path.join(self.place.src, "link")
        os.symlink(self.place.put("target", b"x"), link)
        self.refused("source", link, visibility=PUBLIC, words="symbolic link")
        answer, at = self.get(link)
        expect(answer.done and os.path.isfile(os.path.join(at, "link")), f"a link: {answer}")
        through = os.path.join(self.place.src, "through")
        os.symlink(self.place.src, through)
        answer, _ = self.get(os.path.join(through, os.path.basename(path)))
        expect(answer.done, f"through a link, as PRIVATE: {answer}")
        path = os.path.join(through, os.path.basename(self.place.put("open", b"x")))
        answer, _ = self.get(path, visibility=PUBLIC)
        expect(answer.done, f"through a link: {answer}")

    def bad_urls(self):
        for url in (
            "ftp://h/x",
            "file://host/etc/passwd",
            "hdfs://u:p@h/x",
            "/etc/passwd",
            "file:///a/../etc/passwd",
            "file:///a/%2e%2e/x",
            "file:///a%00b",
            "http://u:p@127.0.0.1/x",
            "http://127.0.0.1/a\r\nHost: b",
            "gopher://h/x",
            "file:///a%0ab",
            "http://[fe80::1%25lo]/x",
            "scp://h/x",
            "data:,x",
        ):
            self.refused("url", "/etc/passwd", url=url, name="x")

    def limit(self):
        path = self.place.put("big", bytes(5000))
        self.refused("limit", path, max_bytes=4999)
        tgz = next(c for c in hostile_archives.bombs() if c.name == "bomb-entries")
        self.refused(
            "limit",
            self.place.put("t.tgz", tgz.data),
            kind=ARCHIVE,
            max_entries=1000,
            words="too many entries",
        )

    def existing_target(self):
        path = self.place.put("plain", b"content")
        _, at = self.get(path, rel="777")
        answer, _ = self.get(path, rel="777")
        expect(not answer.done and answer.reason == "taken", str(answer))
        expect(os.listdir(at) and not os.path.exists(at + "_tmp"), "first entry stays whole")

    def disk_full(self):
        """Writing fails in the middle: told, and nothing is left."""
        loc = Localizer(self.place, limits={resource.RLIMIT_FSIZE: 1 << 20})
        path = self.place.put("big", bytes(2 << 20))
        request, rel = loc.fetch(quote(path), "big", timestamp=STAMP, size=2 << 20)
        answer = loc.answer(request)
        expect(not answer.done and answer.reason == "disk", str(answer))
        expect(not os.path.exists(os.path.join(self.place.public, rel + "_tmp")), "left")
        loc.close()
