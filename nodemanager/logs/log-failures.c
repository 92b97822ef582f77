/* See log-failures.h. */
#include "nodemanager/logs/log-failures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "nodemanager/store/state-store.h"

/* Replaces an earlier failure of the same application. */
static struct nm_log_failure *append(struct nm_log_failures *f, const char *app, const char *why,
                                     size_t n, int64_t until_ms)
{
    struct nm_log_failure *one = calloc(1, sizeof *one), *old;

    if (!one)
        return NULL;
    (void)snprintf(one->app, sizeof one->app, "%s", app);
    (void)snprintf(one->why, sizeof one->why, "%.*s", (int)SV_MIN(n, sizeof one->why - 1), why);
    one->until_ms = until_ms;
    HASH_REPLACE_STR(f->all, app, one, old);
    free(old);
    return one;
}

int nm_log_failures_add(struct nm_log_failures *f, const char *app, const char *account,
                        const char *why, int64_t until_ms)
{
    if (!append(f, app, why, strlen(why), until_ms))
        return -ENOMEM;
    return nm_store_log_upload(f->store, app, account, NM_STORED_UPLOAD_FAILED, why, strlen(why));
}

int nm_log_failures_restore(struct nm_log_failures *f, const struct nm_stored_upload *s,
                            int64_t until_ms, const struct nm_log_failure **ret)
{
    const struct nm_log_failure *one =
        append(f, s->app, s->len > 0 ? s->value : "", s->len, until_ms);

    if (!one)
        return -ENOMEM;
    *ret = one;
    return 0;
}

void nm_log_failures_remove(struct nm_log_failures *f, const char *app)
{
    struct nm_log_failure *one;
    int r;

    HASH_FIND_STR(f->all, app, one);
    if (!one)
        return;
    r = nm_store_log_upload_remove(f->store, app);
    if (r < 0)
        sv_log(SV_LOG_ERR, app, "%s: cannot remove failed upload from state store: %s", app,
               strerror(-r));
    HASH_DEL(f->all, one);
    free(one);
}

void nm_log_failures_clear(struct nm_log_failures *f)
{
    struct nm_log_failure *one, *next;

    HASH_ITER (hh, f->all, one, next) {
        HASH_DEL(f->all, one);
        free(one);
    }
}
