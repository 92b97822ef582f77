"""What `selvedge doctor` answers, for test-doctor and its cases."""
import json
import os
import subprocess

from cluster import ClusterError


class Doctor:
    """One answer: exit code and findings. `options` are those of every command, `principals` its
    own."""

    def __init__(self, c, account=None, *options, site=None, under=(), principals=()):
        node = c.nodes[0]
        node.site = site or {}
        node.write_conf()
        argv = [f"{c.prefix}/bin/selvedge", "--conf", node.conf_dir, *options, "--json", "doctor"]
        argv += [f"--principal={p}" for p in principals]
        argv = c.as_user(account) + argv if account else argv + ["--user", c.daemon.pw_name]
        done = subprocess.run(
            [*under, *argv],
            capture_output=True,
            text=True,
            cwd="/",
            env=c.daemon_env(node.conf_dir, "doctor"),
        )
        if done.returncode not in (0, 1, 2) or not done.stdout:
            raise ClusterError(f"doctor: {done.returncode}: {done.stdout}{done.stderr}")
        answer = json.loads(done.stdout)
        if answer["exitCode"] != done.returncode:
            raise ClusterError(f"exit code {done.returncode}, told {answer['exitCode']}")
        self.code, self.findings = done.returncode, answer["findings"]

    def find(self, state, area, text):
        found = [
            f
            for f in self.findings
            if f["state"] == state and f["area"] == area and text in f["text"]
        ]
        if not found:
            raise ClusterError(
                f"no {state} of {area} says {text!r}; found: "
                + "; ".join(f"{f['state']} {f['area']}: {f['text']}" for f in self.findings)
            )
        return found[0]

    def bad(self):
        return [f"{f['area']}: {f['text']}" for f in self.findings if f["state"] == "bad"]

    def only_bad(self, area, text):
        """Just this is wrong, and there is a remedy."""
        found = self.find("bad", area, text)
        if len(self.bad()) != 1 or self.code != 2 or not found["remedy"]:
            raise ClusterError(f"{self.code}, {found}, all: {self.bad()}")
        return found


def expect(what, found, wanted):
    if found != wanted:
        raise ClusterError(f"{what}: {found!r}, wanted {wanted!r}")


def with_file(path, change, test):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    st = os.stat(path)
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(change(text))
        test()
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, st.st_mode)
