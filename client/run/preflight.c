/* See preflight.h. */
#include "client/run/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/run/cluster-maximum.h"
#include "common/fd.h"

/* Timeout for the web port, which may be closed, once queue and nodes have passed. */
#define MAXIMUM_WAIT_USEC (3000 * 1000)
/* A cluster's maximum allocation is at least Hadoop's default minimum. */
#define SMALL_MB 1024
#define SMALL_VCORES 1
#define MASTER "an ApplicationMaster (--am-memory)"

struct preflight {
    struct cli_ctx *ctx;
    const struct run_options *options;
    void (*fn)(void *userdata);
    void *userdata;
    struct cli_maximum *asked; /* pending query; NULL: answered */
    struct yarn_resource maximum;
    sd_event_source *late;
    bool passed;           /* queue and nodes have answered, the queue as it must */
    const char *too_large; /* what no node has room for: `wanted`; NULL: nothing */
    struct yarn_resource wanted, largest;
};

/* Which option, or which file's key, names a path. */
static const char *where(const struct run_options *o, const char *option, const char *key,
                         char buf[512])
{
    if (o->job_file)
        (void)snprintf(buf, 512, "%s: %.400s: %s", o->subcommand, o->job_file, key);
    else
        (void)snprintf(buf, 512, "%s: --%s", o->subcommand, option);
    return buf;
}

static int check_directory(const struct run_options *o, const char *path)
{
    char at[512];
    struct stat st;

    (void)where(o, "local-dir", "directories", at);

    if (stat(path, &st) < 0 || (S_ISDIR(st.st_mode) && access(path, R_OK | X_OK) < 0))
        (void)cli_fail("%s %s: %s", at, path, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        (void)cli_fail("%s %s: not a directory", at, path);
    else
        return 0;
    return 2;
}

static int check_file(const char *at, const char *path)
{
    struct stat st;

    if (strstr(path, "://") && access(path, F_OK) < 0)
        (void)cli_fail("%s %s: expected a file of this machine, which is copied for the job: "
                       "fetch it first, or let the command read it",
                       at, path);
    else if (stat(path, &st) < 0 || (S_ISREG(st.st_mode) && access(path, R_OK) < 0))
        (void)cli_fail("%s %s: %s", at, path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        (void)cli_fail("%s %s: not a regular file", at, path);
    else
        return 0;
    return 2;
}

/* A NodeManager unpacks by the end of the name, Apache's too (FSDownload), and takes anything else
 * as a file. The first bytes tell a text from an archive; a tar has none of its own, and a zip may
 * begin with a script that runs it. */
static int check_archive(const struct run_options *o, const char *path)
{
    static const struct {
        const char *end, *first, * or ;
    } kinds[] = { { ".zip", "PK", "#!" },
                  { ".jar", "PK", "#!" },
                  { ".tar.gz", "\x1f\x8b", "\x1f\x8b" },
                  { ".tgz", "\x1f\x8b", "\x1f\x8b" },
                  { ".tar", "", "" } };
    size_t n = strlen(path), end;
    char start[2] = "", at[512];
    int code = check_file(where(o, "archive", "archives", at), path);
    _cleanup_close_ int fd = code == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

    if (code != 0 || fd < 0 || pread(fd, start, sizeof(start), 0) < 0)
        return code;
    for (size_t i = 0; i < SV_ARRAY_LEN(kinds); i++) {
        end = strlen(kinds[i].end);
        if (n < end || strcasecmp(path + n - end, kinds[i].end) != 0)
            continue;
        if (memcmp(start, kinds[i].first, strlen(kinds[i].first)) == 0 ||
            memcmp(start, kinds[i].or, strlen(kinds[i].or)) == 0)
            return 0;
        (void)cli_fail("%s %s: is not an archive of that kind, by its first bytes", at, path);
        return 2;
    }
    (void)cli_fail(
        "%s %s: expected a name that ends with .zip, .jar, .tar, .tar.gz or .tgz: others "
        "are not unpacked; use %s",
        at, path, o->job_file ? "files" : "--file");
    return 2;
}

static int check_files(const struct run_options *o, const struct run_file *files, size_t n)
{
    int code = 0;
    char at[512];

    for (size_t i = 0; i < n && code == 0; i++)
        if (files[i].directory)
            code = check_directory(o, files[i].path);
        else if (files[i].type == CLI_ARCHIVE)
            code = check_archive(o, files[i].path);
        else
            code = check_file(where(o, "file", "files", at), files[i].path);
    return code;
}

int cli_preflight_files(const struct run_options *o)
{
    char at[512];
    int code;

    (void)snprintf(at, sizeof(at), "%s: --am-program", o->subcommand);
    code = check_file(at, o->am_file);
    if (code == 0)
        code = check_files(o, o->files, o->n_files);
    for (size_t i = 0; i < o->n_groups && code == 0; i++)
        code = check_files(o, o->groups[i].files, o->groups[i].n_files);
    return code;
}

static void release(struct preflight *p)
{
    cli_maximum_forget(p->asked);
    sd_event_source_disable_unref(p->late);
    free(p);
}

static void refuse(struct preflight *p)
{
    cli_stop(p->ctx, 2);
    release(p);
}

static bool fits(const struct cli_node_report *nodes, size_t n, struct yarn_resource r)
{
    for (size_t i = 0; i < n; i++)
        if (r.memory_mb <= nodes[i].capability.memory_mb &&
            r.vcores <= nodes[i].capability.vcores && r.gpus <= nodes[i].capability.gpus)
            return true;
    return n == 0; /* nodes may join later */
}

/* Keeps the first of what no node is as large as, and the largest node. */
static void check_nodes(struct preflight *p, const char *what, const struct cli_node_report *nodes,
                        size_t n, struct yarn_resource r)
{
    struct yarn_resource *most = &p->largest;

    if (p->too_large || fits(nodes, n, r))
        return;
    p->too_large = what;
    p->wanted = r;
    for (size_t i = 0; i < n; i++) {
        most->memory_mb = SV_MAX(most->memory_mb, nodes[i].capability.memory_mb);
        most->vcores = SV_MAX(most->vcores, nodes[i].capability.vcores);
        most->gpus = SV_MAX(most->gpus, nodes[i].capability.gpus);
    }
}

/* With both maxima, so that nobody who obeys the nodes' meets the cluster's next. */
static void say_too_large(const struct preflight *p)
{
    const struct yarn_resource *r = &p->wanted, *most = &p->largest, *max = &p->maximum;
    char cluster[120] = "";

    if ((max->memory_mb > 0 && max->memory_mb < most->memory_mb) ||
        (max->vcores > 0 && max->vcores < most->vcores))
        (void)snprintf(cluster, sizeof(cluster),
                       ", of which the cluster allows a container %lld MiB and %d vcores",
                       (long long)max->memory_mb, max->vcores);
    (void)cli_fail("%s: %s of %lld MiB, %d vcores and %d GPUs: no node is as large; the nodes have "
                   "at most %lld MiB, %d vcores and %d GPUs%s",
                   p->options->subcommand, p->too_large, (long long)r->memory_mb, r->vcores,
                   r->gpus, (long long)most->memory_mb, most->vcores, most->gpus, cluster);
}

static bool one_fits(const struct run_options *o, const char *what, const struct yarn_resource *r,
                     struct yarn_resource maximum)
{
    if ((maximum.memory_mb <= 0 || r->memory_mb <= maximum.memory_mb) &&
        (maximum.vcores <= 0 || r->vcores <= maximum.vcores))
        return true;
    (void)cli_fail("%s: %s of %lld MiB and %d vcores: the cluster allows at most %lld MiB and "
                   "%d vcores",
                   o->subcommand, what, (long long)r->memory_mb, r->vcores,
                   (long long)maximum.memory_mb, maximum.vcores);
    return false;
}

bool cli_preflight_fits(const struct run_options *o, struct yarn_resource maximum)
{
    for (size_t i = 0; i < o->n_groups; i++)
        if (!one_fits(o, o->groups[i].what, &o->groups[i].resource, maximum))
            return false;
    return one_fits(o, MASTER, &o->am_resource, maximum);
}

/* Called when all answers have arrived, or timed out. */
static void conclude(struct preflight *p)
{
    if (p->too_large) {
        say_too_large(p);
        refuse(p);
        return;
    }
    if (!cli_preflight_fits(p->options, p->maximum)) {
        refuse(p);
        return;
    }
    p->fn(p->userdata);
    release(p);
}

static void on_maximum(int status, struct yarn_resource maximum, void *userdata)
{
    struct preflight *p = userdata;

    p->asked = NULL;
    p->maximum = maximum;
    if (p->passed && status < 0)
        release(p);
    else if (p->passed)
        conclude(p);
}

static int on_late(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    conclude(userdata);
    return 0;
}

static void pass(struct preflight *p)
{
    p->passed = true;
    if (!p->asked || sd_event_add_time_relative(p->ctx->event, &p->late, CLOCK_MONOTONIC,
                                                MAXIMUM_WAIT_USEC, 0, on_late, p) < 0)
        conclude(p);
}

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct preflight *p = userdata;
    const struct run_options *o = p->options;

    if (status == -ECANCELED) {
        release(p);
        return;
    }
    if (status < 0 && status != -EREMOTEIO) { /* an exception: the submission will report more */
        cli_stop_error(p->ctx, status, err);
        release(p);
        return;
    }
    if (status == 0) {
        for (size_t i = 0; i < o->n_groups; i++)
            check_nodes(p, o->groups[i].what, nodes, n, o->groups[i].resource);
        check_nodes(p, MASTER, nodes, n, o->am_resource);
    }
    pass(p);
}

static void ask_nodes(struct preflight *p)
{
    int r = cli_rm_nodes(p->ctx->rm, false, on_nodes, p);

    if (r < 0) {
        cli_stop_error(p->ctx, r, NULL);
        release(p);
    }
}

static void on_queue(int status, const struct cli_queue_report *queues, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct preflight *p = userdata;
    const char *name = p->options->queue;

    if (status == -ECANCELED) {
        release(p);
        return;
    }
    if (status < 0 && status != -EREMOTEIO) {
        cli_stop_error(p->ctx, status, err);
        release(p);
    } else if (status == 0 && n == 0 && !strchr(name, '.')) { /* a path may be created on use */
        (void)cli_fail("%s: --queue %s: the cluster has no such queue; selvedge queue list shows "
                       "them",
                       p->options->subcommand, name);
        refuse(p);
    } else if (status == 0 && n > 0 && queues[0].children > 0) {
        (void)cli_fail("%s: --queue %s: is a parent queue: submit to a leaf queue below it",
                       p->options->subcommand, name);
        refuse(p);
    } else if (status == 0 && n > 0 && strcmp(queues[0].state, "RUNNING") != 0) {
        (void)cli_fail("%s: --queue %s: is %s and accepts no jobs", p->options->subcommand, name,
                       queues[0].state);
        refuse(p);
    } else {
        ask_nodes(p);
    }
}

static bool is_small(struct yarn_resource r)
{
    return r.memory_mb <= SMALL_MB && r.vcores <= SMALL_VCORES;
}

static bool all_small(const struct run_options *o)
{
    bool small = is_small(o->am_resource);

    for (size_t i = 0; i < o->n_groups; i++)
        small = small && is_small(o->groups[i].resource);
    return small;
}

int cli_preflight_cluster(struct cli_ctx *ctx, const struct run_options *o,
                          void (*fn)(void *userdata), void *userdata)
{
    struct preflight *p = malloc(sizeof(*p));
    int r;

    if (!p)
        return -ENOMEM;
    *p = (struct preflight){ .ctx = ctx, .options = o, .fn = fn, .userdata = userdata };
    if (all_small(o) || cli_maximum_ask(ctx, on_maximum, p, &p->asked) < 0)
        p->asked = NULL; /* getNewApplication returns it, too */
    r = o->queue ? cli_rm_queues(ctx->rm, o->queue, true, on_queue, p)
                 : cli_rm_nodes(ctx->rm, false, on_nodes, p);
    if (r < 0)
        release(p);
    return r;
}
