"""Kerberos on a node with SELinux enforcing: selvedge-gss in its type, for the types of
NodeManager and ResourceManager and not for containers. Cases of test-selinux."""
import contextlib
import os
import pwd
import shutil
import subprocess

from cases.selinux_jobs import Machine, denials
from cluster import host
from realm import HOST, NM, REALM, Realm, admin
from selinuxlib import context, expect, label, tool

KEYTABS = "/etc/security/keytabs"
KEYTAB = f"{KEYTABS}/nm.service.keytab"
SOCKET = "/run/selvedge-gss/socket"
RM, RM_SOCKET = f"rm/{HOST}@{REALM}", "/run/selvedge-gss-rm/socket"
RM_KEYTAB = f"{KEYTABS}/rm.service.keytab"
DRIVER = f"{os.environ['BUILD']}/tests/integration/gss/gss-driver"
# The NodeManager's part by another program, in the NodeManager's type.
CALLER = "/usr/local/sbin/asks-for-tickets"


def labelled_copy(source, path, kind):
    shutil.copy(source, path)
    os.setxattr(path, "security.selinux", f"system_u:object_r:{kind}:s0\0".encode())
    return path


def asks(mode, *options):
    tool(
        "systemd-run",
        "--quiet",
        "--unit=asks-for-tickets",
        "--uid=yarn",
        *options,
        CALLER,
        "--helper=/none",
        f"--socket={SOCKET}",
        f"--principal={NM}",
        mode,
    )


def helpers(account="selvedge-gss"):
    """Processes of selvedge-gss."""
    found = []
    for pid in host.processes_of({pwd.getpwnam(account).pw_uid}):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="ascii") as f:
            if f.read() == "selvedge-gss\n":
                found.append(pid)
    return found


def of_the_resourcemanager():
    """In its type it asks the helper of its own socket, which has its keytab."""
    asker = labelled_copy(DRIVER, "/usr/local/sbin/asks-as-the-rm", "selvedge_rm_exec_t")
    mark = denials.mark()
    admin(f"addprinc -randkey {RM}")
    admin(f"ktadd -norandkey -k {RM_KEYTAB} {RM}")
    os.chmod(RM_KEYTAB, 0o400)
    tool("restorecon", "-RF", KEYTABS)
    tool("systemctl", "start", "selvedge-gss-rm.socket")
    expect("the socket", label(RM_SOCKET), "system_u:object_r:selvedge_gss_sock_t:s0")
    unit, account = "asks-as-the-rm", "selvedge-gss-rm"
    argv = ["systemd-run", "--quiet", f"--unit={unit}", "--uid=yarn"]
    command = [asker, "--helper=/none", f"--socket={RM_SOCKET}", f"--principal={RM}"]
    tool(*argv, "--wait", *command, "login")
    said = tool("journalctl", "-b", "--no-pager", "-u", unit)
    expect(f"a ticket: {said}", "ticket for" in said, True)
    tool(*argv, *command, "renewal")
    host.wait_for(lambda: helpers(account), 60, "selvedge-gss")
    expect(
        "the helper's type",
        {context(p) for p in helpers(account)},
        {"system_u:system_r:selvedge_gss_t:s0"},
    )
    asking = int(tool("systemctl", "show", "-P", "MainPID", unit))
    expect("the caller's", context(asking), "system_u:system_r:selvedge_rm_t:s0")
    tool("systemctl", "stop", unit)
    host.wait_for(lambda: not helpers(account), 60, "selvedge-gss ends")
    subprocess.run(["systemctl", "reset-failed", unit], capture_output=True)
    tool("systemctl", "stop", "selvedge-gss-rm.socket")
    denials.none(mark)


def tickets(realm):
    """A login; then a helper at work, whose type is seen."""
    mark = denials.mark()
    asks("login", "--wait")
    said = tool("journalctl", "-b", "--no-pager", "-u", "asks-for-tickets")
    expect(f"a ticket: {said}", "ticket for" in said, True)
    asks("renewal")
    host.wait_for(helpers, 60, "selvedge-gss")
    expect("its type", {context(p) for p in helpers()}, {"system_u:system_r:selvedge_gss_t:s0"})
    pid = int(tool("systemctl", "show", "-P", "MainPID", "asks-for-tickets"))
    expect("the caller's", context(pid), "system_u:system_r:selvedge_nm_t:s0")
    tool("systemctl", "stop", "asks-for-tickets")
    host.wait_for(lambda: not helpers(), 60, "selvedge-gss ends")
    realm.stop()
    subprocess.run(["systemctl", "reset-failed", "asks-for-tickets"], capture_output=True)
    subprocess.run(
        ["systemd-run", "--quiet", "--wait", "--unit=asks-for-tickets", "--uid=yarn", CALLER]
        + ["--helper=/none", f"--socket={SOCKET}", f"--principal={NM}", "login"],
        capture_output=True,
        check=False,
    )
    said = tool("journalctl", "-b", "--no-pager", "-u", "asks-for-tickets")
    expect(f"no KDC: {said}", "Cannot contact any KDC" in said, True)
    subprocess.run(["systemctl", "reset-failed", "asks-for-tickets"], capture_output=True)
    realm.start()
    denials.none(mark)


def containers():
    """Modes are opened: only the policy keeps a job from keytab and socket. It reads krb5.conf."""
    connect = (
        "python3 -c 'import socket; "
        f'socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect("{SOCKET}")\''
    )
    tries = {"keytab": f"cat {KEYTAB}", "socket": connect, "krb5.conf": "cat /etc/krb5.conf"}
    script = "\n".join(
        f"({command}) >/dev/null 2>&1 && echo '{name}' >>$1/did" for name, command in tries.items()
    )
    Machine.node.restart("host")
    mark = denials.mark()
    for path, mode in ((KEYTABS, 0o755), (KEYTAB, 0o644), (SOCKET, 0o666)):
        os.chmod(path, mode)
    c = Machine.node.start(f"{script}\ntouch $1/up")
    c.ends()
    expect("what a container could do", c.log("did").splitlines(), ["krb5.conf"])
    denied = denials.since(mark)
    expect("denied to", {d[0] for d in denied}, {"container"})
    expect("kept from", {d[1] for d in denied} >= {"keytab", "gss_sock"}, True)
    c.finish()


def kerberos():
    """systemd starts selvedge-gss with a copy of the keytab, which nobody else of ours reads; the
    KDC is away and back; a container that may do what modes allow gets neither keytab nor
    tickets."""
    kdc = labelled_copy("/usr/sbin/krb5kdc", "/usr/local/sbin/a-kdc", "bin_t")
    labelled_copy(DRIVER, CALLER, "selvedge_nm_exec_t")
    realm = Realm(kdc)
    os.makedirs(KEYTABS, 0o700, exist_ok=True)
    admin(f"addprinc -randkey {NM}")
    admin(f"ktadd -k {KEYTAB} {NM}")
    os.chmod(KEYTAB, 0o400)
    tool("restorecon", "-RF", KEYTABS, "/etc/krb5.conf")
    expect("the keytab", label(KEYTAB), "system_u:object_r:selvedge_keytab_t:s0")
    expect(
        "the program",
        label("/usr/libexec/selvedge/selvedge-gss"),
        "system_u:object_r:selvedge_gss_exec_t:s0",
    )
    tool("systemctl", "start", "selvedge-gss.socket")
    expect("the socket", label(SOCKET), "system_u:object_r:selvedge_gss_sock_t:s0")
    tickets(realm)
    containers()
    tool("systemctl", "stop", "selvedge-gss.socket")
    of_the_resourcemanager()
    realm.remove()
    shutil.rmtree(KEYTABS)
