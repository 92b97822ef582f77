"""Requests of reducers, good ones, those without proof, and wrong ones of each kind. Cases of
test-shuffle."""
import base64
import hashlib
import hmac
import os

from lib.shuffle_checks import BIG, ONE, T, TWO, refused
from lib.shuffle_process import ALICE, BOB, Client, Job, fetch, unpack, url_hash


def good_fetches(server, place):
    for n in range(5):
        place.output(ONE, n, [b"%d for %d;" % (n, r) * (n + r) for r in range(4)], disk=n % 2)
    place.output(ONE, 9, [b"", BIG, b"end"])
    answer = fetch(server.port, ONE, 2, [ONE.map(3)])
    proof = url_hash(ONE.secret, server.port, Client.uri(None, ONE, 2, [ONE.map(3)]))
    T.check(
        "200, the protocol's headers",
        answer.status == 200
        and answer.headers["name"] == "mapreduce"
        and answer.headers["version"] == "1.0.0"
        and answer.headers["connection"] == "close",
        answer.headers,
    )
    T.check(
        "ReplyHash proves the job's secret",
        answer.headers["replyhash"]
        == base64.b64encode(hmac.new(ONE.secret, proof.encode(), hashlib.sha1).digest()).decode(),
        answer.headers,
    )
    T.check(
        "header and bytes of a map",
        unpack(answer.body) == [(ONE.map(3), 40, 47, 2, b"3 for 2;" * 5)],
        answer.body,
    )
    answer = fetch(server.port, ONE, 1, [ONE.map(n) for n in (4, 0, 9, 2)])
    T.check(
        "several maps, in the order of the request, of two disks",
        [(m[0], m[4]) for m in unpack(answer.body)]
        == [
            (ONE.map(4), b"4 for 1;" * 5),
            (ONE.map(0), b"0 for 1;"),
            (ONE.map(9), BIG),
            (ONE.map(2), b"2 for 1;" * 3),
        ],
    )
    place.output(ONE, 10, [b"apart;" * 9], disk=0, index_disk=1)
    place.output(ONE, 11, [b"turned;" * 8], disk=1, index_disk=0)
    answer = fetch(server.port, ONE, 0, [ONE.map(10), ONE.map(11), ONE.map(3)])
    T.check(
        "index and data on two disks",
        [m[4] for m in unpack(answer.body)] == [b"apart;" * 9, b"turned;" * 8, b"3 for 0;" * 3],
        answer,
    )
    answer = fetch(server.port, ONE, 0, [ONE.map(9), ONE.map(0)])
    T.check(
        "empty parts",
        [m[1:] for m in unpack(answer.body)] == [(0, 7, 0, b""), (0, 7, 0, b"")],
        answer,
    )


def kept_alive(server, _place):
    client = Client(server.port)
    for reduce in (0, 1, 2, 3):
        client.send(client.uri(ONE, reduce, [ONE.map(4)], "&keepAlive=true"), ONE.secret)
        answer = client.answer()
        T.check(
            f"request {reduce + 1} of one connection",
            answer.status == 200
            and len(unpack(answer.body)) == 1
            and answer.headers["keep-alive"] == "timeout=1",
            answer,
        )
    uris = [client.uri(ONE, reduce, [ONE.map(1)], "&keepAlive=true") for reduce in (1, 2)]
    client.raw(
        b"".join(
            b"GET %s HTTP/1.1\r\nName: mapreduce\r\nVERSION: 1.0.0\r\nurlhash: %s\r\n\r\n"
            % (uri.encode(), url_hash(ONE.secret, client.port, uri).encode())
            for uri in uris
        )
    )
    T.check(
        "two requests at once, names of headers in other cases",
        [client.answer().status for _ in uris] == [200, 200],
    )
    T.check("closed after its time without a request", client.at_end())
    client.close()
    client = Client(server.port)
    client.send(
        client.uri(ONE, 0, [ONE.map(1)], "&keepAlive=true"), ONE.secret, lines=["Connection: close"]
    )
    T.check(
        "Connection: close", client.answer().headers["connection"] == "close" and client.at_end()
    )
    client.close()


def many_maps(server, place):
    for n in range(100, 120):
        place.output(ONE, n, [b"x" * n])
    before = set(os.listdir(f"/proc/{server.process.pid}/fd"))
    answer = fetch(server.port, ONE, 0, [ONE.map(n) for n in range(100, 120)])
    T.check(
        "20 maps in one answer",
        [len(m[4]) for m in unpack(answer.body)] == list(range(100, 120)),
        answer,
    )
    while (
        set(os.listdir(f"/proc/{server.process.pid}/fd")) - before
    ):  # the connection itself lingers
        pass
    T.check("no descriptor stays open", True)


def unproven(server, place):
    place.output(TWO, 0, [b"bob's"])
    good = Client.uri(None, ONE, 0, [ONE.map(1)])
    refused("no UrlHash (70)", fetch(server.port, ONE, 0, [ONE.map(1)], secret=None), 401)
    wrong = fetch(server.port, ONE, 0, [ONE.map(1)], secret=b"another")
    refused("a hash of another secret (70)", wrong, 401)
    refused(
        "another job's token (70)", fetch(server.port, ONE, 0, [ONE.map(1)], secret=TWO.secret), 401
    )
    refused(
        "another job's output with one's own token (71)",
        fetch(server.port, ONE, 0, [TWO.map(0)]),
        500,
    )
    refused(
        "a hash that was for another map (70)",
        fetch(server.port, ONE, 0, [ONE.map(2)], sent_hash=url_hash(ONE.secret, server.port, good)),
        401,
    )
    refused(
        "parameters in another order than hashed (70)",
        fetch_uri(
            server.port,
            f"/mapOutput?reduce=0&job={ONE.id}&map={ONE.map(1)}",
            sent_hash=url_hash(ONE.secret, server.port, good),
        ),
        401,
    )
    refused(
        "a hash for another port (70)",
        fetch(server.port, ONE, 0, [ONE.map(1)], sent_hash=url_hash(ONE.secret, 13562, good)),
        401,
    )
    for bad in ("", "x", "A" * 28, "A" * 64, "A" * 5000):
        refused(
            f"a hash of {len(bad)} characters (70)",
            fetch(server.port, ONE, 0, [ONE.map(1)], sent_hash=bad),
            401,
        )
    unknown = fetch(server.port, Job(77, "x", 1, b"s"), 0, [ONE.map(1)])
    T.check(
        "an unknown job gets the answer of a wrong hash (70)",
        unknown.status == 401 and unknown.body == wrong.body and unknown.headers == wrong.headers,
        unknown,
    )


def fetch_uri(port, uri, **how):
    client = Client(port)
    try:
        client.send(uri, **how)
        return client.answer()
    finally:
        client.close()


def bad_requests(server, _place):
    job, one = ONE.id, ONE.map(1)
    for name, uri in {
        "map=../../x": f"/mapOutput?job={job}&reduce=0&map=../../x",
        "map=%2e%2e": f"/mapOutput?job={job}&reduce=0&map=%2e%2e",
        "map=a/b": f"/mapOutput?job={job}&reduce=0&map=a/b",
        "map=a%2Fb": f"/mapOutput?job={job}&reduce=0&map=a%2Fb",
        "map=%252e%252e": f"/mapOutput?job={job}&reduce=0&map=%252e%252e",
        "an overlong '/'": f"/mapOutput?job={job}&reduce=0&map=a%c0%afb",
        "an absolute map": f"/mapOutput?job={job}&reduce=0&map=/etc/passwd",
        "a NUL": f"/mapOutput?job={job}&reduce=0&map=a%00b",
        "half an escape": f"/mapOutput?job={job}&reduce=0&map=a%2",
        "an empty map among others": f"/mapOutput?job={job}&reduce=0&map={one},,{one}",
        "1,025 maps": f"/mapOutput?job={job}&reduce=0&map=" + ",".join(["a"] * 1025),
        "a map of 129 characters": f"/mapOutput?job={job}&reduce=0&map=" + "a" * 129,
        "reduce=-1": f"/mapOutput?job={job}&reduce=-1&map={one}",
        "reduce=2^31": f"/mapOutput?job={job}&reduce=2147483648&map={one}",
        "reduce=0x1": f"/mapOutput?job={job}&reduce=0x1&map={one}",
        "two reducers": f"/mapOutput?job={job}&reduce=0&reduce=1&map={one}",
        "two jobs": f"/mapOutput?job={job}&job={job}&reduce=0&map={one}",
        "no map": f"/mapOutput?job={job}&reduce=0",
        "no job": f"/mapOutput?reduce=0&map={one}",
        "no parameter": "/mapOutput",
        "job=../..": f"/mapOutput?job=../..&reduce=0&map={one}",
        "an application's id": f"/mapOutput?job={ONE.application}&reduce=0&map={one}",
    }.items():
        refused(f"{name} (71)", fetch_uri(server.port, uri, secret=ONE.secret), 400)
    for uri in (
        "/",
        "/etc/passwd",
        "//mapOutput",
        "/mapOutput/",
        "/x/../mapOutput",
        "http://host/mapOutput",
        "*",
        "/.//mapOutput",
        "/mapOutput.",
        "/mapOutput;x",
        "/%6dapOutput",
        "/%256dapOutput",
        "/mapOutput%2f",
        "/%c1%adapOutput",
    ):
        refused(
            f"target {uri} (73)",
            fetch_uri(server.port, uri + f"?job={job}&reduce=0&map={one}", secret=ONE.secret),
            403,
        )
    for method in ("POST", "PUT", "HEAD", "OPTIONS", "TRACE", "CONNECT", "DELETE", "get"):
        refused(f"{method} (76)", fetch(server.port, ONE, 0, [one], method=method), 405)
    refused(
        "another version of the protocol (70)",
        fetch(server.port, ONE, 0, [one], version="2.0.0"),
        400,
        "Incompatible",
    )
    for name, line in {
        "a body": "Content-Length: 5",
        "chunks": "Transfer-Encoding: chunked",
        "a folded header": " folded",
        "a length and chunks": "Content-Length: 0\r\nTransfer-Encoding: chunked",
        "two lengths": "Content-Length: 0\r\nContent-Length: 5",
        "a length below zero": "Content-Length: -1",
        "a length in hexadecimal": "Content-Length: 0x0",
        "a length of 2^64": "Content-Length: 18446744073709551616",
        "chunks by another name": "Transfer-Encoding: chunked, identity",
        "a blank before the colon": "X : 1",
        "a header without a colon": "nonsense",
        "two hashes": "UrlHash: x",
        "two names": "name: mapreduce",
        "two hosts": "Host: y",
        "a NUL": "X: a\0b",
        "a bare LF": "X: a\nY: b",
        "a bare CR": "X: a\rY: b",
    }.items():
        refused(f"{name} (74)", fetch(server.port, ONE, 0, [one], lines=[line]), 400)
    refused("10,000 headers (75)", fetch(server.port, ONE, 0, [one], lines=["a: b"] * 2500), 400)
    refused("65 headers (75)", fetch(server.port, ONE, 0, [one], lines=["a: b"] * 61), 400)
    whole = fetch(server.port, ONE, 0, [one]).body
    for name, how in {
        "a range": {"lines": ["Range: bytes=0-0,2-2,0-"]},
        "another host": {"lines": ["Host: evil"], "host": False},
        "no host": {"host": False},
    }.items():
        T.check(
            f"{name}: the whole answer (75)", fetch(server.port, ONE, 0, [one], **how).body == whole
        )
    for name, data in {
        "HTTP/0.9": b"GET /mapOutput\r\n\r\n",
        "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        "a target of 64 KiB": b"GET /" + b"a" * 65536,
        "an empty line": b"\r\n\r\n",
        "h2's preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    }.items():
        client = Client(server.port)
        try:
            client.raw(data)
        except OSError:
            pass
        answer = client.answer()
        T.check(f"{name} (76)", answer and answer.status in (400, 405) and client.at_end(), answer)
        client.close()


def ended(s):
    """Within the socket's time limit."""
    try:
        return s.recv(1) == b""
    except TimeoutError:
        return False


def ended_jobs(server, place):
    job = Job(3, "alice", ALICE, b"third")
    place.output(job, 0, [b"third's"])
    refused("before its start (70)", fetch(server.port, job, 0, [job.map(0)]), 401)
    T.check("start", server.event(job.init())["type"] == "done")
    T.check("served", fetch(server.port, job, 0, [job.map(0)]).status == 200)
    T.check(
        "started again with another token",
        server.event(job.init(data=ONE.init()["data"]))["type"] == "done",
    )
    refused("the first token (70)", fetch(server.port, job, 0, [job.map(0)]), 401)
    T.check("the second", fetch(server.port, job, 0, [job.map(0)], secret=ONE.secret).status == 200)
    T.check("stop", server.stop(job)["type"] == "done")
    refused(
        "a stopped job's token (70)",
        fetch(server.port, job, 0, [job.map(0)], secret=ONE.secret),
        401,
    )
    T.check(
        "uid null: the owner of usercache/USER",
        server.event(job.init(uid=None))["type"] == "done"
        and fetch(server.port, job, 0, [job.map(0)]).status == 200,
    )
    place.write(place.output_dir(job, 0) + "/file.out", b"third's", BOB)
    refused("and no other (71)", fetch(server.port, job, 0, [job.map(0)]), 500, "job's account")
    for name, wrong in {
        "a path with ..": {"appDir": "usercache/../../etc"},
        "an absolute path": {"appDir": "/etc"},
        "no token": {"data": "AAAA"},
        "no base64": {"data": "?"},
        "an odd id": {"applicationId": "x"},
    }.items():
        answer = server.event(job.init(**wrong))
        T.check(
            f"start with {name}: failed", answer["type"] == "failed" and answer["message"], answer
        )
    T.check("an unknown event: failed", server.event({"type": "of-tomorrow"})["type"] == "failed")
    for kind in ("container-init", "container-stop", "replayed", "ping"):
        T.check(kind, server.event({"type": kind})["type"] == "done")
