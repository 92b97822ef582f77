/* See localization-internal.h: cache entries in the state store, and back from it. */
#include "nodemanager/services/localization-internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/localization-records.h"
#include "nodemanager/store/state-store.h"

void nm_localization_remove(void *userdata, const struct loc_record *r)
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
    nm_localization_record_removed(userdata, r);
}

static int store_record(struct nm_localization *l, const struct loc_record *r, bool completed)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(64 << 10);
    char key[512];
    int e = nm_loc_record_encode(r, completed, &b);

    nm_loc_record_key(r, key, sizeof(key));
    return e < 0 ? e : nm_store_resource(l->ctx->store, key, b.data, b.len);
}

/* Committed before the localizer knows of it: nobody would delete the directory that it makes for a
 * daemon that dies in between. */
int nm_localization_record_started(void *userdata, const struct loc_record *r)
{
    struct nm_localization *l = userdata;
    int e = store_record(l, r, false);

    return e < 0 ? e : nm_store_flush(l->ctx->store);
}
int nm_localization_record_completed(void *userdata, const struct loc_record *r)
{
    struct nm_localization *l = userdata;

    if (r->resource.size == 0 && r->local_size > 0 && !l->told_no_size) {
        l->told_no_size = true;
        sv_log_notice("%s: its job named a size of 0, which is not verified; said once",
                      r->resource.url);
    }
    return store_record(userdata, r, true);
}
void nm_localization_record_removed(void *userdata, const struct loc_record *r)
{
    struct nm_localization *l = userdata;
    char key[512];
    int e;

    nm_loc_record_key(r, key, sizeof(key));
    e = nm_store_resource_remove(l->ctx->store, key);
    if (e < 0)
        sv_log_err("cannot remove localized resource %s from state store: %s", key, strerror(-e));
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
    if (sv_has_prefix(key, NM_UPLOAD_CREDENTIALS_KEY))
        return 0;
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

/* Reserves the number of an entry whose deletion is pending: a new entry must not get it. */
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
