"""Archives that an attacker would send, and good ones that must still work.

all_archives() yields Case(name, file, data, wanted, pattern): `file` is the resource's name (its
ending decides the format), `wanted` is "refuse", or a dict of what must lie under the entry:
path → b"content" | "dir" | "-> target". Made by hand where Python's libraries refuse to lie.
"""
import collections
import gzip
import os
import struct
import sys
import zipfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.archive_bytes import (
    directory,
    gnu_long,
    good_tar,
    good_zip,
    hardlink,
    pax,
    symlink,
    tar,
    tar_entry,
    tar_header,
    zip_file,
    zip_join,
)

Case = collections.namedtuple("Case", "name file data wanted pattern", defaults=(None,))


def overlap_bomb(copies=900):
    """All entries share one deflated kernel of zeros: each local header declares the headers after
    it to be its extra field. 1 MiB a time out of one KiB."""
    zeros = bytes(1 << 20)
    kernel = zlib.compress(zeros, 9)[2:-4]
    crc, heads, central = zlib.crc32(zeros), [], bytearray()
    size = len(zip_file("f0000", b"", method=8, packed=b"")[0])
    for i in range(copies):
        extra_len = (copies - 1 - i) * size
        local, (head, tail) = zip_file(
            f"f{i:04}", b"", method=8, packed=kernel, crc=crc, size=len(zeros)
        )
        local = bytearray(local[:size])
        local[28:30] = struct.pack("<H", extra_len)
        heads.append(bytes(local))
        central += head + struct.pack("<I", i * size) + tail
    out = b"".join(heads) + kernel
    return (
        out
        + bytes(central)
        + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, copies, copies, len(central), len(out), 0)
    )


NAMES = {
    "dotdot": "../x",
    "dotdot-inside": "a/../../x",
    "only-dotdot": "..",
    "absolute": "/abs",
    "absolute-double": "//abs",
    "dot-dotdot": "./../x",
    "drive": "C:\\x",
    "drive-slash": "C:/x",
    "backslash-dotdot": "..\\x",
    "backslash-inside": "a\\..\\..\\x",
    "newline": "a\nb",
    "escape": "a\x1b[2Jb",
    "delete": "a\x7fb",
    "component-256": "c" * 256,
    "deep-65": "/".join(["d"] * 65) + "/f",
    "tail-dotdot": "a/b/..",
}


def refused_names():
    for what, name in NAMES.items():
        raw = name.encode()
        head = b"" if len(raw) <= 100 else gnu_long(raw)
        yield Case(f"tar-name-{what}", "t.tar", tar(head + tar_entry(raw, b"x")), "refuse")
        yield Case(
            f"pax-name-{what}", "t.tar", tar(pax([("path", raw)]) + tar_entry("p", b"x")), "refuse"
        )
        yield Case(f"zip-name-{what}", "t.zip", zip_join([zip_file(raw)]), "refuse")
    long = "/".join(["n" * 100] * 11).encode()
    yield Case("tar-path-1110", "t.tar", tar(gnu_long(long) + tar_entry("p", b"x")), "refuse")
    yield Case(
        "pax-path-4096",
        "t.tar",
        tar(pax([("path", b"y/" * 2048 + b"z")]) + tar_entry("p", b"x")),
        "refuse",
    )
    yield Case("tar-dot-file", "t.tar", tar(tar_entry(".", b"x")), "refuse")
    yield Case("zip-empty-name", "t.zip", zip_join([zip_file("")]), "refuse")
    yield Case(
        "pax-name-nul",
        "t.tar",
        tar(pax([("path", b"a\0/../../x")]) + tar_entry("p", b"x")),
        "not-outside",
    )
    yield Case("zip-name-nul", "t.zip", zip_join([zip_file(b"a\0/../../x")]), "not-outside")


def links():
    def refuse(name, *entries):
        return Case(f"link-{name}", "t.tar", tar(*entries), "refuse")

    yield refuse("through", symlink("l", "/tmp"), tar_entry("l/pwn", b"x"))
    yield refuse("through-inside", directory("d"), symlink("l", "d"), tar_entry("l/pwn", b"x"))
    yield refuse("chain", symlink("l1", "l2"), symlink("l2", ".."))
    yield refuse("absolute", symlink("l", "/etc/passwd"))
    yield refuse("up", symlink("l", "../x"))
    yield refuse("up-from-depth", directory("a"), symlink("a/l", "../../x"))
    yield refuse(
        "name-then-up",
        directory("a"),
        directory("a/b"),
        symlink("a/b/l", "../.."),
        symlink("m", "a/b/l/../x"),
    )
    yield refuse("empty-target", symlink("l", ""))
    yield refuse("dir-replaced", directory("d"), symlink("d", "/tmp"), tar_entry("d/x", b"x"))
    yield refuse("file-replaced", tar_entry("f", b"x"), symlink("f", "g"))
    yield refuse("link-replaced-by-file", symlink("f", "g"), tar_entry("f", b"x"))
    yield refuse("link-replaced-by-dir", directory("g"), symlink("f", "g"), directory("f"))
    yield refuse("control-byte", symlink("l", "a\nb"))
    yield refuse("pax-target-absolute", pax([("linkpath", "/etc")]), symlink("l", "x"))
    yield refuse("hard-absolute", hardlink("h", "/etc/passwd"))
    yield refuse("hard-up", hardlink("h", "../x"))
    yield refuse("hard-missing", hardlink("h", "nothing"))
    yield refuse("hard-missing-directory", hardlink("h", "no/thing"))
    yield refuse("hard-to-directory", directory("d"), hardlink("h", "d"))
    yield refuse(
        "hard-to-symlink",
        directory("a"),
        directory("a/b"),
        symlink("a/b/l", "../../x"),
        tar_entry("x", b"x"),
        hardlink("h", "a/b/l"),
    )
    yield refuse(
        "hard-through-symlink",
        directory("d"),
        tar_entry("d/f", b"x"),
        symlink("l", "d"),
        hardlink("h", "l/f"),
    )
    yield Case(
        "link-zip-absolute",
        "t.zip",
        zip_join([zip_file("l", b"/etc/passwd", mode=0o120777)]),
        "refuse",
    )
    yield Case("link-zip-up", "t.zip", zip_join([zip_file("l", b"../x", mode=0o120777)]), "refuse")
    yield Case(
        "link-zip-through",
        "t.zip",
        zip_join([zip_file("l", b".", mode=0o120777), zip_file("l/x")]),
        "refuse",
    )


def kinds():
    for what, kind in {"char": b"3", "block": b"4", "fifo": b"6"}.items():
        yield Case(
            f"kind-{what}", "t.tar", tar(tar_header("dev", kind=kind, major=1, minor=3)), "refuse"
        )
    yield Case("kind-whiteout", "t.tar", tar(tar_header("dev", kind=b"3")), "refuse")
    for what, mode in {
        "fifo": 0o010644,
        "char": 0o020644,
        "block": 0o060644,
        "socket": 0o140644,
    }.items():
        # libarchive reads a FIFO of a zip as an ordinary file: that is harmless
        yield Case(
            f"kind-zip-{what}",
            "t.zip",
            zip_join([zip_file("dev", mode=mode)]),
            {"dev": b"x"} if what == "fifo" else "refuse",
        )


def lies():
    whole = tar(tar_entry("f", b"x" * 100))
    yield Case(
        "size-pax-2^63",
        "t.tar",
        tar(pax([("size", str(2**63))]) + tar_entry("f", b"x")),
        "refuse",
    )
    yield Case(
        "size-pax-2^62",
        "t.tar",
        tar(pax([("size", str(2**62))]) + tar_entry("f", b"x")),
        "refuse",
    )
    yield Case(
        "size-pax-negative", "t.tar", tar(pax([("size", "-1")]) + tar_entry("f", b"x")), "refuse"
    )
    yield Case(
        "size-base256",
        "t.tar",
        tar(tar_header("f", size_field=b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7)),
        "refuse",
    )
    yield Case(
        "size-larger-than-file",
        "t.tar",
        tar(tar_header("f", 4096) + b"x" * 100, end=False),
        "refuse",
    )
    yield Case(
        "sparse-8EiB",
        "t.tar",
        tar(
            pax(
                [
                    ("GNU.sparse.major", "1"),
                    ("GNU.sparse.minor", "0"),
                    ("GNU.sparse.name", "f"),
                    ("GNU.sparse.realsize", str(2**63 - 1)),
                ]
            )
            + tar_entry("f", b"0\n" + bytes(510))
        ),
        "refuse",
    )
    yield Case(
        "holesdata-garbage",
        "t.tar",
        tar(pax([("SUN.holesdata", " 9 9 9 9999999999999 x")]) + tar_entry("f", b"x" * 64)),
        "not-outside",
    )
    yield Case("checksum", "t.tar", whole[:10] + b"Z" + whole[11:], "refuse")
    yield Case("empty-file", "t.tar", b"", "refuse")
    yield Case("one-byte", "t.tar", b"x", "refuse")
    yield Case("zip-one-byte", "t.zip", b"P", "refuse")
    yield Case("zip-empty-file", "t.zip", b"", "refuse")
    yield Case("not-gzip", "t.tgz", whole, "not-outside")
    hidden = bytes(32 << 10) + b"\1CD001\1" + b"x" * 2041
    yield Case("zeros-then-iso", "t.tar", hidden, "refuse")
    yield Case("zeros-then-iso-gzip", "t.tgz", gzip.compress(hidden), "refuse")
    yield Case("zeros-then-tar", "t.tar", bytes(1024) + whole, "refuse")
    yield Case("text-as-zip", "t.zip", b"hello\n" * 100, "refuse")
    one = zip_file("f", b"x" * 1000, method=8)
    yield Case(
        "zip-central-local-name",
        "t.zip",
        zip_join([zip_file("f", b"x" * 10, local_name=b"../../x")]),
        "not-outside",
    )
    yield Case(
        "zip-local-size",
        "t.zip",
        zip_join([zip_file("f", b"x" * 1000, method=8, local_size=5)]),
        "refuse",
    )
    yield Case(
        "zip-size-short",
        "t.zip",
        zip_join([zip_file("f", b"x" * 1000, method=8, size=10)]),
        "refuse",
    )
    yield Case(
        "zip-size-long",
        "t.zip",
        zip_join([zip_file("f", b"x" * 1000, method=8, size=100000)]),
        "refuse",
    )
    yield Case(
        "zip-crc", "t.zip", zip_join([zip_file("f", b"x" * 1000, method=8, crc=1)]), "refuse"
    )
    yield Case("zip-encrypted", "t.zip", zip_join([zip_file("f", b"x" * 100, flags=1)]), "refuse")
    yield Case("zip-method-99", "t.zip", zip_join([zip_file("f", b"x" * 100, method=99)]), "refuse")
    yield Case(
        "zip-two-ends", "t.zip", zip_join([zip_file("../x")]) + zip_join([one]), "not-outside"
    )
    yield Case("zip-count-65535", "t.zip", zip_join([one], count=0xFFFF), "not-outside")
    yield Case(
        "zip-offset-outside", "t.zip", zip_join([one], offset_of=lambda i, at: 0x7FFFFFFF), "refuse"
    )


def truncated():
    """Every cut of a good archive is an error, or what is there is within the root."""
    bodies = {
        "t.tar": good_tar({"d/f": b"x" * 2000, "d/g": b"y" * 700}),
        "t.tgz": gzip.compress(good_tar({"d/f": bytes(range(256)) * 8, "g": b"y" * 700})),
        "t.zip": good_zip({"d/f": bytes(range(256)) * 8, "g": b"y" * 700}),
    }
    for file, data in bodies.items():
        steps = max(1, len(data) // 24)
        for at in sorted(set(range(1, len(data), steps)) | {len(data) - 1}):
            strict = not file.endswith(".tar")
            yield Case(
                f"truncated-{file}-{at}", file, data[:at], "refuse" if strict else "not-outside"
            )


def duplicates():
    def refuse(name, *entries):
        return Case(f"twice-{name}", "t.tar", tar(*entries), "refuse")

    yield refuse("file-file", tar_entry("f", b"1"), tar_entry("f", b"2"))
    yield refuse("file-dotslash-file", tar_entry("f", b"1"), tar_entry("./f", b"2"))
    yield refuse("file-dir", tar_entry("f", b"1"), directory("f"))
    yield refuse("file-then-below", tar_entry("f", b"1"), tar_entry("f/g", b"2"))
    yield refuse("dir-file", directory("f"), tar_entry("f", b"1"))
    yield refuse("dir-symlink", directory("f"), symlink("f", "g"))
    yield Case("twice-zip", "t.zip", zip_join([zip_file("f", b"1"), zip_file("f", b"2")]), "refuse")
    yield Case(
        "twice-dir-dir",
        "t.tar",
        tar(directory("d"), tar_entry("d/f", b"1"), directory("d")),
        {"d": "dir", "d/f": b"1"},
    )
    yield Case(
        "twice-case",
        "t.tar",
        tar(tar_entry("f", b"1"), tar_entry("F", b"2")),
        {"f": b"1", "F": b"2"},
    )
    yield Case(
        "twice-nfc-nfd",
        "t.tar",
        tar(tar_entry("\u00e9", b"1"), tar_entry("e\u0301", b"2")),
        {"\u00e9": b"1", "e\u0301": b"2"},
    )


def bombs():
    zeros = gzip.compress(tar(tar_header("zeros", 300 << 20) + bytes(300 << 20)), 9)
    yield Case("bomb-gzip-ratio", "t.tgz", zeros, "refuse")
    yield Case("bomb-overlap", "t.zip", overlap_bomb(), "refuse")
    yield Case(
        "gzip-in-gzip", "t.tgz", gzip.compress(gzip.compress(tar(tar_entry("f", b"x")))), "refuse"
    )
    yield Case("bomb-gzip-empty", "t.tgz", gzip.compress(bytes(64 << 20), 9), "refuse")
    yield Case(
        "bomb-entries",
        "t.tgz",
        gzip.compress(tar(*[tar_entry(f"e{i}") for i in range(3000)])),
        "refuse-entries",
    )
    yield Case(
        "bomb-implied-directories",
        "t.tgz",
        gzip.compress(
            tar(*[tar_entry("/".join([f"d{i}"] + ["q"] * 40) + "/f") for i in range(60)])
        ),
        "refuse-entries",
    )


def modes():
    yield Case(
        "modes",
        "t.tar",
        tar(
            directory("d", mode=0o2755),
            directory("sticky", mode=0o1777),
            directory("none", mode=0),
            tar_entry("suid", b"x", mode=0o6777),
            tar_entry("zero", b"x", mode=0),
            tar_entry("none/below", b"x", mode=0o644),
        ),
        {
            "d": "dir",
            "sticky": "dir",
            "none": "dir",
            "suid": b"x",
            "zero": b"x",
            "none/below": b"x",
        },
    )
    yield Case(
        "xattrs",
        "t.tar",
        tar(
            pax(
                [
                    ("SCHILY.xattr.security.capability", b"\1\0\0\2\xff\xff\xff\xff" + bytes(12)),
                    ("SCHILY.xattr.user.x", "1"),
                    ("SCHILY.acl.access", "user::rwx,group::rwx,other::rwx"),
                    ("SCHILY.fflags", "uchg"),
                ]
            )
            + tar_entry("f", b"x", uid=0)
            + tar_entry("._f", b"y")
        ),
        {"f": b"x", "._f": b"y"},
    )


def good():
    files = {
        "bin/run.sh": b"#!/bin/sh\n",
        "lib/a": b"a" * 100000,
        "empty": b"",
        "d/": b"",
        "\u540d/\u00e9.txt": b"u",
    }
    plain = {k.rstrip("/"): ("dir" if k.endswith("/") else v) for k, v in files.items()}
    yield Case("good-zip", "t.zip", good_zip(files), plain)
    yield Case("good-zip-stored", "T.ZIP", good_zip(files, zipfile.ZIP_STORED), plain)
    yield Case("good-jar", "t.jar", good_zip(files), plain)
    yield Case(
        "good-zip-with-stub",
        "t.zip",
        zip_join([zip_file("f", b"abc")], prefix=b"", comment=b"a comment"),
        {"f": b"abc"},
    )
    tarred = {k: v for k, v in plain.items()}
    tarred.update({"link": "-> lib/a", "bin/up": "-> ../lib/a", "dangling": "-> nowhere"})
    yield Case("good-tar", "t.tar", good_tar(tarred), tarred)
    yield Case("good-tgz", "t.tgz", good_tar(tarred, "w:gz"), tarred)
    yield Case("good-tar-gz", "x.TAR.GZ", good_tar(tarred, "w:gz"), tarred)
    yield Case("good-empty-tar", "t.tar", bytes(10240), {})
    yield Case("good-empty-tgz", "t.tgz", gzip.compress(bytes(10240)), {})
    yield Case(
        "good-dot-root",
        "t.tar",
        tar(directory("./"), directory("./d"), tar_entry("./d/f", b"1")),
        {"d": "dir", "d/f": b"1"},
    )
    yield Case(
        "good-hardlink",
        "t.tar",
        tar(tar_entry("a/f", b"1"), hardlink("h", "a/f")),
        {"a/f": b"1", "h": b"1"},
    )
    yield Case(
        "good-deep-64",
        "t.tar",
        tar(tar_entry("/".join(["d"] * 49) + "/f", b"1")),
        {"/".join(["d"] * 49) + "/f": b"1"},
    )
    yield Case(
        "good-rtl-and-bytes",
        "t.tar",
        tar(tar_entry("a\u202eb", b"1"), tar_entry(b"caf\xe9", b"2"), tar_entry("-rf", b"3")),
        {"a\u202eb": b"1", b"caf\xe9": b"2", "-rf": b"3"},
    )
    yield Case(
        "good-sparse",
        "t.tar",
        tar(
            pax(
                [
                    ("GNU.sparse.major", "1"),
                    ("GNU.sparse.minor", "0"),
                    ("GNU.sparse.name", "f"),
                    ("GNU.sparse.realsize", "8192"),
                ]
            )
            + tar_entry("f", b"1\n4096\n3\n".ljust(512, b"\0") + b"abc")
        ),
        {"f": bytes(4096) + b"abc" + bytes(4093)},
    )
    yield Case(
        "nested-not-unpacked",
        "t.tar",
        tar(tar_entry("in.zip", good_zip({"x": b"1"}))),
        {"in.zip": good_zip({"x": b"1"})},
    )
    jar = good_zip({"classes/A.class": b"A", "lib/b.jar": b"B", "META-INF/MANIFEST.MF": b"M"})
    wanted = {"job.jar": jar, "classes/A.class": b"A", "lib/b.jar": b"B"}
    yield Case("pattern-mapreduce", "job.jar", jar, wanted, "(?:classes/|lib/).*")
    yield Case("pattern-none-matches", "job.jar", jar, {"job.jar": jar}, "nothing")
    yield Case(
        "pattern-not-a-jar",
        "job.zip",
        jar,
        {"classes/A.class": b"A", "lib/b.jar": b"B", "META-INF/MANIFEST.MF": b"M"},
        "lib/.*",
    )
    yield Case(
        "pattern-greedy", "job.jar", good_zip({"a" * 200 + "b": b"1"}), "not-outside", "(a+)+$"
    )
    yield Case("pattern-bad", "job.jar", jar, "refuse", "(((")
    yield Case("pattern-huge-repeat", "job.jar", jar, "refuse", "(((a{1,1000}){1,1000}){1,1000})")
    yield Case("pattern-backreference", "job.jar", jar, "refuse", "(a)\\1")
    yield Case(
        "pattern-hostile-jar",
        "job.jar",
        zip_join([zip_file("../x"), zip_file("lib/a")]),
        "refuse",
        "lib/.*",
    )


def all_archives():
    for part in (good, refused_names, links, kinds, lies, truncated, duplicates, modes, bombs):
        yield from part()


if __name__ == "__main__":  # writes them all into a directory: seeds for the fuzz target
    for case in all_archives():
        if len(case.data) < 20000 and not case.name.startswith("truncated"):
            kind = {"zip": b"Z", "jar": b"Z", "tgz": b"G"}.get(case.file.lower().rsplit(".")[-1])
            if case.file.lower().endswith(".tar.gz"):
                kind = b"G"
            with open(os.path.join(sys.argv[1], case.name.replace("^", "")), "wb") as f:
                f.write((kind or b"T") + case.data)
