"""Accounts of an LDAP server on this machine, which its name services know through SSSD: slapd and
sssd as processes of the test, in its mount namespace, whose /etc is its own."""
import os
import re
import subprocess

from cluster.host import free_port, wait_for

PATIENCE = 300  # a limit for hangs: the machine is emulated


def entry(name, classes, **values):
    lines = [f"dn: {name}", *(f"objectClass: {c}" for c in classes)]
    for key, found in values.items():
        lines += [f"{key}: {v}" for v in (found if isinstance(found, list) else [found])]
    return "\n".join(lines) + "\n\n"


def user(name, uid, gid):
    return entry(
        f"uid={name},dc=test",
        ["account", "posixAccount"],
        uid=name,
        cn=name,
        uidNumber=uid,
        gidNumber=gid,
        homeDirectory=f"/home/{name}",
        loginShell="/bin/bash",
    )


def group(name, gid, members):
    return entry(
        f"cn={name},dc=test",
        ["posixGroup"],
        cn=name,
        gidNumber=gid,
        **({"memberUid": members} if members else {}),
    )


class Ldap:
    """`directory`: a new one for both servers' files. `entries`: text in LDIF."""

    def __init__(self, directory, entries):
        self.dir, self.processes = directory, []
        os.makedirs(f"{directory}/data")
        self.port = free_port()
        self._slapd(entries)
        self._sssd()

    def _run(self, name, argv):
        with open(f"{self.dir}/{name}.log", "w", encoding="utf-8") as log:
            self.processes.append(
                subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            )

    def _slapd(self, entries):
        with open(f"{self.dir}/slapd.conf", "w", encoding="utf-8") as f:
            f.write(
                "".join(f"include /etc/ldap/schema/{s}.schema\n" for s in ("core", "cosine", "nis"))
                + "modulepath /usr/lib/ldap\nmoduleload back_mdb\ndatabase mdb\nsuffix dc=test\n"
                f"maxsize 16777216\ndirectory {self.dir}/data\n"
            )
        top = entry("dc=test", ["dcObject", "organization"], dc="test", o="test")
        subprocess.run(
            ["slapadd", "-q", "-f", f"{self.dir}/slapd.conf"],
            input=top + entries,
            text=True,
            check=True,
        )
        argv = ["slapd", "-d", "0", "-f", f"{self.dir}/slapd.conf"]
        self._run("slapd", [*argv, "-h", f"ldap://127.0.0.1:{self.port}"])

    def _sssd(self):
        with open(f"{self.dir}/sssd.conf", "w", encoding="utf-8") as f:
            os.fchmod(f.fileno(), 0o600)
            f.write(
                "[sssd]\nservices = nss\ndomains = test\n[domain/test]\nid_provider = ldap\n"
                "auth_provider = none\naccess_provider = permit\nldap_schema = rfc2307\n"
                f"ldap_uri = ldap://127.0.0.1:{self.port}\nldap_search_base = dc=test\n"
            )
        # In the order of Red Hat's authselect, in which the service is asked before the files.
        with open("/etc/nsswitch.conf", encoding="utf-8") as f:
            text = re.sub(r"^(passwd|group):.*$", r"\1: sss files", f.read(), flags=re.M)
        with open("/etc/nsswitch.conf", "w", encoding="utf-8") as f:
            f.write(text)
        self._run("sssd", ["sssd", "-i", "--logger=stderr", "-c", f"{self.dir}/sssd.conf"])

    def wait(self, name):
        """Until the machine knows the account, with its groups."""
        wait_for(lambda: "uid=" in self._id(name), PATIENCE, f"SSSD knows {name}")

    def _id(self, name):
        return subprocess.run(["id", name], capture_output=True, text=True, check=False).stdout

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(PATIENCE)
