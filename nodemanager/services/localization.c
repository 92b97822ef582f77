/* See localization.h. Hostile: resources that applications request; the cache checks the requests,
 * the localizer the fetched files. Paths in launch scripts are computed here, never received. */
#include "nodemanager/services/localization.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "localizer/cache.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/services/localization-internal.h"
#include "nodemanager/services/localization-request.h"
#include "nodemanager/services/localization-source.h"
#include "nodemanager/store/state-store.h"

/* Events of a part; its number is their code. */
static void post(struct nm_container *c, int event, const struct nm_localizing *z, const char *text)
{
    nm_container_post_exit(c, event, (int)z->part, text);
}

/* True for a part whose result is an event. Before its process runs a container waits for what the
 * launch needs alone, and finds the rest when it runs; PREVIOUS parts are found by a rollback. */
static bool is_told(const struct nm_container *c, const struct nm_localizing *z)
{
    if (z->role == NM_RESOURCES_CURRENT && !z->late)
        return true;
    return z->role != NM_RESOURCES_PREVIOUS && nm_container_is_live(c);
}

static void failed(struct nm_container *c, struct nm_localizing *z, const char *why)
{
    free(z->failed);
    z->failed = strdup(why);
    if (is_told(c, z))
        post(c, NM_CONTAINER_EV_RESOURCE_FAILED, z, why);
}

/* ---- requests -------------------------------------------------------------------------------*/

/* Requests the resources of one part. */
static int request(struct nm_localization *l, struct nm_container *c, struct nm_localizing *z,
                   nm_resource_rows rows, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct loc_resource *list = a ? sv_newn(a, struct loc_resource, z->n + 1) : NULL;
    int r = list ? 0 : sv_error_errno(err, -ENOMEM, "%s: local resources", c->text);

    for (unsigned i = 0; i < z->n && r >= 0; i++)
        r = nm_localization_convert(rows[i], l->ctx->conf->conf, a, &list[i], err);
    return r < 0 ? r : loc_cache_localize(l->cache, c->id, z->part, c->app->user, list, z->n, err);
}

static int add_part(struct nm_localization *l, struct nm_container *c, enum nm_resources_role role,
                    nm_resource_rows rows, size_t n, struct nm_localizing **ret,
                    struct sv_error *err)
{
    int r = nm_resources_add(c, ++l->parts, role, rows, n, ret);

    return r < 0 ? sv_error_errno(err, r, "%s: local resources", c->text) : 0;
}

int nm_localization_request(struct nm_localization *l, struct nm_container *c, struct sv_error *err)
{
    size_t n = c->clc ? c->clc->n_localresources : 0;
    size_t late = SV_MIN((size_t)c->late_resources, n);
    struct nm_localizing *z;
    int r;

    if (n > late) {
        r = add_part(l, c, NM_RESOURCES_CURRENT, c->clc->localresources, n - late, &z, err);
        if (r >= 0)
            r = request(l, c, z, c->clc->localresources, err);
        if (r < 0)
            return r;
    }
    if (late) /* of a recovered container: its adoption does not wait for them */
        nm_localization_add(l, c, c->clc->localresources + n - late, late);
    return n > late ? 0 : 1;
}

/* Each by itself: one that fails leaves the others alone. All are there before the first may fail,
 * which frees the credentials once none is pending. */
void nm_localization_add(struct nm_localization *l, struct nm_container *c, nm_resource_rows rows,
                         size_t n)
{
    struct sv_error err = { 0 };
    unsigned first = l->parts + 1;
    size_t added = 0;

    for (; added < n; added++) {
        struct nm_localizing *z;

        if (add_part(l, c, NM_RESOURCES_CURRENT, rows + added, 1, &z, &err) < 0) {
            sv_log(SV_LOG_ERR, c->text, "%s: %s", c->text, err.text);
            break;
        }
        z->late = true;
    }
    for (size_t i = 0; i < added; i++) {
        struct nm_localizing *z = nm_resources_find(c, first + (unsigned)i);

        if (z && request(l, c, z, rows + i, &err) < 0)
            failed(c, z, err.text);
    }
}

int nm_localization_next(struct nm_localization *l, struct nm_container *c,
                         enum nm_resources_role role,
                         const Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_error *err)
{
    struct nm_localizing *z;
    int r;

    if (clc->n_localresources == 0)
        return 1;
    r = add_part(l, c, role, clc->localresources, clc->n_localresources, &z, err);
    if (r >= 0)
        r = request(l, c, z, clc->localresources, err);
    return r < 0 ? r : 0;
}

static void drop_role(struct nm_localization *l, struct nm_container *c,
                      enum nm_resources_role role)
{
    struct nm_localizing *z, *tmp;

    DL_FOREACH_SAFE (c->localizing, z, tmp) {
        if (z->role != role)
            continue;
        loc_cache_release(l->cache, c->id, z->part);
        nm_resources_drop(c, z);
    }
}

static void change_role(struct nm_container *c, enum nm_resources_role from,
                        enum nm_resources_role to)
{
    struct nm_localizing *z;

    DL_FOREACH (c->localizing, z)
        if (z->role == from)
            z->role = to;
}

void nm_localization_replace(struct nm_localization *l, struct nm_container *c,
                             enum nm_resources_role by, bool keep)
{
    if (keep) {
        drop_role(l, c, NM_RESOURCES_PREVIOUS);
        change_role(c, NM_RESOURCES_CURRENT, NM_RESOURCES_PREVIOUS);
    }
    drop_role(l, c, NM_RESOURCES_CURRENT);
    change_role(c, by, NM_RESOURCES_CURRENT);
    if (!keep)
        drop_role(l, c, NM_RESOURCES_PREVIOUS);
}

void nm_localization_forget(struct nm_localization *l, struct nm_container *c,
                            enum nm_resources_role role)
{
    drop_role(l, c, role);
}

void nm_localization_release(struct nm_localization *l, struct nm_container *c)
{
    for (int role = NM_RESOURCES_CURRENT; role <= NM_RESOURCES_PREVIOUS; role++)
        drop_role(l, c, (enum nm_resources_role)role);
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
    const struct nm_localizing *z;

    DL_FOREACH (c->localizing, z) {
        if (index < z->n)
            return loc_cache_progress(l->cache, c->id, z->part, index, ret) < 0 ? NULL
                                                                                : z->keys[index];
        index -= z->n;
    }
    return NULL;
}

void nm_localization_stats(const struct nm_localization *l, struct loc_stats *ret)
{
    loc_cache_stats(l->cache, ret);
}

/* ---- callbacks of the cache ------------------------------------------------------------------*/

static int cb_describe(void *userdata, struct yarn_container_id id, const struct loc_resource *r,
                       struct loc_fetch *f, struct sv_error *err)
{
    struct nm_localization *l = userdata;
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c = nm_container_find(l->ctx, yarn_container_id_text(id, text));
    const char *login = r->visibility == LOC_PUBLIC ? l->login : c ? c->app->user : NULL;
    const Hadoop__Yarn__ContainerLaunchContextProto *clc = c ? nm_localization_context(c) : NULL;
    struct nm_source_user user = { .login = login };

    if (!login) /* never as another user */
        return sv_error_set(err, -ENOENT, "Resource %s: its container is gone", r->url);
    if (r->visibility != LOC_PUBLIC && clc && clc->has_tokens) {
        user.credentials = clc->tokens.data;
        user.n_credentials = clc->tokens.len;
    }
    return nm_localization_source(l->ctx->conf->conf, r, &user, f, err);
}

/* ---- results --------------------------------------------------------------------------------*/

static struct nm_localizing *find_part(struct nm_localization *l, struct yarn_container_id id,
                                       unsigned part, struct nm_container **ret)
{
    char text[YARN_ID_TEXT_MAX];

    *ret = nm_container_find(l->ctx, yarn_container_id_text(id, text));
    return *ret ? nm_resources_find(*ret, part) : NULL;
}

static void cb_localized(void *userdata, struct yarn_container_id id, unsigned part, unsigned index,
                         const char *path)
{
    struct nm_container *c;
    struct nm_localizing *z = find_part(userdata, id, part, &c);

    if (z && index < z->n && !z->paths[index])
        z->paths[index] = strdup(path);
}

static void cb_failed(void *userdata, struct yarn_container_id id, unsigned part, unsigned index,
                      const char *diagnostics)
{
    struct nm_container *c;
    struct nm_localizing *z = find_part(userdata, id, part, &c);

    (void)index;
    if (z)
        failed(c, z, diagnostics);
}

struct ready_request {
    struct nm_localization *l;
    struct yarn_container_id id;
    unsigned part;
};

/* The resources are recorded as complete: a restarted daemon would otherwise take them for partial
 * downloads and remove them under the running container. */
static void on_ready_recorded(void *userdata, int result)
{
    struct ready_request *ready = userdata;
    struct nm_container *c;
    struct nm_localizing *z = find_part(ready->l, ready->id, ready->part, &c);

    free(ready);
    if (!z)
        return;
    if (result < 0) {
        failed(c, z, "the state store could not record the localized resources");
        return;
    }
    z->ready = true;
    if (is_told(c, z))
        post(c, NM_CONTAINER_EV_RESOURCE_LOCALIZED, z, NULL);
}

static void cb_ready(void *userdata, struct yarn_container_id id, unsigned part,
                     const struct loc_counters *counters)
{
    struct nm_localization *l = userdata;
    struct nm_container *c;
    struct nm_localizing *z = find_part(l, id, part, &c);
    struct ready_request *ready;

    if (!z)
        return;
    z->counters = *counters;
    if (!z->late && z->role == NM_RESOURCES_CURRENT) {
        c->localize_ms = counters->millis;
        sv_rate_add(&c->ctx->counters.localizations, (double)counters->millis, sv_now_ms());
        sv_histogram_add(&c->ctx->counters.localization_times, counters->millis);
    }
    ready = malloc(sizeof(*ready));
    if (ready)
        *ready = (struct ready_request){ l, id, part };
    if (!ready || nm_store_after_commit(l->ctx->store, on_ready_recorded, ready) < 0) {
        free(ready);
        failed(c, z, "no memory");
    }
}

static const struct loc_callbacks callbacks = {
    .start = nm_localization_process_start,
    .stop = nm_localization_process_stop,
    .pick_dir = nm_localization_pick_dir,
    .describe = cb_describe,
    .credentials = nm_localization_credentials,
    .refused = nm_localization_refused,
    .remove = nm_localization_remove,
    .on_started = nm_localization_record_started,
    .on_completed = nm_localization_record_completed,
    .on_removed = nm_localization_record_removed,
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
    if (r >= 0 && (r = nm_localization_tokens_new(l)) < 0)
        (void)sv_error_errno(err, r, "localization");
    if (r < 0) {
        nm_localization_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

struct nm_localization *nm_localization_free(struct nm_localization *l)
{
    if (!l)
        return NULL;
    l->tokens = nm_hdfs_tokens_free(l->tokens);
    loc_cache_free(l->cache);
    nm_localization_processes_free(l);
    free(l->login);
    free(l);
    return NULL;
}
