/* See dir-probe.h. Users write the trees below; this file accesses only the top directories, which
 * belong to the daemon.
 *
 * The thread MUST touch nothing but struct nm_dir_probe, and must not log. */
#include "nodemanager/health/dir-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/fd.h"

#define PROBE_FILE ".selvedge-probe"

struct nm_dir_probe {
    atomic_uint refs; /* the caller, the thread */
    atomic_bool done; /* `facts` is complete */
    bool local, write, measure_alone;
    int told; /* -1: no notification */
    char *path;
    struct nm_dir_facts facts;
};

/* Creates a directory that belongs to the daemon, or accepts an existing one. */
static int own_dir(int parent, const char *name, mode_t mode)
{
    struct stat st;

    if (mkdirat(parent, name, mode) == 0)
        return fchmodat(parent, name, mode, 0) < 0 ? -errno : 0; /* independent of the umask */
    if (errno != EEXIST)
        return -errno;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return !S_ISDIR(st.st_mode) ? -ENOTDIR : 0;
}

/* Opens the directory, creates it if it is missing. */
static int prepare(struct nm_dir_probe *p, const char **ret_what)
{
    _cleanup_close_ int fd = -1;
    struct stat st;
    int r = sv_mkdir_p(p->path, 0755);

    *ret_what = "cannot be used";
    if (r < 0)
        return r;
    fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    p->facts.device = st.st_dev;
    p->facts.inode = st.st_ino;
    if (st.st_uid != geteuid()) {
        *ret_what = "not owned by the NodeManager's account";
        return -EPERM;
    }
    if (faccessat(fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) < 0)
        return -errno;
    r = p->local ? own_dir(fd, "nmPrivate", 0700) : 0;
    if (r >= 0 && p->local)
        r = own_dir(fd, "usercache", 0755);
    return r < 0 ? r : sv_take_fd(&fd);
}

static int measure(int fd, struct nm_dir_facts *f)
{
    struct statvfs vfs;

    if (fstatvfs(fd, &vfs) < 0)
        return -errno;
    f->free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
    f->all_bytes = (uint64_t)vfs.f_blocks * vfs.f_frsize;
    f->used_percent =
        vfs.f_blocks ? 100.0 * (1.0 - (double)vfs.f_bavail / (double)vfs.f_blocks) : 100.0;
    f->counts_inodes = vfs.f_files > 0;
    f->free_inodes = vfs.f_favail;
    return 0;
}

/* Creates a file, writes it to the disk and removes it. Overwrites one left by a killed daemon. */
static int write_file(int dir, const char **ret_what)
{
    static const char text[4096] = "made by the NodeManager to check this directory\n";
    _cleanup_close_ int fd =
        openat(dir, PROBE_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r;

    *ret_what = "a file cannot be made";
    if (fd < 0)
        return -errno;
    *ret_what = "a file cannot be written";
    r = sv_write_all(fd, text, sizeof(text));
    if (r >= 0 && fdatasync(fd) < 0)
        r = -errno;
    if (unlinkat(dir, PROBE_FILE, 0) < 0 && r >= 0) {
        *ret_what = "a file cannot be removed";
        r = -errno;
    }
    return r;
}

static void probe_space(struct nm_dir_probe *p)
{
    _cleanup_close_ int fd = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    p->facts.what = "cannot be measured";
    p->facts.error = fd < 0 ? -errno : measure(fd, &p->facts);
}

static void probe(struct nm_dir_probe *p)
{
    struct nm_dir_facts *f = &p->facts;
    _cleanup_close_ int fd = prepare(p, &f->what);

    f->error = fd < 0 ? fd : measure(fd, f);
    if (f->error >= 0 && p->write) {
        f->written = true;
        f->error = write_file(fd, &f->what);
    }
    if (f->error >= 0)
        f->what = NULL;
}

static void *work(void *userdata)
{
    static const uint64_t one = 1;
    struct nm_dir_probe *p = userdata;

    (void)pthread_setname_np(pthread_self(), "dir-probe"); /* for debuggers only, ignoring */
    if (p->measure_alone)
        probe_space(p);
    else
        probe(p);
    atomic_store(&p->done, true);
    if (p->told >= 0)
        (void)!write(p->told, &one, sizeof(one)); /* a counter far from its end never blocks */
    (void)nm_dir_probe_unref(p);
    return NULL;
}

static int start_thread(struct nm_dir_probe *p)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    int e = pthread_attr_init(&attr);

    if (e != 0)
        return -e;
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all); /* the daemon's signals arrive through its loop */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    atomic_fetch_add(&p->refs, 1);
    e = pthread_create(&thread, &attr, work, p);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    if (e != 0)
        atomic_fetch_sub(&p->refs, 1);
    return -e;
}

static struct nm_dir_probe *new_probe(const char *path)
{
    struct nm_dir_probe *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    atomic_store(&p->refs, 1);
    p->told = -1;
    p->path = strdup(path);
    return p->path ? p : nm_dir_probe_unref(p);
}

static int start(struct nm_dir_probe *p, struct nm_dir_probe **ret)
{
    int r = start_thread(p);

    if (r < 0)
        (void)nm_dir_probe_unref(p);
    else
        *ret = p;
    return r;
}

int nm_dir_probe_start(const char *path, bool local, bool write, int told,
                       struct nm_dir_probe **ret)
{
    struct nm_dir_probe *p = new_probe(path);
    int r;

    if (!p)
        return -ENOMEM;
    p->local = local;
    p->write = write;
    p->told = fcntl(told, F_DUPFD_CLOEXEC, 0);
    if (p->told < 0) {
        r = -errno;
        (void)nm_dir_probe_unref(p);
        return r;
    }
    return start(p, ret);
}

int nm_dir_probe_measure(const char *path, struct nm_dir_probe **ret)
{
    struct nm_dir_probe *p = new_probe(path);

    if (!p)
        return -ENOMEM;
    p->measure_alone = true;
    return start(p, ret);
}

int nm_dir_probe_result(const struct nm_dir_probe *p, struct nm_dir_facts *ret)
{
    if (!atomic_load(&p->done))
        return -EAGAIN;
    *ret = p->facts;
    return 0;
}

struct nm_dir_probe *nm_dir_probe_unref(struct nm_dir_probe *p)
{
    if (p && atomic_fetch_sub(&p->refs, 1) == 1) {
        p->told = sv_close(p->told);
        free(p->path);
        free(p);
    }
    return NULL;
}
