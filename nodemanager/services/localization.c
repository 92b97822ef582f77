/* See localization.h. Hostile: resources that applications request; the cache checks the requests,
 * the localizer the fetched files. Paths in launch scripts are computed here, never received. */
#include "nodemanager/services/localization.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "executor/exe.h"
#include "localizer/cache.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization-request.h"
#include "nodemanager/services/localization-source.h"
#include "nodemanager/store/localization-records.h"
#include "nodemanager/store/state-store.h"

#define GRACE_MS 5000 /* for a localizer to exit after its channel was closed */

struct loc_process {
    struct loc_process *prev, *next;
    struct nm_localization *l;
    uint64_t id;
    struct yarn_app_id app; /* zero: PUBLIC resources, of any */
    uint32_t local_mask;    /* the local directories that it was given */
    struct exe_localizer *exe;
    sd_event_source *grace;
    sd_event_source *reap;
};

struct nm_localization {
    struct nm_context *ctx;
    struct nm_deletion *deletion;
    struct loc_cache *cache;
    struct loc_process *processes;
    bool told_no_size;
    char *login; /* of the daemon: PUBLIC resources are fetched under its name */
};

struct nm_localizing { /* of one container, from the request to the release */
    unsigned n;
    char **keys;  /* by index of the request, which is freed when the container runs */
    char **paths; /* the same; NULL until localized */
    struct loc_counters counters;
    bool ready;
    char *failed; /* diagnostics */
};

/* ---- resources ------------------------------------------------------------------------------*/

static int make_rows(struct nm_localizing *z, const Hadoop__Yarn__ContainerLaunchContextProto *clc)
{
    size_t n = clc->n_localresources;

    z->keys = calloc(n, sizeof(char *));
    z->paths = calloc(n, sizeof(char *));
    if (!z->keys || !z->paths)
        return -ENOMEM;
    for (; z->n < n; z->n++) {
        const char *key = clc->localresources[z->n]->key;

        z->keys[z->n] = strdup(key ? key : "");
        if (!z->keys[z->n])
            return -ENOMEM;
    }
    return 0;
}

int nm_localization_request(struct nm_localization *l, struct nm_container *c, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    struct loc_resource *list;
    size_t n = c->clc ? c->clc->n_localresources : 0;
    int r = 0;

    if (n == 0)
        return 1;
    a = sv_arena_new(0);
    list = a ? sv_newn(a, struct loc_resource, n) : NULL;
    c->localizing = calloc(1, sizeof(*c->localizing));
    if (c->localizing)
        r = make_rows(c->localizing, c->clc);
    if (!list || !c->localizing || r < 0)
        return sv_error_errno(err, -ENOMEM, "%s: local resources", c->text);
    for (size_t i = 0; i < n && r >= 0; i++)
        r = nm_localization_convert(c->clc->localresources[i], l->ctx->conf->default_fs, a,
                                    &list[i], err);
    if (r >= 0)
        r = loc_cache_localize(l->cache, c->id, c->app->user, list, (unsigned)n, err);
    return r < 0 ? r : 0;
}

void nm_localization_release(struct nm_localization *l, struct nm_container *c)
{
    struct nm_localizing *z = c->localizing;

    if (!z)
        return;
    c->localizing = NULL;
    loc_cache_release(l->cache, c->id);
    for (unsigned i = 0; i < z->n; i++) {
        free(z->keys[i]);
        free(z->paths[i]);
    }
    free(z->keys);
    free(z->paths);
    free(z->failed);
    free(z);
}

void nm_localization_app_finished(struct nm_localization *l, const struct nm_app *a)
{
    loc_cache_app_finished(l->cache, a->id);
}

void nm_localization_dir_failed(struct nm_localization *l, int index, bool deletable)
{
    loc_cache_dir_failed(l->cache, index, deletable);
}

const char *nm_localization_progress(const struct nm_localization *l, const struct nm_container *c,
                                     unsigned index, struct loc_resource_progress *ret)
{
    const struct nm_localizing *z = c->localizing;

    if (!z || index >= z->n || loc_cache_progress(l->cache, c->id, index, ret) < 0)
        return NULL;
    return z->keys[index];
}

void nm_localization_stats(const struct nm_localization *l, struct loc_stats *ret)
{
    loc_cache_stats(l->cache, ret);
}

int nm_localization_links(const struct nm_container *c, struct sv_arena *a, struct exe_link **ret,
                          size_t *ret_n)
{
    const struct nm_localizing *z = c->localizing;
    struct exe_link *links;

    *ret = NULL;
    *ret_n = 0;
    if (!z)
        return 0;
    links = sv_newn(a, struct exe_link, z->n);
    if (!links)
        return -ENOMEM;
    for (unsigned i = 0; i < z->n; i++) {
        if (!z->paths[i])
            return -ENOENT;
        links[i].target = z->paths[i];
        links[i].name = z->keys[i];
    }
    *ret = links;
    *ret_n = z->n;
    return 0;
}

const char *nm_localization_counters(const struct nm_container *c, struct sv_arena *a)
{
    static const struct loc_counters none;
    const struct loc_counters *k = c->localizing ? &c->localizing->counters : &none;

    return sv_arena_printf(a, "%llu,%llu,%u,%u,%lld", (unsigned long long)k->bytes_missed,
                           (unsigned long long)k->bytes_cached, k->files_missed, k->files_cached,
                           (long long)k->millis);
}

Hadoop__Yarn__ContainerLocalizationStatusesProto *
nm_localization_status(const struct nm_container *c, struct sv_arena *a)
{
    Hadoop__Yarn__ContainerLocalizationStatusesProto *m =
        sv_new(a, Hadoop__Yarn__ContainerLocalizationStatusesProto);
    const struct nm_localizing *z = c->localizing;

    if (!m)
        return NULL;
    hadoop__yarn__container_localization_statuses_proto__init(m);
    m->container_id = yarn_container_id_to(a, c->id);
    if (!m->container_id || !z)
        return m->container_id ? m : NULL;
    m->localization_statuses = sv_newn(a, Hadoop__Yarn__LocalizationStatusProto *, z->n);
    if (!m->localization_statuses)
        return NULL;
    for (unsigned i = 0; i < z->n; i++) {
        Hadoop__Yarn__LocalizationStatusProto *s = sv_new(a, Hadoop__Yarn__LocalizationStatusProto);

        if (!s)
            return NULL;
        hadoop__yarn__localization_status_proto__init(s);
        s->resource_key = sv_arena_strdup(a, z->keys[i]);
        s->has_localization_state = true;
        s->localization_state = z->paths[i] ? HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_COMPLETED
                                : z->failed ? HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_FAILED
                                            : HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_PENDING;
        if (!z->paths[i] && z->failed)
            s->diagnostics = sv_arena_strdup(a, z->failed);
        m->localization_statuses[m->n_localization_statuses++] = s;
    }
    return m;
}

/* ---- processes ------------------------------------------------------------------------------*/

static void process_free(struct loc_process *p)
{
    DL_DELETE(p->l->processes, p);
    sd_event_source_disable_unref(p->grace);
    sd_event_source_disable_unref(p->reap);
    exe_localizer_free(p->exe);
    free(p);
}

static struct loc_process *process_find(struct nm_localization *l, uint64_t id)
{
    struct loc_process *p;

    DL_FOREACH (l->processes, p)
        if (p->id == id)
            return p;
    return NULL;
}

static int on_reap(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    process_free(userdata);
    return 0;
}

static void on_localizer_ended(struct exe_localizer *x, const struct exe_failure *f, int status,
                               void *userdata)
{
    struct loc_process *p = userdata;
    char text[600];

    (void)x;
    if (f)
        snprintf(text, sizeof(text), "container-localizer could not be started: %s", f->text);
    else
        snprintf(text, sizeof(text), "container-localizer ended with status %d", status);
    if (f)
        nm_health_launch_failed(p->l->ctx->health, p->app, f);
    loc_cache_process_failed(p->l->cache, p->id, text);
    /* not from inside its own callback */
    if (sd_event_add_defer(p->l->ctx->event, &p->reap, on_reap, p) < 0)
        sv_log_err("localizer %llu: out of memory: it is not freed", (unsigned long long)p->id);
}

static const struct exe_localizer_ops localizer_ops = { .ended = on_localizer_ended };

static int cb_start(void *userdata, uint64_t id, const struct loc_scope *scope, int *ret_fd,
                    struct sv_error *err)
{
    struct nm_localization *l = userdata;
    _cleanup_close_ int ours = -1, theirs = -1;
    struct loc_process *p = calloc(1, sizeof(*p));
    const struct nm_app *app = NULL;
    char text[YARN_ID_TEXT_MAX];
    int fds[2], r;

    if (!p)
        return sv_error_errno(err, -ENOMEM, "localizer");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) {
        r = sv_error_errno(err, -errno, "localizer channel");
        free(p);
        return r;
    }
    ours = fds[0];
    theirs = fds[1];
    p->l = l;
    p->id = id;
    DL_APPEND(l->processes, p);
    if (!scope->public_cache)
        p->app = scope->app;
    if (!scope->public_cache)
        app = nm_app_find(l->ctx, yarn_app_id_text(scope->app, text));
    if (!scope->public_cache && !app) {
        process_free(p);
        return sv_error_set(err, -ENOENT, "localizer: %s is not an application of this node", text);
    }
    p->local_mask = nm_dirs_local_usable(l->ctx->dirs) & (app ? app->local_dirs : UINT32_MAX);
    r = exe_localizer_start(
        l->ctx->exe,
        &(struct exe_localizer_start){
            .user = app ? app->run_as : NULL,
            .submitter = scope->user,
            .app = scope->public_cache ? NULL : &scope->app,
            .visibility = scope->public_cache ? EXE_VISIBILITY_PUBLIC
                                              : EXE_VISIBILITY_PRIVATE | EXE_VISIBILITY_APPLICATION,
            .local_mask = p->local_mask,
            .categories = app ? app->categories : NULL,
            .channel = theirs,
        },
        &localizer_ops, p, &p->exe, err);
    if (r < 0) {
        p->exe = NULL;
        process_free(p);
        return r;
    }
    *ret_fd = sv_take_fd(&ours);
    return 0;
}

static int on_grace(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    process_free(userdata); /* kills it */
    return 0;
}

static void cb_stop(void *userdata, uint64_t id)
{
    struct nm_localization *l = userdata;
    struct loc_process *p = process_find(l, id);

    if (p && !p->grace && !p->reap &&
        sd_event_add_time_relative(l->ctx->event, &p->grace, CLOCK_BOOTTIME, GRACE_MS * 1000, 0,
                                   on_grace, p) < 0)
        process_free(p);
}

static int cb_pick_dir(void *userdata, uint64_t process, int64_t size)
{
    struct nm_localization *l = userdata;
    const struct loc_process *p = process_find(l, process);

    return p ? nm_dirs_pick_local(l->ctx->dirs, p->local_mask, size) : -ENOSPC;
}

static int cb_describe(void *userdata, struct yarn_container_id id, const struct loc_resource *r,
                       struct loc_fetch *f, struct sv_error *err)
{
    struct nm_localization *l = userdata;
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c = nm_container_find(l->ctx, yarn_container_id_text(id, text));
    const char *login = r->visibility == LOC_PUBLIC ? l->login : c ? c->app->user : NULL;

    struct nm_source_user user = { .login = login };

    if (!login) /* never as somebody else */
        return sv_error_set(err, -ENOENT, "Resource %s: its container is gone", r->url);
    if (r->visibility != LOC_PUBLIC && c->clc && c->clc->has_tokens) {
        user.credentials = c->clc->tokens.data;
        user.n_credentials = c->clc->tokens.len;
    }
    return nm_localization_source(l->ctx->conf->conf, r, &user, f, err);
}

/* The ResourceManager's renewed ones in place of the container's, whole. */
static int cb_credentials(void *userdata, struct yarn_container_id id, int *ret)
{
    struct nm_localization *l = userdata;
    char text[YARN_ID_TEXT_MAX];
    const struct nm_container *c = nm_container_find(l->ctx, yarn_container_id_text(id, text));
    const void *p = NULL;
    size_t n = 0;

    *ret = -1;
    if (!c || !c->app)
        return 0; /* cb_describe has failed it */
    if (!nm_credentials_of(l->ctx->credentials, c->app->text, &p, &n) && c->clc &&
        c->clc->has_tokens) {
        p = c->clc->tokens.data;
        n = c->clc->tokens.len;
    }
    if (n == 0)
        return 0;
    *ret = n > LOC_CREDENTIALS_MAX ? -E2BIG : sv_memfd_readonly("credentials", p, n);
    return *ret < 0 ? *ret : 0;
}

/* ---- records --------------------------------------------------------------------------------*/

static void cb_removed(void *userdata, const struct loc_record *r);

static void cb_remove(void *userdata, const struct loc_record *r)
{
    struct nm_localization *l = userdata;
    struct exe_delete_what w = {
        .what = EXE_DELETE_RESOURCE,
        .user = r->user ? nm_account_of(l->ctx->conf, r->user) : NULL,
        .submitter = r->user,
        .app = r->app,
        .visibility = r->visibility == LOC_PUBLIC    ? EXE_VISIBILITY_PUBLIC
                      : r->visibility == LOC_PRIVATE ? EXE_VISIBILITY_PRIVATE
                                                     : EXE_VISIBILITY_APPLICATION,
        .resource_id = r->id,
        .resource_dir = r->dir_number,
        .local_mask = r->dir_index >= 0 ? 1u << r->dir_index : 0,
    };

    if (r->dir_index >= 0)
        nm_deletion_resource(l->deletion, &w); /* recorded: continues after a restart */
    cb_removed(userdata, r);
}

static int store_record(struct nm_localization *l, const struct loc_record *r, bool completed)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(64 << 10);
    char key[512];
    int e = nm_loc_record_encode(r, completed, &b);

    nm_loc_record_key(r, key, sizeof(key));
    return e < 0 ? e : nm_store_resource(l->ctx->store, key, b.data, b.len);
}

static int cb_started(void *userdata, const struct loc_record *r)
{
    return store_record(userdata, r, false);
}
static int cb_completed(void *userdata, const struct loc_record *r)
{
    struct nm_localization *l = userdata;

    if (r->resource.size == 0 && r->local_size > 0 && !l->told_no_size) {
        l->told_no_size = true;
        sv_log_notice("%s: its job named a size of 0, which is not verified; said once",
                      r->resource.url);
    }
    return store_record(userdata, r, true);
}
static void cb_removed(void *userdata, const struct loc_record *r)
{
    struct nm_localization *l = userdata;
    char key[512];
    int e;

    nm_loc_record_key(r, key, sizeof(key));
    e = nm_store_resource_remove(l->ctx->store, key);
    if (e < 0)
        sv_log_err("localized resource %s stays in the state store: %s", key, strerror(-e));
}

/* ---- results --------------------------------------------------------------------------------*/

static struct nm_container *find_waiting(struct nm_localization *l, struct yarn_container_id id)
{
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c = nm_container_find(l->ctx, yarn_container_id_text(id, text));

    return c && c->localizing ? c : NULL;
}

static void cb_localized(void *userdata, struct yarn_container_id id, unsigned index,
                         const char *path)
{
    struct nm_container *c = find_waiting(userdata, id);

    if (!c || index >= c->localizing->n || c->localizing->paths[index])
        return;
    c->localizing->paths[index] = strdup(path);
}

static void cb_failed(void *userdata, struct yarn_container_id id, unsigned index,
                      const char *diagnostics)
{
    struct nm_container *c = find_waiting(userdata, id);

    (void)index;
    if (!c)
        return;
    free(c->localizing->failed);
    c->localizing->failed = strdup(diagnostics);
    nm_container_post(c, NM_CONTAINER_EV_RESOURCE_FAILED, diagnostics);
}

struct ready_request {
    struct nm_localization *l;
    struct yarn_container_id id;
};

/* The resources are on record as complete: a restarted daemon does not mistake them for partial
 * downloads, which it would remove under the running container. */
static void on_ready_recorded(void *userdata, int result)
{
    struct ready_request *ready = userdata;
    struct nm_container *c = find_waiting(ready->l, ready->id);

    if (c && result >= 0)
        nm_container_post(c, NM_CONTAINER_EV_RESOURCE_LOCALIZED, NULL);
    else if (c)
        nm_container_post(c, NM_CONTAINER_EV_RESOURCE_FAILED,
                          "the state store could not record what was localized");
    free(ready);
}

static void cb_ready(void *userdata, struct yarn_container_id id,
                     const struct loc_counters *counters)
{
    struct nm_localization *l = userdata;
    struct nm_container *c = find_waiting(l, id);
    struct ready_request *ready;

    if (!c)
        return;
    c->localizing->counters = *counters;
    c->localizing->ready = true;
    c->localize_ms = counters->millis;
    ready = malloc(sizeof(*ready));
    if (ready)
        *ready = (struct ready_request){ l, id };
    if (!ready || nm_store_after_commit(l->ctx->store, on_ready_recorded, ready) < 0) {
        free(ready);
        nm_container_post(c, NM_CONTAINER_EV_RESOURCE_FAILED, "no memory");
    }
}

static const struct loc_callbacks callbacks = {
    .start = cb_start,
    .stop = cb_stop,
    .pick_dir = cb_pick_dir,
    .describe = cb_describe,
    .credentials = cb_credentials,
    .remove = cb_remove,
    .on_started = cb_started,
    .on_completed = cb_completed,
    .on_removed = cb_removed,
    .localized = cb_localized,
    .failed = cb_failed,
    .ready = cb_ready,
};

/* ---- life -----------------------------------------------------------------------------------*/

int nm_localization_new(struct nm_context *ctx, struct nm_deletion *deletion,
                        struct nm_localization **ret, struct sv_error *err)
{
    struct nm_localization *l = calloc(1, sizeof(*l));
    struct loc_config cfg;
    int r;

    if (!l)
        return sv_error_errno(err, -ENOMEM, "localization");
    l->ctx = ctx;
    l->deletion = deletion;
    r = nm_localization_login(&l->login, err);
    if (r < 0) {
        free(l);
        return r;
    }
    nm_localization_config(ctx->conf, &cfg);
    cfg.n_local_dirs = nm_dirs_n_local(ctx->dirs);
    r = loc_cache_new(ctx->event, &cfg, &callbacks, l, &l->cache, err);
    if (r < 0) {
        free(l->login);
        free(l);
        return r;
    }
    *ret = l;
    return 0;
}

struct nm_localization *nm_localization_free(struct nm_localization *l)
{
    struct loc_process *p, *tmp;

    if (!l)
        return NULL;
    loc_cache_free(l->cache);
    DL_FOREACH_SAFE (l->processes, p, tmp)
        process_free(p);
    free(l->login);
    free(l);
    return NULL;
}

static int recover_one(const char *key, const void *value, size_t len, void *userdata)
{
    struct nm_localization *l = userdata;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_buf b = SV_BUF_VIEW(value, len);
    struct sv_error err = { 0 };
    struct loc_record r;
    char rel[2 * LOC_REL_MAX], sub[LOC_REL_MAX + 1];
    bool completed;

    if (!a)
        return -ENOMEM;
    if (sv_has_prefix(key, NM_CREDENTIALS_KEY)) {
        if (nm_credentials_restore(l->ctx->credentials, key + strlen(NM_CREDENTIALS_KEY), value,
                                   len) < 0)
            sv_log_err("state store: \"%.100s\" is malformed, ignoring", key);
        return 0;
    }
    if (nm_loc_record_decode(&b, a, &r, &completed) < 0) {
        sv_log_err("state store: localized resource \"%.100s\" is malformed, ignoring", key);
        return 0;
    }
    for (int i = 0; r.local_dir && i < nm_dirs_n_local(l->ctx->dirs); i++)
        if (!strcmp(r.local_dir, nm_dirs_local(l->ctx->dirs, i)))
            r.dir_index = i;
    loc_hierarchy_path(r.dir_number, sub);
    snprintf(rel, sizeof(rel), "%s%s%llu", sub, *sub ? "/" : "", (unsigned long long)r.id);
    r.rel = rel;
    if (loc_cache_recover(l->cache, &r, completed, &err) < 0)
        sv_log_warning("localized resource %s is not recovered: %s", key, err.text);
    return 0;
}

/* A new entry must not get the number of an entry whose deletion is pending. */
static void reserve_one(const struct exe_delete_what *w, void *userdata)
{
    struct nm_localization *l = userdata;
    enum loc_visibility v = w->visibility == EXE_VISIBILITY_PUBLIC    ? LOC_PUBLIC
                            : w->visibility == EXE_VISIBILITY_PRIVATE ? LOC_PRIVATE
                                                                      : LOC_APPLICATION;

    if (w->what == EXE_DELETE_RESOURCE &&
        loc_cache_reserve(l->cache, v, w->submitter, w->app, w->resource_id) < 0)
        sv_log_err("localized resource %llu: its number could not be reserved until its deletion",
                   (unsigned long long)w->resource_id);
}

int nm_localization_recover(struct nm_localization *l, struct sv_error *err)
{
    int r;

    nm_deletion_each(l->deletion, reserve_one, l);
    r = nm_store_each_resource(l->ctx->store, recover_one, l);
    return r < 0 ? sv_error_errno(err, r, "localized resources") : 0;
}
