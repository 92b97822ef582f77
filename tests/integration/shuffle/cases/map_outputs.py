"""Files of map outputs: wrong ones of each kind, cut while they are sent, many, and outside the
page cache. Cases of test-shuffle."""
import os
import re
import socket
import subprocess

from lib.shuffle_checks import ONE, T, TWO, refused
from lib.shuffle_process import ALICE, BOB, DAEMON, Client, Shuffle, fetch, index_of, unpack


def bad_files(server, place):
    def attack(name, n, change, status=500):
        base = place.output(ONE, n, [b"a" * 100, b"b" * 100])
        T.check(f"{name}: served before", fetch(server.port, ONE, 1, [ONE.map(n)]).status == 200)
        change(base)
        answer = fetch(server.port, ONE, 1, [ONE.map(n)])
        refused(f"{name} (71)", answer, status)
        refused(
            f"{name}, beside a good one (71)",
            fetch(server.port, ONE, 1, [ONE.map(1), ONE.map(n)]),
            status,
        )

    def link(path, to):
        os.unlink(path)
        os.symlink(to, path)
        os.lchown(path, ALICE, DAEMON)

    def replace(path, data, uid=ALICE):
        os.unlink(path)
        place.write(path, data, uid)

    def fifo(path):
        os.unlink(path)
        os.mkfifo(path, 0o660)
        os.chown(path, ALICE, DAEMON)

    secret = os.path.join(place.root, "secret")
    place.write(secret, b"c" * 200, DAEMON)
    other = place.output(TWO, 5, [b"d" * 100, b"e" * 100])
    attack("file.out is a link", 20, lambda b: link(b + "/file.out", secret))
    attack(
        "file.out is a link to another job's",
        21,
        lambda b: link(b + "/file.out", other + "/file.out"),
    )
    attack(
        "the index is a link", 22, lambda b: link(b + "/file.out.index", other + "/file.out.index")
    )
    attack(
        "the directory is a link",
        23,
        lambda b: (os.rename(b, b + ".old"), os.symlink(b + ".old", b)),
    )
    attack("file.out is another account's", 24, lambda b: replace(b + "/file.out", b"x" * 200, BOB))
    attack(
        "the index is root's",
        25,
        lambda b: replace(b + "/file.out.index", index_of([(0, 1, 1)] * 1), 0),
    )
    attack("file.out is a FIFO", 26, lambda b: fifo(b + "/file.out"))
    attack("the index is a FIFO", 27, lambda b: fifo(b + "/file.out.index"))
    attack(
        "file.out is a directory",
        28,
        lambda b: (os.unlink(b + "/file.out"), place.mkdirs(b, "file.out", ALICE)),
    )
    attack("file.out is cut", 29, lambda b: os.truncate(b + "/file.out", 150))
    attack("file.out has disappeared", 30, lambda b: os.unlink(b + "/file.out"))
    attack(
        "both are gone",
        31,
        lambda b: (os.unlink(b + "/file.out"), os.unlink(b + "/file.out.index")),
    )
    attack("the index is cut", 32, lambda b: os.truncate(b + "/file.out.index", 40))
    attack("the index is empty", 33, lambda b: os.truncate(b + "/file.out.index", 0))
    good = [(0, 107, 100), (100, 107, 100)]
    for n, (name, index) in enumerate(
        {
            "a wrong checksum": index_of(good, crc=1),
            "a part behind the end": index_of([good[0], (100, 107, 101)]),
            "parts that overlap": index_of([good[0], (99, 107, 100)]),
            "a negative start": index_of([good[0], (-1, 107, 100)]),
            "a negative length": index_of([good[0], (100, 107, -100)]),
            "a negative unpacked length": index_of([good[0], (100, -1, 100)]),
            "a start near 2^63": index_of([good[0], ((1 << 63) - 50, 107, 100)]),
            "one reducer less": index_of(good[:1]),
            "7 bytes too many": index_of(good) + b"1234567",
            "no record": bytes(8),
        }.items()
    ):
        attack(
            f"an index with {name}",
            40 + n,
            lambda b, i=index: place.write(b + "/file.out.index", i, ALICE),
        )
    huge = place.output(ONE, 60, [b"x"])
    with open(huge + "/file.out.index", "r+b") as file:
        file.truncate(1 << 40)
    refused("an index of 1 TiB (71)", fetch(server.port, ONE, 0, [ONE.map(60)]), 500)
    base = place.output(ONE, 61, [b"a" * 100, b"b" * 100])
    T.check(
        "an output that was written again is served as it is now",
        fetch(server.port, ONE, 1, [ONE.map(61)]).status == 200
        and (
            place.write(base + "/file.out", b"new!" + b"z" * 50, ALICE),
            place.write(base + "/file.out.index", index_of([(0, 1, 4), (4, 9, 50)]), ALICE),
        )
        and unpack(fetch(server.port, ONE, 1, [ONE.map(61)]).body)[0][1:] == (50, 9, 1, b"z" * 50),
    )
    T.check(
        "nothing of the other files was sent",
        b"ccc" not in fetch(server.port, ONE, 1, [ONE.map(20)]).body,
    )


def cut_while_sent(server, place):
    base = place.output(ONE, 70, [os.urandom(1 << 20) * 32])
    client = Client(server.port)
    client.send(client.uri(ONE, 0, [ONE.map(70)]), ONE.secret)
    client.socket.recv(100, socket.MSG_PEEK)
    os.truncate(base + "/file.out", 1000)
    answer = client.answer()
    T.check(
        "a file that is cut while it is sent: a short answer, not one filled up",
        answer.status == 200 and not answer.whole,
    )
    client.close()
    os.unlink(base + "/file.out")


def open_files(_server, place):
    """Of a request for many maps at most max.session-open-files are open, the one that is sent
    among them."""
    maps = [ONE.map(n) for n in range(100, 120)]
    for n in range(100, 120):
        place.output(ONE, n, [bytes(8 << 20) if n == 100 else b"short"])
    for value, wanted in (({"mapreduce.shuffle.max.session-open-files": "1"}, 1), ({}, 3)):
        server = Shuffle(place.dirs, value)
        server.event(ONE.init())
        client = Client(server.port)
        client.send(client.uri(ONE, 0, maps), ONE.secret)
        client.socket.recv(1, socket.MSG_PEEK)  # the answer has begun, and waits for its reader
        links = [
            os.readlink(f"/proc/{server.process.pid}/fd/{n}")
            for n in os.listdir(f"/proc/{server.process.pid}/fd")
        ]
        held = [path for path in links if path.endswith("/file.out")]
        T.check(f"20 maps: {wanted} open", len(held) == wanted, held)
        T.check("and all are served", len(unpack(client.answer().body)) == 20)
        client.close()
        server.close()


def cached_bytes(path):
    said = subprocess.check_output(["fincore", "--bytes", "--noheadings", "--output=RES", path])
    return int(said)


def drop_from_cache(path, size):
    """Returns when the kernel has dropped all pages: it keeps those that are in use at the moment,
    of which a busy machine has more."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        while cached_bytes(path) > 0:
            os.posix_fadvise(file.fileno(), 0, size, os.POSIX_FADV_DONTNEED)


def page_cache(_server, place):
    """Parts longer than 256 KiB that are not in the page cache are read ahead; what was sent is
    dropped, unless manage.os.cache says no."""
    size, window = 8 << 20, 4 << 20
    place.output(ONE, 132, [b"short"])
    for n, (value, kept) in enumerate(
        (({}, 0), ({"mapreduce.shuffle.manage.os.cache": "false"}, 1))
    ):
        drop_from_cache(place.output(ONE, 130 + n, [bytes(size)]) + "/file.out", size)
        server = Shuffle(place.dirs, value)
        server.event(ONE.init())
        with subprocess.Popen(
            ["strace", "-f", "-e", "trace=fadvise64", "-p", str(server.process.pid)],
            stderr=subprocess.PIPE,
            text=True,
        ) as trace:
            while "attached" not in trace.stderr.readline():
                pass
            client = Client(server.port)
            for wanted in (
                ONE.map(130 + n),
                ONE.map(132),
            ):  # with the second answer all that follows the first is done
                client.send(client.uri(ONE, 0, [wanted], "&keepAlive=true"), ONE.secret)
                whole = client.answer().whole
            client.close()
            server.close()
            calls = re.findall(
                r"fadvise64\(\d+, (\d+), (\d+), POSIX_FADV_(\w+)\)", trace.stderr.read()
            )
        T.check("served", whole)
        T.check(f"read ahead: {value}", calls and calls[0] == ("0", str(window), "WILLNEED"), calls)
        T.check(
            f"dropped or not: {value}", (("0", str(size), "DONTNEED") in calls) == (not kept), calls
        )
