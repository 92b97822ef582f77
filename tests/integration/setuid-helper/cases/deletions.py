"""What the helper deletes for the daemon, also of directories that change meanwhile, and what it
leaves. Cases of test-paths-and-deletion."""
import os
import signal
import subprocess

from lib.helper_fixture import PATIENCE
from lib.helper_request import (
    APPLICATION,
    DELETE,
    DELETE_APP,
    DELETE_APP_LOGS,
    DELETE_CONTAINER,
    DELETE_CONTAINER_LOGS,
    DELETE_PUBLIC,
    DELETE_RESOURCE,
    INIT_APP,
    PRIVATE,
    PUBLIC,
    STATUS,
    request,
)


def refilled(t, g):
    """Another container of the application fills the directory as fast as it is emptied: the
    deletion ends."""
    c = g.run("exit 0\n")
    filler = os.fork()
    if filler == 0:
        os.setresgid(g.a.pw_gid, g.a.pw_gid, g.a.pw_gid)
        os.setresuid(g.a.pw_uid, g.a.pw_uid, g.a.pw_uid)
        os.chdir(g.work_dir(c))
        n = 0
        while True:
            n += 1
            try:
                os.close(os.open("f%d" % n, os.O_CREAT | os.O_WRONLY, 0o600))
            except OSError:
                pass  # the directory may really be gone now and then
    data = request(
        DELETE,
        what=DELETE_CONTAINER,
        ts=g.TS,
        app=1,
        attempt=1,
        container=c.seq,
        user=g.a.pw_name,
        local=1,
    )
    pid, sock = g.start(data)
    try:
        r = g.receive(sock, 60 + 2 * PATIENCE)  # it gives up after 60
        t.check(
            r.status in (0, STATUS["DELETE"]),
            "the deletion of a tree that is refilled ends (27)",
            r,
        )
    except TimeoutError:
        t.check(
            False,
            "the deletion of a tree that is refilled ends (27)",
            "not within %d s" % (60 + 2 * PATIENCE),
        )
        os.kill(pid, signal.SIGKILL)
    os.kill(filler, signal.SIGKILL)
    os.waitpid(filler, 0)
    sock.close()
    os.waitpid(pid, 0)
    t.equal(g.status(data), 0, "and does its work when nobody refills it")


def deletion(t, g):
    def tree(base):
        os.makedirs(base + "/d/closed/in")
        open(base + "/d/closed/in/f", "w").close()
        os.mkfifo(base + "/fifo")
        os.symlink("/etc/passwd", base + "/link")
        os.symlink(g.base + "/canary", base + "/dirlink")
        os.link(g.base + "/canary/file", base + "/hard")
        os.mkdir(base + "/" + "n" * 255)
        os.mkdir(base + "/sticky", 0o1777)
        at = os.open(base, os.O_RDONLY)  # 3,000 levels: longer than any path can be
        for _ in range(3000):
            os.mkdir("x", dir_fd=at)
            n = os.open("x", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = n
        os.close(at)
        for i in range(2000):
            open("%s/file%d" % (base, i), "w").close()
        subprocess.run(["chown", "-hR", "%d:%d" % (g.a.pw_uid, g.nm.pw_gid), base], check=True)
        os.chmod(base + "/d/closed", 0)

    os.mkdir(g.base + "/canary")
    open(g.base + "/canary/file", "w").write("x")
    t.equal(
        g.status(request(INIT_APP, ts=g.TS, app=20, user=g.b.pw_name, local=3, log=1)),
        0,
        "directories of another user",
    )
    c = g.run("exit 0\n")
    tree(g.work_dir(c) + "/tree")
    os.chown(g.base + "/canary/file", 0, 0)
    delete = lambda what, **kw: g.call(
        request(DELETE, what=what, **dict(dict(ts=g.TS, user=g.a.pw_name), **kw))
    )
    r, _ = delete(DELETE_CONTAINER, app=1, attempt=1, container=c.seq, local=3)
    t.equal(r.status, 0, "a hostile tree is deleted (26, 27)")
    if r.status:
        print(r)
    t.check(not os.path.lexists(g.work_dir(c)), "all of it (27)")
    t.equal(open(g.base + "/canary/file").read(), "x", "and nothing behind its links (26)")
    r, _ = delete(DELETE_CONTAINER, app=1, attempt=1, container=c.seq, local=3)
    t.equal(r.status, 0, "what is not there is deleted")
    r, _ = delete(DELETE_CONTAINER_LOGS, app=1, attempt=1, container=c.seq, log=1)
    t.equal(r.status, 0, "container logs are deleted")
    # A mount inside the tree stays and is reported.
    c = g.run("mkdir m; exit 0\n")
    m = g.work_dir(c) + "/m"
    subprocess.run(["mount", "--bind", g.base + "/canary", m], check=True)
    r, _ = delete(DELETE_CONTAINER, app=1, attempt=1, container=c.seq, local=3)
    t.equal(r.status, STATUS["DELETE"], "a mount in the tree is not crossed (26)")
    subprocess.run(["umount", m], check=True)
    t.equal(os.listdir(g.base + "/canary"), ["file"], "and what is mounted stays (26)")
    # Another user's tree.
    r, _ = delete(DELETE_APP, app=20, local=3)
    t.equal(r.status, 0, "deletion as the wrong user finds nothing")
    t.check(
        os.path.isdir("%s/usercache/%s/appcache/%s" % (g.locals[0], g.b.pw_name, g.aid(20))),
        "and the right user's directory stays (26)",
    )
    # An ancestor that is a link.
    apps = "%s/usercache/%s/appcache" % (g.locals[0], g.b.pw_name)
    os.rename(apps, apps + ".x")
    os.symlink(g.base + "/canary", apps)
    os.mkdir(g.base + "/canary/" + g.aid(20))
    r, _ = delete(DELETE_APP, app=20, local=1, user=g.b.pw_name)
    t.check(
        r.status == STATUS["DELETE"] and os.path.isdir(g.base + "/canary/" + g.aid(20)),
        "an ancestor that is a link is refused (26)",
        r,
    )
    os.unlink(apps)
    os.rename(apps + ".x", apps)
    for what, kw in (
        (0, {}),
        (8, {}),
        (DELETE_APP, dict(local=3)),
        (DELETE_RESOURCE, dict(local=3)),
    ):
        r, _ = delete(what, **kw)
        t.equal(r.status, STATUS["REQUEST"], "DELETE kind %d without its identifiers" % what)
    # Resources, by id in the cache's hierarchy: directory 37 + 1 is 0/1.
    cache = "%s/usercache/%s/filecache" % (g.locals[0], g.a.pw_name)
    for p in ("10/f", "0/0/11/f", "0/1/12_tmp/f", "z/13/f"):
        os.makedirs(os.path.dirname(cache + "/" + p))
        open(cache + "/" + p, "w").close()
    subprocess.run(["chown", "-R", "%d:%d" % (g.a.pw_uid, g.nm.pw_gid), cache], check=True)
    for rid, number, path in (
        (10, 0, "10"),
        (11, 37, "0/0/11"),
        (12, 38, "0/1/12_tmp"),
        (13, 36, "z/13"),
    ):
        r = g.call(
            request(
                DELETE,
                what=DELETE_RESOURCE,
                visibility=PRIVATE,
                resource=rid,
                resource_dir=number,
                user=g.a.pw_name,
                local=1,
            )
        )[0]
        t.check(
            r.status == 0 and not os.path.exists(cache + "/" + path),
            "resource %s is deleted" % path,
            r,
        )
    # Two deletions of one tree at the same time.
    c = g.run("exit 0\n")
    tree(g.work_dir(c) + "/tree")
    rs = []
    data = request(
        DELETE,
        what=DELETE_CONTAINER,
        ts=g.TS,
        app=1,
        attempt=1,
        container=c.seq,
        user=g.a.pw_name,
        local=1,
    )
    started = [g.start(data) for _ in range(2)]
    for pid, sock in started:
        rs.append(g.receive(sock))
        sock.close()
        os.waitpid(pid, 0)
    t.check(
        any(r.status == 0 for r in rs) and not os.path.exists(g.work_dir(c)),
        "two deletions at once",
        rs,
    )
    refilled(t, g)


def owned(path, user, group, mode=0o2750):
    os.mkdir(path)
    os.chown(path, user.pw_uid, group)
    os.chmod(path, mode)


def deletion_of_several(t, g):
    """Directories of several containers by one request (26)."""
    first, *rest, spared, last = [g.run("exit 0\n") for _ in range(5)]
    work = [g.work_dir(c) for c in (first, *rest, last)]
    ask = lambda **kw: g.status(
        request(
            DELETE,
            what=DELETE_CONTAINER,
            ts=g.TS,
            app=1,
            attempt=1,
            container=first.seq,
            user=g.a.pw_name,
            local=3,
            **kw,
        )
    )
    numbers = [c.seq - first.seq for c in (*rest, last)]
    t.equal(
        (ask(more=numbers[::-1]), ask(more=numbers, n_more=3 + 30), ask(more=[0, *numbers])),
        (STATUS["REQUEST"],) * 3,
        "further containers of a deletion are in one order and none is left out",
    )
    t.check(
        all(os.path.isdir(w) for w in work), "and nothing is deleted by a request that is refused"
    )
    foreign = work[1] + "/theirs"
    os.makedirs(foreign + "/below")
    os.chown(foreign, 0, 0)
    os.chmod(foreign, 0o700)
    t.equal(
        (ask(more=numbers), [os.path.exists(w) for w in work]),
        (STATUS["DELETE"], [False, True, False, False]),
        "what one of them leaves is reported, the others go (26)",
    )
    os.chown(foreign, g.a.pw_uid, -1)
    os.chown(foreign + "/below", g.a.pw_uid, -1)
    t.equal(
        (ask(more=numbers), [w for w in work if os.path.exists(w)]),
        (0, []),
        "by the next request that as well",
    )
    t.check(os.path.isdir(g.work_dir(spared)), "a container that is not in the request stays (26)")


def deletion_of_own_directories(t, g):
    """Deletion of what a job has made of its own directory (26, 27)."""
    app = dict(ts=g.TS, app=1, user=g.a.pw_name)
    delete = lambda c: g.status(
        request(DELETE, what=DELETE_CONTAINER, attempt=1, container=c.seq, local=3, **app)
    )
    canary = g.base + "/spared"
    owned(canary, g.a, g.nm.pw_gid, 0o777)
    open(canary + "/file", "w", encoding="ascii").close()
    os.chown(canary + "/file", g.a.pw_uid, -1)
    for name, plant in (
        ("a link", "ln -s %s $w" % canary),
        ("a file", "echo > $w"),
        ("a FIFO", "mkfifo $w"),
    ):
        c = g.run("exit 0\n")
        w = g.work_dir(c)
        subprocess.run(
            [
                "setpriv",
                "--reuid=%d" % g.a.pw_uid,
                "--regid=%d" % g.a.pw_gid,
                "--clear-groups",
                "sh",
                "-c",
                "w=%s; rm -rf $w && %s" % (w, plant),
            ],
            check=True,
        )
        t.equal(
            (delete(c), os.path.lexists(w)),
            (0, False),
            "%s in the place of a container's directory goes itself" % name,
        )
    t.equal(os.listdir(canary), ["file"], "not what it leads to")
    c = g.run(
        "mkdir -p closed/below theirs; touch closed/below/file file; chmod 500 closed/below "
        "closed; exit 0\n"
    )
    w = g.work_dir(c)
    open(w + "/theirs/file", "w", encoding="ascii").close()
    os.chown(w + "/theirs", 0, 0)
    os.chmod(w + "/theirs", 0o700)
    t.equal(
        (delete(c), os.listdir(w)),
        (STATUS["DELETE"], ["theirs"]),
        "another account's directory stays and is reported, all else goes",
    )
    os.chown(w + "/theirs", g.a.pw_uid, -1)
    t.equal((delete(c), os.path.exists(w)), (0, False), "and goes when it is the user's")
    # Each kind of thing, beside one of another kind that stays.
    public, own = g.locals[0] + "/filecache", "%s/usercache/%s/appcache/%s/filecache" % (
        g.locals[0],
        g.a.pw_name,
        g.aid(1),
    )
    logs = "%s/%s" % (g.logs[0], g.aid(1))
    owned(public, g.public, g.nm.pw_gid, 0o755)
    for path, user in (
        (public + "/5", g.public),
        (public + "/6", g.public),
        (own + "/5", g.a),
        (logs + "/x", g.a),
    ):
        os.makedirs(path + "/below", exist_ok=True)
        subprocess.run(
            [
                "chown",
                "-R",
                "%d:%d" % (user.pw_uid, g.nm.pw_gid),
                path if user is g.public else os.path.dirname(path),
            ],
            check=True,
        )
    there = lambda: [
        os.path.exists(path) for path in (public + "/5", public + "/6", own + "/5", logs + "/x")
    ]
    for name, data, left in (
        (
            "an application's resource",
            request(
                DELETE, what=DELETE_RESOURCE, visibility=APPLICATION, resource=5, local=1, **app
            ),
            [True, True, False, True],
        ),
        (
            "a public resource",
            request(DELETE, what=DELETE_RESOURCE, visibility=PUBLIC, resource=5, local=1),
            [False, True, False, True],
        ),
        (
            "an application's logs",
            request(DELETE, what=DELETE_APP_LOGS, log=1, **app),
            [False, True, False, False],
        ),
        (
            "the public cache",
            request(DELETE, what=DELETE_PUBLIC, local=1),
            [False, False, False, False],
        ),
    ):
        t.equal((g.status(data), there()), (0, left), "deletion of %s, of nothing else" % name)
    os.rmdir(public)
