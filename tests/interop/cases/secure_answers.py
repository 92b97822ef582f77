"""Classes and texts of what a secure ResourceManager refuses over RPC, on which clients act: our
client (tests/integration/rm-lite/rm-kerberos) asks two ResourceManagers of one configuration the
same, by ticket, by token, in another's name, with nothing but a name. For test-secure-rest."""
import os
import re
import subprocess

from interop import hadoop

PROGRAM = "tests/integration/rm-lite/rm-kerberos"


class Row:
    """`who` sends the command and its words to the port; "{token}" in them is `owner`'s token, with
    the renewer yarn. `differs`: ours says it in its own words, for that reason; "{class}": only the
    class is the same."""

    def __init__(self, name, who, port, *command, owner=None, differs=""):
        self.name, self.who, self.port, self.command = name, who, port, command
        self.owner, self.differs = owner, differs


def rows(alice, mallory, yarn, oozie):
    return [
        Row("a ticket", alice, "client", "metrics"),
        Row("a name alone, 8032", alice, "client", "simple"),
        Row("a name alone, 8033", alice, "admin", "simple"),
        Row("a name alone, 8031", alice, "tracker", "simple"),
        Row("a name alone, 8030", alice, "scheduler", "simple"),
        Row("a ticket, 8030", alice, "scheduler", "metrics"),
        Row("in another's name", oozie, "client", "metrics", "alice"),
        Row("in the name of somebody else", oozie, "client", "metrics", "mallory"),
        Row("a user in another's name", alice, "client", "metrics", "mallory"),
        Row("a token, a call by it, a token for it", alice, "client", "token", "yarn/any@KRB.TEST"),
        Row("renewed by who is not the renewer", alice, "client", "renew", "yarn"),
        Row("renewed", yarn, "client", "renew", "yarn"),
        Row("a token without a renewer, renewed", alice, "client", "renew", ""),
        Row("a stranger renews", mallory, "client", "renew-it", "{token}", owner=alice),
        Row("a stranger cancels", mallory, "client", "cancel-it", "{token}", owner=alice),
        Row("a forged password", mallory, "client", "forge-it", "{token}", owner=alice),
        Row("cancelled", alice, "client", "cancel-it", "{token}", owner=alice),
        Row("cancelled by the renewer", yarn, "client", "cancel-it", "{token}", owner=alice),
        Row("administration by a user", alice, "admin", "refresh"),
        Row("administration", yarn, "admin", "refresh"),
    ]


class Asked:
    """What a ResourceManager has answered, by row."""

    def __init__(self, c, kdc, keytabs, server, table):
        self.c, self.kdc, self.keytabs, self.server = c, kdc, keytabs, server
        self.answers = {row.name: self.ask(row) for row in table}

    def call(self, who, port, *command):
        done = subprocess.run(
            [f"{hadoop.BUILD}/{PROGRAM}", f"{hadoop.BUILD}/selvedge-gss", self.kdc.conf]
            + [self.keytabs[who], who, self.server, str(self.c.ports[port]), *command],
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.returncode} {done.stderr}")
        return done.stdout

    def ask(self, row):
        command = row.command
        if row.owner:
            token = self.call(row.owner, "client", "show", "yarn").removeprefix("ok ").strip()
            command = [word.replace("{token}", token) for word in command]
        return plain(self.call(row.who, row.port, *command))


def plain(text):
    """Without what two runs never share."""
    text = re.sub(r"(\w*(?:Number|KeyId)=)-?\d+", r"\1N", text)
    text = re.sub(r"\b\d{13}\b", "TIME", text)
    return re.sub(r"(from IP |: )127\.0\.0\.1\b", r"\1ADDRESS", text)


def compare(row, theirs, ours):
    if row.differs:  # the class is Hadoop's
        theirs, ours = (re.sub(r"^(\S+?):? .*", r"\1", text) for text in (theirs, ours))
    assert ours == theirs, f"{ours}; Apache's: {theirs}"


def needs():
    if not os.path.exists(f"{hadoop.BUILD}/{PROGRAM}"):
        raise hadoop.Unavailable(f"{PROGRAM}: not built")
