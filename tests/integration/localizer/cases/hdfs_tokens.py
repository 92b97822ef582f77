"""Tokens of blocks and delegation tokens: who is shown which, and what an expired one leads to.
Cases of test-hdfs-peers."""

from lib import scripted_hdfs as fake
from lib.hdfs_reads import DATA, STAMP, TIMEOUT_MS, HdfsReads
from lib.localizer_process import Localizer
from lib.scripted_hdfs import DataNode, Exceptional, NameNode, answer


SECURE = 1 << 6  # hdfs_site_protection()
PRIVATE = {"protection": SECURE | 4}


class Tokens(HdfsReads):
    def token_expired(self):
        """The locations are fetched again, once a block token is refused; the DataNode is not
        blamed."""
        refusals = []

        def script(peer, offset, _length):
            if not refusals:
                refusals.append(1)
                peer.sendall(answer(code=5, message="Block token is expired"))
            else:
                peer.sendall(fake.stream(DATA, start=offset))

        node = DataNode(script)
        reply, _, namenode = self.one(
            {
                "getFileInfo": fake.status(len(DATA)),
                "getServerDefaults": fake.defaults(),
                "getBlockLocations": lambda q: fake.located(
                    len(DATA),
                    [fake.block(0, len(DATA), [node.port], token=b"token-%d" % len(refusals))],
                ),
            }
        )
        tokens = [
            fake.fields(fake.fields(fake.fields(r[1][0])[1][0])[2][0])[1][0] for r in node.reads
        ]
        self.report.check(
            "an expired token: new locations, the new token is sent",
            reply.done
            and tokens == [b"token-0", b"token-1"]
            and len(namenode.called("getBlockLocations")) == 2,
            f"{reply} {tokens}",
        )
        node.close()

    def token_refused(self):
        """A DataNode that refuses the new token, too, is left out: the locations are fetched once
        more, and no more."""
        bad = DataNode(fake.sends(answer(code=5, message="Block token is expired")))
        good = DataNode(fake.good(DATA))
        reply, _, namenode = self.one(
            {
                "getFileInfo": fake.status(len(DATA)),
                "getServerDefaults": fake.defaults(),
                "getBlockLocations": fake.located(
                    len(DATA), [fake.block(0, len(DATA), [bad.port, good.port])]
                ),
            }
        )
        self.report.check(
            "a DataNode that refuses each token: the next replica",
            reply.done
            and len(bad.reads) == 2
            and len(good.reads) == 1
            and len(namenode.called("getBlockLocations")) == 2,
            f"{reply} {len(bad.reads)} {len(good.reads)}",
        )
        bad.close()
        good.close()

    def delegation_token(self):
        """With a token of the job for the file system nothing is said without it; the others are
        not for it."""
        good = DataNode(fake.good(DATA))
        answers = {
            "getFileInfo": fake.status(len(DATA)),
            "getServerDefaults": fake.defaults(),
            "getBlockLocations": fake.located(len(DATA), [fake.block(0, len(DATA), [good.port])]),
        }
        known = {b"first": b"secret", b"second": b"other"}

        def credentials(*tokens):
            """Credentials with these: (identifier, password, kind, service)"""
            text = lambda s: bytes([len(s)]) + (s if isinstance(s, bytes) else s.encode())
            return (
                b"HDTS\0"
                + bytes([len(tokens)])
                + b"".join(text(str(i)) + b"".join(map(text, t)) for i, t in enumerate(tokens))
                + b"\0"
            )

        def ask(
            service,
            tokens=known,
            impostor=False,
            kind="HDFS_DELEGATION_TOKEN",
            password=b"secret",
            url="127.0.0.1:{}",
            server="127.0.0.1",
            protection=0,
        ):
            """The answer for one request with a token of `service`, behind one for somewhere else;
            and the NameNode."""
            namenode, loc = NameNode(answers, tokens, impostor), Localizer(self.place)
            request, _ = loc.fetch(
                f"hdfs://{url.format(namenode.port)}/d/f",
                "f",
                timestamp=STAMP,
                size=len(DATA),
                login="alice",
                servers=f"{server}:{namenode.port}",
                io_timeout_ms=TIMEOUT_MS,
                protection=protection,
                credentials=credentials(
                    (b"second", b"other", "HDFS_DELEGATION_TOKEN", f"127.0.0.2:{namenode.port}"),
                    (b"first", password, kind, service.format(namenode.port)),
                ),
            )
            reply = loc.answer(request)
            loc.close()
            namenode.close()
            return reply, namenode

        for service, url, server in (
            ("127.0.0.1:{}", "127.0.0.1:{}", "127.0.0.1"),
            ("LOCALHOST:{}", "localhost:{}", "localhost"),
            ("127.0.0.1:{}", "localhost:{}", "localhost"),
            ("ha-hdfs:ns1", "ns1", "ns1@127.0.0.1"),
            ("127.0.0.1:{}", "ns1", "ns1@127.0.0.1"),
            ("ha-hdfs:ns1", "", "ns1@127.0.0.1"),  # hdfs:/// of fs.defaultFS
        ):
            reply, namenode = ask(service, url=url, server=server)
            self.report.check(
                f"a token of {service} for {url} at {server}",
                reply.done and namenode.users == [] and namenode.identifiers == [b"first"],
                f"{reply} {namenode.users} {namenode.identifiers}",
            )
        for service, more in (
            ("127.0.0.1:1", {}),
            ("ha-hdfs:ns2", {"url": "ns1", "server": "ns1@127.0.0.1"}),
            ("ha-hdfs:ns1", {"url": "ns1"}),  # no nameservice of the configuration
            ("ha-hdfs:127.0.0.1", {}),
            ("127.0.0.1:{}", {"kind": "WEBHDFS delegation"}),
        ):
            reply, namenode = ask(service, **more)
            self.report.check(
                f"a token of {service} {more}: simple authentication",
                reply.done and namenode.identifiers == [] and set(namenode.users) == {"alice"},
                f"{reply} {namenode.users} {namenode.identifiers}",
            )
        reply, namenode = ask("127.0.0.1:1", protection=SECURE)
        self.report.check(
            "a secure cluster without a token for it: no connection",
            not reply.done
            and reply.reason == "source"
            and "HDFS_DELEGATION_TOKEN" in reply.text
            and not namenode.open,
            f"{reply} {namenode.users}",
        )
        for what, reason, words, more in (
            (
                "that the cluster would wrap",
                "source",
                "hadoop.rpc.protection here asks for privacy",
                PRIVATE,
            ),
            ("expired", "auth", "token is expired", {"tokens": {b"second": b"other"}}),
            ("with another password", "source", "DIGEST-MD5", {"password": b"wrong"}),
            ("of a NameNode that does not know it", "source", "", {"impostor": True}),
            ("that is not wanted", "source", "wants no token", {"tokens": None}),
        ):
            reply, namenode = ask("127.0.0.1:{}", **more)
            self.report.check(
                f"a token {what}: refused",
                not reply.done
                and reply.reason == reason
                and words in reply.text
                and "stack" not in reply.text
                and not namenode.users
                and not namenode.calls,
                f"{reply} {namenode.users} {namenode.calls}",
            )
        good.close()

    def token_of_a_nameservice(self):
        """Each NameNode of the nameservice is told the one token."""
        good = DataNode(fake.good(DATA))
        known = {b"id": b"password"}
        standby = NameNode(
            {"getFileInfo": Exceptional("org.apache.hadoop.ipc.StandbyException", "standby")}, known
        )
        active = NameNode(
            {
                "getFileInfo": fake.status(len(DATA)),
                "getServerDefaults": fake.defaults(),
                "getBlockLocations": fake.located(
                    len(DATA), [fake.block(0, len(DATA), [good.port])]
                ),
            },
            known,
        )
        loc = Localizer(self.place)
        request, _ = loc.fetch(
            "hdfs://ns1/d/f",
            "f",
            timestamp=STAMP,
            size=len(DATA),
            login="alice",
            io_timeout_ms=TIMEOUT_MS,
            servers=f"ns1@127.0.0.1:{standby.port},127.0.0.1:{active.port}",
            credentials=b"HDTS\0\1\1a\2id\x08password\x15HDFS_DELEGATION_TOKEN\x0bha-hdfs:ns1\0",
        )
        reply = loc.answer(request)
        self.report.check(
            "standby and active are told the token",
            reply.done
            and standby.identifiers == [b"id"]
            and active.identifiers == [b"id"]
            and not active.users + standby.users,
            f"{reply} {standby.identifiers} {active.identifiers}",
        )
        loc.close()
        for server in (good, standby, active):
            server.close()
