/* See work.h. */
#include "service/am/launch/work.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/arena.h"
#include "common/worker.h"

/* Files and configuration, for as long as a job or the owner uses them. */
struct shared {
    struct svc_files *files;
    struct sv_conf *conf;
    unsigned users; /* atomic */
};
struct svc_work {
    struct sv_worker *worker;
    struct shared *shared;
};
struct job {
    struct shared *shared;
    struct yarn_container_id id;
    struct sv_arena *arena;
    struct svc_launch_request request;
    struct cli_launch launch;
    char path[SVC_PATH_MAX];
    struct sv_buf bytes;
    struct svc_plan *plan;
    struct svc_any_job any;
    union {
        svc_launched_fn launched;
        svc_stored_fn stored;
        svc_plan_fn planned;
    } fn;
    void *userdata;
    int status;
    struct sv_error err;
};

static void leave(struct shared *s)
{
    if (__atomic_sub_fetch(&s->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    svc_files_close(s->files);
    free(s);
}

static void free_job(void *data)
{
    struct job *j = data;

    if (j->any.free)
        j->any.free(j->any.data);
    svc_plan_free(j->plan);
    svc_peers_unref(j->request.peers);
    sv_buf_free(&j->bytes);
    sv_arena_free(j->arena);
    leave(j->shared);
    free(j);
}

static struct job *new_job(struct svc_work *w, void *userdata)
{
    struct job *j = calloc(1, sizeof(*j));

    if (!j)
        return NULL;
    j->shared = w->shared;
    j->userdata = userdata;
    (void)__atomic_add_fetch(&w->shared->users, 1, __ATOMIC_ACQ_REL);
    return j;
}

static int run_job(struct svc_work *w, struct job *j, void (*run)(void *),
                   void (*done)(int, void *, void *))
{
    const struct sv_job job = { .data = j, .run = run, .done = done, .free = free_job };
    int r = sv_worker_run(w->worker, &job);

    if (r < 0)
        free_job(j);
    return r;
}

/* ---- Launches ---- */

static int copy_request(struct job *j, const struct svc_launch_request *q)
{
    j->request = *q;
    if (q->peers)
        (void)svc_peers_ref(q->peers); /* as it is returned, ignoring */
    j->request.instance = sv_arena_strdup(j->arena, q->instance);
    j->request.container = sv_arena_strdup(j->arena, q->container);
    return !j->request.instance || !j->request.container ? -ENOMEM : 0;
}

static void run_launch(void *data)
{
    struct job *j = data;

    j->status = svc_launch_prepare(j->shared->files, &j->request, j->arena, &j->launch, &j->err);
}

static void on_launch(int status, void *data, void *userdata)
{
    struct job *j = data;

    (void)status; /* no deadline: always 0, ignoring */
    (void)userdata;
    j->fn.launched(j->id, j->status, &j->launch, &j->err, j->userdata);
}

int svc_work_launch(struct svc_work *w, struct yarn_container_id id,
                    const struct svc_launch_request *q, svc_launched_fn fn, void *userdata)
{
    struct job *j = new_job(w, userdata);

    if (!j)
        return -ENOMEM;
    j->id = id;
    j->fn.launched = fn;
    j->arena = sv_arena_new(SVC_LAUNCH_MAX);
    if (!j->arena || copy_request(j, q) < 0) {
        free_job(j);
        return -ENOMEM;
    }
    return run_job(w, j, run_launch, on_launch);
}

/* ---- Stored files ---- */

static void run_replace(void *data)
{
    struct job *j = data;

    j->status = svc_files_replace(j->shared->files, j->path, j->bytes.data, j->bytes.len, &j->err);
}

static void on_replaced(int status, void *data, void *userdata)
{
    struct job *j = data;

    (void)status; /* as in on_launch(), ignoring */
    (void)userdata;
    j->fn.stored(j->status, &j->err, j->userdata);
}

int svc_work_replace(struct svc_work *w, const char *name, struct sv_buf *bytes, svc_stored_fn fn,
                     void *userdata)
{
    struct job *j = new_job(w, userdata);

    if (!j)
        return -ENOMEM;
    j->fn.stored = fn;
    j->bytes = *bytes;
    *bytes = SV_BUF_INIT(bytes->max);
    (void)snprintf(j->path, sizeof(j->path), "%s", name);
    return run_job(w, j, run_replace, on_replaced);
}

/* ---- Any other ---- */

static void run_any(void *data)
{
    struct job *j = data;

    j->any.run(j->shared->files, j->any.data);
}

static void on_any(int status, void *data, void *userdata)
{
    struct job *j = data;

    (void)status; /* as in on_launch(), ignoring */
    (void)userdata;
    j->any.done(j->any.data, j->any.userdata);
}

int svc_work_any(struct svc_work *w, const struct svc_any_job *any)
{
    struct job *j = new_job(w, any->userdata);
    const struct sv_job job = { .data = j, .run = run_any, .done = on_any, .free = free_job };
    int r;

    if (!j)
        return -ENOMEM;
    j->any = *any;
    r = sv_worker_run(w->worker, &job);
    if (r < 0) {
        j->any.free = NULL;
        free_job(j);
    }
    return r;
}

/* ---- Another version ---- */

static void run_plan(void *data)
{
    struct job *j = data;
    _cleanup_free_ char *json = NULL;
    size_t len;

    j->status = svc_files_read(j->shared->files, j->path, SVC_JSON_MAX, &json, &len, &j->err);
    if (j->status == 0)
        j->status = svc_plan_new(json, len, j->shared->conf, &j->plan, &j->err);
}

static void on_plan(int status, void *data, void *userdata)
{
    struct job *j = data;

    (void)status; /* as in on_launch(), ignoring */
    (void)userdata;
    j->fn.planned(j->status, SV_TAKE(j->plan), &j->err, j->userdata);
}

int svc_work_plan(struct svc_work *w, const char *version, svc_plan_fn fn, void *userdata)
{
    struct job *j;
    char path[SVC_PATH_MAX];
    int r = svc_files_version(w->shared->files, version, path);

    if (r < 0)
        return r;
    j = new_job(w, userdata);
    if (!j)
        return -ENOMEM;
    j->fn.planned = fn;
    memcpy(j->path, path, sizeof(path));
    return run_job(w, j, run_plan, on_plan);
}

/* ---- Life ---- */

int svc_work_new(sd_event *event, struct svc_files *files, struct sv_conf *conf,
                 struct svc_work **ret)
{
    struct svc_work *w = calloc(1, sizeof(*w));
    struct shared *s = calloc(1, sizeof(*s));
    int r = w && s ? sv_worker_new(event, "service-files", &w->worker) : -ENOMEM;

    if (r < 0) {
        free(s);
        free(w);
        return r;
    }
    *s = (struct shared){ .files = files, .conf = conf, .users = 1 };
    w->shared = s;
    *ret = w;
    return 0;
}

struct svc_work *svc_work_free(struct svc_work *w)
{
    if (!w)
        return NULL;
    sv_worker_free(w->worker);
    leave(w->shared);
    free(w);
    return NULL;
}
