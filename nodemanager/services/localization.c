/* See localization.h. Hostile: resources that applications request; the cache checks the requests,
 * the localizer the fetched files. Paths in launch scripts are computed here, never received. */
#include "nodemanager/services/localization.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "executor/exe.h"
#include "localizer/cache.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/services/localization-internal.h"
#include "nodemanager/services/localization-request.h"
#include "nodemanager/services/localization-source.h"
#include "nodemanager/store/state-store.h"

struct nm_localizing { /* state of one container, from the request to the release */
    unsigned n;
    char **keys;  /* by index of the request, which is freed when the container runs */
    char **paths; /* by the same index; NULL until localized */
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
        r = nm_localization_convert(c->clc->localresources[i], l->ctx->conf->conf, a, &list[i],
                                    err);
    if (r >= 0)
        r = loc_cache_localize(l->cache, c->id, 0, c->app->user, list, (unsigned)n, err);
    return r < 0 ? r : 0;
}

void nm_localization_release(struct nm_localization *l, struct nm_container *c)
{
    struct nm_localizing *z = c->localizing;

    if (!z)
        return;
    c->localizing = NULL;
    loc_cache_release(l->cache, c->id, 0);
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

    if (!z || index >= z->n || loc_cache_progress(l->cache, c->id, 0, index, ret) < 0)
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
    if (!z) /* another launch of one whose files the cache has lost meanwhile */
        return c->clc && c->clc->n_localresources ? -ENOENT : 0;
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

/* ---- callbacks of the cache ------------------------------------------------------------------*/

static int cb_describe(void *userdata, struct yarn_container_id id, const struct loc_resource *r,
                       struct loc_fetch *f, struct sv_error *err)
{
    struct nm_localization *l = userdata;
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c = nm_container_find(l->ctx, yarn_container_id_text(id, text));
    const char *login = r->visibility == LOC_PUBLIC ? l->login : c ? c->app->user : NULL;

    struct nm_source_user user = { .login = login };

    if (!login) /* never as another user */
        return sv_error_set(err, -ENOENT, "Resource %s: its container is gone", r->url);
    if (r->visibility != LOC_PUBLIC && c->clc && c->clc->has_tokens) {
        user.credentials = c->clc->tokens.data;
        user.n_credentials = c->clc->tokens.len;
    }
    return nm_localization_source(l->ctx->conf->conf, r, &user, f, err);
}

/* Credentials renewed by the ResourceManager replace the container's, all of them. */
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
    *ret = n > FS_CREDENTIALS_MAX ? -E2BIG : sv_memfd_readonly("credentials", p, n);
    return *ret < 0 ? *ret : 0;
}

/* ---- results --------------------------------------------------------------------------------*/

static struct nm_container *find_waiting(struct nm_localization *l, struct yarn_container_id id)
{
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c = nm_container_find(l->ctx, yarn_container_id_text(id, text));

    return c && c->localizing ? c : NULL;
}

static void cb_localized(void *userdata, struct yarn_container_id id, unsigned part, unsigned index,
                         const char *path)
{
    struct nm_container *c = find_waiting(userdata, id);

    (void)part;
    if (!c || index >= c->localizing->n || c->localizing->paths[index])
        return;
    c->localizing->paths[index] = strdup(path);
}

static void cb_failed(void *userdata, struct yarn_container_id id, unsigned part, unsigned index,
                      const char *diagnostics)
{
    struct nm_container *c = find_waiting(userdata, id);

    (void)part;
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

/* The resources are recorded as complete: a restarted daemon would otherwise take them for partial
 * downloads and remove them under the running container. */
static void on_ready_recorded(void *userdata, int result)
{
    struct ready_request *ready = userdata;
    struct nm_container *c = find_waiting(ready->l, ready->id);

    if (c && result >= 0)
        nm_container_post(c, NM_CONTAINER_EV_RESOURCE_LOCALIZED, NULL);
    else if (c)
        nm_container_post(c, NM_CONTAINER_EV_RESOURCE_FAILED,
                          "the state store could not record the localized resources");
    free(ready);
}

static void cb_ready(void *userdata, struct yarn_container_id id, unsigned part,
                     const struct loc_counters *counters)
{
    struct nm_localization *l = userdata;
    struct nm_container *c = find_waiting(l, id);
    struct ready_request *ready;

    (void)part;
    if (!c)
        return;
    c->localizing->counters = *counters;
    c->localizing->ready = true;
    c->localize_ms = counters->millis;
    sv_rate_add(&c->ctx->counters.localizations, (double)counters->millis, sv_now_ms());
    ready = malloc(sizeof(*ready));
    if (ready)
        *ready = (struct ready_request){ l, id };
    if (!ready || nm_store_after_commit(l->ctx->store, on_ready_recorded, ready) < 0) {
        free(ready);
        nm_container_post(c, NM_CONTAINER_EV_RESOURCE_FAILED, "no memory");
    }
}

static const struct loc_callbacks callbacks = {
    .start = nm_localization_process_start,
    .stop = nm_localization_process_stop,
    .pick_dir = nm_localization_pick_dir,
    .describe = cb_describe,
    .credentials = cb_credentials,
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
    if (!l)
        return NULL;
    loc_cache_free(l->cache);
    nm_localization_processes_free(l);
    free(l->login);
    free(l);
    return NULL;
}
