/* See dir-probe.h. Users write the trees below; this file accesses only the top directories, which
 * belong to the daemon.
 *
 * The thread touches nothing but struct probe_job, and does not log. */
#include "nodemanager/health/dir-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/worker.h"

#define PROBE_FILE ".selvedge-probe"

struct probe_job {
    unsigned steps; /* NM_PROBE_… */
    bool measure_alone;
    char *path;
    struct nm_dir_facts facts;
};

struct nm_dir_probe {
    struct sv_worker *worker;
    bool done; /* `facts` is complete */
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
static int prepare(struct probe_job *p, const char **ret_what)
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
    r = p->steps & NM_PROBE_LOCAL ? own_dir(fd, "nmPrivate", 0700) : 0;
    if (r >= 0 && (p->steps & NM_PROBE_LOCAL))
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

static void probe_space(struct probe_job *p)
{
    _cleanup_close_ int fd = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    p->facts.what = "cannot be measured";
    p->facts.error = fd < 0 ? -errno : measure(fd, &p->facts);
}

static void probe(struct probe_job *p)
{
    struct nm_dir_facts *f = &p->facts;
    _cleanup_close_ int fd = prepare(p, &f->what);

    f->error = fd < 0 ? fd : measure(fd, f);
    if (f->error >= 0 && (p->steps & NM_PROBE_WRITE)) {
        f->written = true;
        f->error = write_file(fd, &f->what);
    }
    if (f->error >= 0 && (p->steps & NM_PROBE_CONTENT)) {
        f->error = nm_dir_content_check(fd, geteuid(), &f->content);
        f->what = f->content.what;
    }
    if (f->error >= 0)
        f->what = NULL;
}

static void work(void *data)
{
    struct probe_job *p = data;

    if (p->measure_alone)
        probe_space(p);
    else
        probe(p);
}

static void on_done(int status, void *data, void *userdata)
{
    const struct probe_job *j = data;
    struct nm_dir_probe *p = userdata;

    (void)status; /* without a deadline it is 0 */
    p->facts = j->facts;
    p->done = true;
}

static void job_free(void *data)
{
    struct probe_job *j = data;

    free(j->path);
    free(j);
}

static int start(const char *path, const struct probe_job *kind, int told,
                 struct nm_dir_probe **ret)
{
    struct nm_dir_probe *p = calloc(1, sizeof(*p));
    struct probe_job *j = calloc(1, sizeof(*j));
    struct sv_job job = {
        .data = j, .userdata = p, .run = work, .done = on_done, .free = job_free
    };
    int r = -ENOMEM;

    if (p && j) {
        *j = *kind;
        j->path = strdup(path);
        r = j->path ? sv_worker_new_polled(told, "dir-probe", &p->worker) : -ENOMEM;
    }
    if (r >= 0)
        r = sv_worker_run(p->worker, &job);
    if (r >= 0) {
        *ret = p;
        return 0;
    }
    if (j)
        job_free(j);
    (void)nm_dir_probe_free(p);
    return r;
}

int nm_dir_probe_start(const char *path, unsigned steps, uint64_t next, int told,
                       struct nm_dir_probe **ret)
{
    return start(path,
                 &(struct probe_job){ .steps = steps, .facts = { .content = { .next = next } } },
                 told, ret);
}

int nm_dir_probe_measure(const char *path, struct nm_dir_probe **ret)
{
    return start(path, &(struct probe_job){ .measure_alone = true }, -1, ret);
}

int nm_dir_probe_result(struct nm_dir_probe *p, struct nm_dir_facts *ret)
{
    if (!p->done && !sv_worker_dispatch(p->worker))
        return -EAGAIN;
    *ret = p->facts;
    return 0;
}

struct nm_dir_probe *nm_dir_probe_free(struct nm_dir_probe *p)
{
    if (!p)
        return NULL;
    sv_worker_free(p->worker);
    free(p);
    return NULL;
}
