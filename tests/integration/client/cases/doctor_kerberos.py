"""Findings of `selvedge doctor` on a node with Kerberos, with a KDC of the test's own. Cases of
test-doctor."""
import os
import shutil

from lib.doctor_answers import Doctor, expect
from lib.kdc import REALM, Kdc

NM = f"nm/localhost@{REALM}"
OWN = "selvedge.nodemanager.kerberos."
RULES = (
    r"RULE:[2:$1@$0]([rn]m@KRB\.TEST)s/.*/yarn/ "
    r"RULE:[1:$1@$0](root@KRB\.TEST)s/.*/root/ DEFAULT"
)


class Realm:
    """The KDC of these cases, from the first one on, and a keytab of the daemon's account."""

    kdc = keytab = None

    @classmethod
    def of(cls, c):
        if not cls.kdc:
            cls.kdc = Kdc(f"{c.root}/kdc")
            os.chmod(cls.kdc.root, 0o711)
            cls.kdc.add(NM)
            cls.keytab = cls.kdc.keytab("nm.keytab", NM, uid=c.daemon.pw_uid)
        return cls

    @classmethod
    def end(cls):
        if cls.kdc:
            cls.kdc.stop()
            cls.kdc = None


def site(c, **more):
    realm = Realm.of(c)
    return {
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.auth_to_local": RULES,
        "yarn.nodemanager.address": f"localhost:{c.nodes[0].ports['rpc']}",
        "yarn.nodemanager.principal": f"nm/_HOST@{REALM}",
        "yarn.nodemanager.keytab": realm.keytab,
        "yarn.resourcemanager.principal": f"rm/_HOST@{REALM}",
        OWN + "krb5-conf": realm.kdc.conf,
        OWN + "helper": f"{c.nodes[0].libexec}/selvedge-gss",
        **{k.replace("_", "."): v for k, v in more.items()},
    }


def kerberos(c):
    """As root and as the daemon's account: a ticket, the clock, the key; who this node is."""
    for account in (None, c.daemon):
        d = Doctor(c, account, site=site(c))
        expect("bad", d.bad(), [])
        d.find("ok", "Kerberos", f"this node is {NM}: _HOST is localhost")
        d.find("ok", "krb5.conf", f"default realm {REALM}")
        d.find("ok", "keytab", "mode 0400")
        d.find("ok", "keytab", f"{NM}, kvno")
        d.find("ok", "KDC", f"{NM}: a ticket after")
        d.find("ok", "KDC", "the KDC's clock is")
        d.find("ok", "keytab", f"has the key of tickets for {NM}")
        d.find("ok", "rules", f"{NM} is yarn by rule 1, RULE:[2:$1@$0]")
        d.find("weak", "Kerberos", "with its own account")
    d = Doctor(c, c.users[0], site=site(c))
    d.find("note", "Kerberos", "keytab and KDC: not checked")
    d.find("ok", "krb5.conf", f"default realm {REALM}")


def open_kerberos(c):
    """Tickets, and doors that ask for none."""
    d = Doctor(c, None, site=site(c))
    d.find("weak", "Kerberos", "service authorization is off")
    d.find("weak", "Kerberos", "yarn.acl.enable is off")
    web = d.find("weak", "Kerberos", "StaticUserWebFilter")
    expect("the remedy", "AuthenticationFilterInitializer" in web["remedy"], True)
    d.find("note", "Kerberos", "hadoop.rpc.protection is authentication")
    d.find("note", "Kerberos", "dfs.data.transfer.protection is not set")
    more = {
        "hadoop.rpc.protection": "privacy",
        "dfs.data.transfer.protection": "privacy",
        "yarn.acl.enable": "true",
        "yarn.admin.acl": c.daemon.pw_name,
    }
    d = Doctor(c, None, site={**site(c), **more})
    d.find("ok", "Kerberos", "yarn.acl.enable is on")
    d.find("ok", "Kerberos", "hadoop.rpc.protection is privacy")
    d.find("ok", "Kerberos", "dfs.data.transfer.protection is privacy")


def broken_kerberos(c):
    realm = Realm.of(c)
    d = Doctor(c, None, site={**site(c), "yarn.nodemanager.keytab": "/nowhere/keytab"})
    d.find("bad", "keytab", "/nowhere/keytab")
    os.chmod(realm.keytab, 0o440)
    expect(
        "remedy",
        "mode 0400" in Doctor(c, None, site=site(c)).find("bad", "keytab", "mode 0440")["remedy"],
        True,
    )
    os.chmod(realm.keytab, 0o400)
    inside = f"{c.nodes[0].local_dirs[0]}/nm.keytab"
    shutil.copy2(realm.keytab, inside)
    os.chown(inside, c.daemon.pw_uid, -1)
    d = Doctor(c, None, site={**site(c), "yarn.nodemanager.keytab": inside})
    d.find("bad", "keytab", "a directory of jobs")
    os.unlink(inside)
    other = f"nm/other@{REALM}"
    d = Doctor(c, None, site={**site(c), "yarn.nodemanager.principal": other})
    d.find("bad", "keytab", f"no keytab has a key of {other}")
    d = Doctor(c, None, site={**site(c), OWN + "helper": "/nowhere/selvedge-gss"})
    d.only_bad("Kerberos", "/nowhere/selvedge-gss: No such file")
    d = Doctor(c, None, site={**site(c), OWN + "helper": "/bin/false"})
    d.only_bad("Kerberos", "ended with status 1")
    realm.kdc.stop()
    try:
        d = Doctor(c, None, site=site(c))
        expect("remedy", "port 88" in d.only_bad("KDC", "Cannot contact any KDC")["remedy"], True)
    finally:
        realm.kdc.start()
    d = Doctor(c, None, site={**site(c), OWN + "krb5-conf": "/nowhere/krb5.conf"})
    d.find("bad", "configuration", "/nowhere/krb5.conf")


def principals(c):
    """The rule that decided, and whether containers can run as what it made."""
    user = c.users[0].pw_name
    d = Doctor(
        c,
        None,
        site=site(c),
        principals=(
            f"{user}@{REALM}",
            f"no-such-account@{REALM}",
            f"daemon@{REALM}",
            f"root@{REALM}",
            "eve@ELSEWHERE.ORG",
        ),
    )
    d.find("ok", "rules", f"{user}@{REALM} is {user} by rule 3, DEFAULT: uid {c.users[0].pw_uid}")
    d.find("bad", "rules", "no-such-account by rule 3, DEFAULT: this account does not exist here")
    d.find("weak", "rules", f"daemon@{REALM} is daemon by rule 3, DEFAULT: uid 1 is below min")
    d.find("bad", "rules", f"root@{REALM} is root by rule 2")
    d.find("bad", "rules", 'principal "eve@ELSEWHERE.ORG": none of the 3 rules')
    d = Doctor(c, None, principals=("alice@X",))
    d.find("note", "Kerberos", "hadoop.security.authentication is simple")
