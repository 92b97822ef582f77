"""Files in encryption zones: their keys from a KMS, and KMSs and NameNodes that lie about them.
Cases of test-hdfs-peers."""
import base64
import os

from lib import scripted_hdfs as fake
from lib.hdfs_reads import DATA, HdfsReads
from lib.localizer_process import Localizer
from lib.scripted_hdfs import DataNode, NameNode
from lib.scripted_kms import Kms, encrypt, exception, key_answer

KEY, ENCRYPTED, IV = bytes(range(16)), b"\xfb\xef\xff" + bytes(13), b"\xff" * 15 + b"\xfe"


def credentials(tokens, secrets=()):
    """(kind, service) of tokens, (name, text) of secrets."""
    text = lambda s: bytes([len(s)]) + s.encode()
    return (
        b"HDTS\0"
        + bytes([len(tokens)])
        + b"".join(
            text(str(i)) + text("id") + text("pw") + text(kind) + text(service)
            for i, (kind, service) in enumerate(tokens)
        )
        + bytes([len(secrets)])
        + b"".join(text(name) + text(value) for name, value in secrets)
    )


class Zones(HdfsReads):
    def answers(self, node, kms, info=None, provider=None, **change):
        """A NameNode's, for a file whose two blocks are at `node`."""
        n, first = len(DATA), 6001
        more = fake.field(6, info or fake.encryption(ENCRYPTED, IV, "a key", "a key@0"))
        return {
            "getFileInfo": fake.status(n, flags=2),
            "getServerDefaults": fake.defaults(
                provider=kms.uri() if provider is None else provider
            ),
            "getBlockLocations": fake.located(
                n,
                [
                    fake.block(0, first, [node.port]),
                    fake.block(first, n - first, [node.port], number=2),
                ],
                more=more,
            ),
            **change,
        }

    def datanode(self, key=KEY):
        """Serves the encrypted file's blocks: 1073741825, and 2 behind it."""
        data = encrypt(DATA, key, IV)

        def script(peer, offset, _length):
            number = fake.fields(fake.fields(fake.fields(node.reads[-1][1][0])[1][0])[1][0])[2][0]
            peer.sendall(fake.stream(data[6001:] if number == 2 else data[:6001], start=offset))

        node = DataNode(script)
        return node

    def read(self, name, kms, wanted=True, **more):
        node = self.datanode()
        reply, at, namenode = self.one(self.answers(node, kms, **more))
        good = reply.done and reply.size == len(DATA)
        if good:
            with open(os.path.join(at, "f"), "rb") as f:
                good = f.read() == DATA
        self.report.check(f"a file in an encryption zone, {name}", good == wanted, str(reply))
        node.close()
        return namenode

    def zones(self):
        kms = Kms((200, key_answer(KEY)))
        namenode = self.read("of two blocks", kms)
        path, token, body = kms.requests[0]
        self.report.check(
            "the KMS is asked once, for the file's key, as the user",
            len(kms.requests) == 1
            and path == "/kms/v1/keyversion/a%20key%400/_eek?eek_op=decrypt&user.name=alice"
            and token is None
            and body
            == {
                "name": "a key",
                "iv": base64.b64encode(IV).decode(),
                "material": base64.b64encode(ENCRYPTED).decode(),
                "type": "application/json",
            },
            kms.requests,
        )
        self.report.check(
            "the NameNode is asked for its key provider once more",
            len(namenode.called("getServerDefaults")) == 2,
            namenode.calls,
        )
        kms.requests.clear()
        self.read(
            "of a KMS whose other server is away", kms, provider=kms.uri("127.0.0.2;127.0.0.1")
        )
        kms.requests.clear()
        reply, _, _ = self.one(
            {
                "getFileInfo": fake.status(0, flags=2),
                "getBlockLocations": fake.located(0, [], more=fake.field(6, fake.encryption())),
            },
            size=0,
        )
        self.report.check(
            "an empty file in an encryption zone needs no key",
            reply.done and reply.size == 0 and not kms.requests,
            f"{reply} {kms.requests}",
        )
        kms.close()

    def zone_users(self):
        kms = Kms((200, key_answer(KEY)))
        node = self.datanode()
        for name, tokens, secrets, provider, wanted in (
            ("its uri", [("kms-dt", kms.uri())], (), kms.uri(), True),
            ("its address", [("kms-dt", f"127.0.0.1:{kms.port}")], (), kms.uri(), True),
            ("another one", [("kms-dt", "127.0.0.1:1")], (), kms.uri(), False),
            ("another uri", [("kms-dt", "kms://http@evil:9600/kms")], (), kms.uri(), False),
        ):
            kms.requests.clear()
            namenode, loc = NameNode(self.answers(node, kms, provider=provider)), Localizer(
                self.place
            )
            request, _ = self.fetch(loc, namenode, "/d/f", credentials=credentials(tokens, secrets))
            reply = loc.answer(request)
            loc.close()
            namenode.close()
            path, token, _ = kms.requests[0]
            self.report.check(
                f"a token of {name}: {'it' if wanted else 'the name'} is sent",
                reply.done
                and (token is not None) == wanted
                and ("user.name=alice" in path) == (not wanted),
                f"{reply} {kms.requests}",
            )
        other = Kms((404, b""))
        kms.requests.clear()
        namenode, loc = NameNode(self.answers(node, other)), Localizer(self.place)
        request, _ = self.fetch(
            loc,
            namenode,
            "/d/f",
            credentials=credentials([], [(f"dfs-kms-hdfs://127.0.0.1:{namenode.port}", kms.uri())]),
        )
        reply = loc.answer(request)
        self.report.check(
            "the provider of the job's credentials comes before the NameNode's",
            reply.done and len(kms.requests) == 1 and not other.requests,
            f"{reply} {other.requests}",
        )
        loc.close()
        for server in (namenode, node, kms, other):
            server.close()

    def zones_refused(self):
        def silent(handler):
            handler.server.done.wait(60)

        def endless(handler):
            handler.send_response(200)
            handler.end_headers()
            while True:
                handler.wfile.write(b" " * 4096)

        def broken(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.wfile.write(key_answer(KEY)[:20])
            handler.close_connection = True

        def elsewhere(handler):
            handler.send(307, b"", Location=f"http://127.0.0.1:{handler.server.port}/other")

        node, all_of_them, cases = self.datanode(), [], []

        def refused(name, answer, words, **more):
            kms = Kms(answer)
            all_of_them.append(kms)
            reason = "auth" if "the login" in words else "source"
            cases.append((name, self.answers(node, kms, **more), reason, words, {}))

        good = (200, key_answer(KEY))
        for name, answer, words in (
            (
                "denies the key",
                (403, exception("AuthorizationException", "not alice\nx")),
                "not alice (",
            ),
            ("does not know the user", (401, b"<html>"), "it refuses the login"),
            ("fails", (500, exception("IOException", "no keys today")), "no keys today"),
            ("fails without words", (500, b"\xff" * 9000), "it answers no key (HTTP status 500)"),
            ("is another server", (404, b""), "it answers no key"),
            ("redirects", elsewhere, "HTTP status 307"),
            ("has a short key", (200, key_answer(KEY[:15])), "its answer has no key of 16 bytes"),
            ("has a long key", (200, key_answer(KEY + KEY)), "its answer has no key of 16 bytes"),
            ("answers no JSON", (200, b"{"), "its answer has no key"),
            ("answers a megabyte", (200, b" " * (1 << 20)), "its answer is too long"),
            ("never ends", endless, "its answer is too long"),
            ("breaks off", broken, "KMS 127.0.0.1:"),
            ("is silent", silent, "KMS 127.0.0.1:"),
        ):
            refused(f"a KMS that {name}", answer, words)
        for name, provider, words in (
            ("no KMS", "", "names no key provider"),
            ("a key store", "jceks://file/keys", "jceks://file/keys, which is not supported"),
            ("a cloud's metadata", "kms://http@169.254.169.254:80/kms", "KMS 169.254.169.254:80"),
            ("a long uri", "kms://http@h:1/" + "x" * 2000, "too long a uri"),
        ):
            refused(f"a NameNode that names {name}", good, words, provider=provider)
        for name, info, words in (
            ("a cipher of its own", fake.encryption(suite=3), "it is encrypted by cipher 3"),
            ("a key of 17 bytes", fake.encryption(bytes(17)), "key of 17 bytes"),
            ("a short vector", fake.encryption(iv=bytes(15)), "an invalid vector or name"),
            (
                "a key's name with a path",
                fake.encryption(version="../x"),
                "an invalid vector or name",
            ),
            ("a long name", fake.encryption(name="k" * 256), "an invalid vector or name"),
        ):
            refused(f"a NameNode with {name}", good, words, info=info)
        self.all_refused(cases)
        for server in (node, *all_of_them):
            server.close()
