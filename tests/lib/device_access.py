"""Which devices a control group may open, and programs of the helper that open them. For
test-cgroup-and-devices and its cases."""
import errno
import os
import shutil
import socket

from lib.helper_request import LOCALIZE, PRIVATE, PUBLIC, request

GPU = "[gpu]\nmodule.enabled=true\n"


def opens(group, name):
    """What root gets from a device in this group: the filter's word alone."""
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            with open(group + "/cgroup.procs", "w", encoding="ascii") as f:
                f.write("0")
            os.close(os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK))
        except OSError as e:
            code = e.errno
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return errno.errorcode.get(code, "OPEN")


def localize(g, what=PRIVATE):
    """The status of a localizer; its program, which may run yet when this returns, is replaced by
    the next."""
    shutil.copy("/bin/true", g.libexec + "/container-localizer.new")
    os.rename(g.libexec + "/container-localizer.new", g.libexec + "/container-localizer")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    whose = {} if what == PUBLIC else dict(ts=g.TS, app=1, user=g.a.pw_name)
    pid, sock = g.start(request(LOCALIZE, local=3, what=what, **whose), [theirs.fileno()])
    reply = g.receive(sock)
    for s in (sock, ours, theirs):
        s.close()
    os.waitpid(pid, 0)
    for fd in reply.fds:
        os.close(fd)
    return reply.status
