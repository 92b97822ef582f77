/* See preflight.h. */
#include "client/run/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/run/cluster-maximum.h"

/* Timeout for the web port, which may be closed, once queue and nodes have passed. */
#define MAXIMUM_WAIT_USEC (3000 * 1000)
/* A cluster's maximum allocation is at least Hadoop's default minimum. */
#define SMALL_MB 1024
#define SMALL_VCORES 1

struct preflight {
    struct cli_ctx *ctx;
    const struct run_options *options;
    void (*fn)(void *userdata);
    void *userdata;
    struct cli_maximum *asked; /* pending query; NULL: answered */
    struct yarn_resource maximum;
    sd_event_source *late;
    bool passed; /* the checks of queue and nodes */
};

static int check_directory(const struct run_options *o, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0 || (S_ISDIR(st.st_mode) && access(path, R_OK | X_OK) < 0))
        (void)cli_fail("%s: --local-dir %s: %s", o->subcommand, path, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        (void)cli_fail("%s: --local-dir %s: not a directory", o->subcommand, path);
    else
        return 0;
    return 2;
}

static int check_file(const struct run_options *o, const char *option, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0 || (S_ISREG(st.st_mode) && access(path, R_OK) < 0))
        (void)cli_fail("%s: --%s %s: %s", o->subcommand, option, path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        (void)cli_fail("%s: --%s %s: not a regular file", o->subcommand, option, path);
    else
        return 0;
    return 2;
}

int cli_preflight_files(const struct run_options *o)
{
    int code = check_file(o, "am-program", o->am_file);

    for (size_t i = 0; i < o->n_files && code == 0; i++)
        if (o->files[i].directory)
            code = check_directory(o, o->files[i].path);
        else
            code = check_file(o, o->files[i].type == CLI_ARCHIVE ? "archive" : "file",
                              o->files[i].path);
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

/* Prints an error if no node is as large as `what`; returns true then. */
static bool is_too_large(const struct preflight *p, const char *what,
                         const struct cli_node_report *nodes, size_t n, struct yarn_resource r)
{
    struct yarn_resource largest = { 0 };

    if (fits(nodes, n, r))
        return false;
    for (size_t i = 0; i < n; i++) {
        largest.memory_mb = SV_MAX(largest.memory_mb, nodes[i].capability.memory_mb);
        largest.vcores = SV_MAX(largest.vcores, nodes[i].capability.vcores);
        largest.gpus = SV_MAX(largest.gpus, nodes[i].capability.gpus);
    }
    (void)cli_fail("%s: %s of %lld MiB, %d vcores and %d GPUs: no node is as large; the nodes have "
                   "at most %lld MiB, %d vcores and %d GPUs",
                   p->options->subcommand, what, (long long)r.memory_mb, r.vcores, r.gpus,
                   (long long)largest.memory_mb, largest.vcores, largest.gpus);
    return true;
}

bool cli_preflight_fits(const struct run_options *o, struct yarn_resource maximum)
{
    const struct {
        const char *what;
        struct yarn_resource r;
    } wanted[] = { { "a container", o->resource },
                   { "an ApplicationMaster (--am-memory)", o->am_resource } };

    for (size_t i = 0; i < SV_ARRAY_LEN(wanted); i++) {
        const struct yarn_resource *r = &wanted[i].r;

        if ((maximum.memory_mb <= 0 || r->memory_mb <= maximum.memory_mb) &&
            (maximum.vcores <= 0 || r->vcores <= maximum.vcores))
            continue;
        (void)cli_fail("%s: %s of %lld MiB and %d vcores: the cluster allows at most %lld MiB and "
                       "%d vcores",
                       o->subcommand, wanted[i].what, (long long)r->memory_mb, r->vcores,
                       (long long)maximum.memory_mb, maximum.vcores);
        return false;
    }
    return true;
}

/* Called when all answers have arrived, or timed out. */
static void conclude(struct preflight *p)
{
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
    if (status == 0 &&
        (is_too_large(p, "a container", nodes, n, o->resource) ||
         is_too_large(p, "an ApplicationMaster (--am-memory)", nodes, n, o->am_resource))) {
        refuse(p);
        return;
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

int cli_preflight_cluster(struct cli_ctx *ctx, const struct run_options *o,
                          void (*fn)(void *userdata), void *userdata)
{
    struct preflight *p = malloc(sizeof(*p));
    int r;

    if (!p)
        return -ENOMEM;
    *p = (struct preflight){ .ctx = ctx, .options = o, .fn = fn, .userdata = userdata };
    if ((is_small(o->resource) && is_small(o->am_resource)) ||
        cli_maximum_ask(ctx, on_maximum, p, &p->asked) < 0)
        p->asked = NULL; /* getNewApplication returns it, too */
    r = o->queue ? cli_rm_queues(ctx->rm, o->queue, true, on_queue, p)
                 : cli_rm_nodes(ctx->rm, false, on_nodes, p);
    if (r < 0)
        release(p);
    return r;
}
