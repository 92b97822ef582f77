/* See system-credentials.h. */
#include "nodemanager/core/system-credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/log.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"
#include "wire/ids.h"

struct row {
    UT_hash_handle hh;
    char app[YARN_ID_TEXT_MAX];
    bool on_record;
    size_t n;
    uint8_t bytes[];
};

struct nm_credentials {
    struct nm_context *ctx;
    struct row *rows;
};

int nm_credentials_new(struct nm_context *ctx, struct nm_credentials **ret)
{
    struct nm_credentials *c = calloc(1, sizeof(*c));

    if (!c)
        return -ENOMEM;
    c->ctx = ctx;
    *ret = c;
    return 0;
}

static void row_free(struct row *r)
{
    explicit_bzero(r->bytes, r->n);
    free(r);
}

static void free_all(struct row **rows)
{
    struct row *r, *tmp;

    HASH_ITER (hh, *rows, r, tmp) {
        HASH_DEL(*rows, r);
        row_free(r);
    }
}

struct nm_credentials *nm_credentials_free(struct nm_credentials *c)
{
    if (!c)
        return NULL;
    free_all(&c->rows);
    free(c);
    return NULL;
}

static struct row *find(struct row *rows, const char *app)
{
    struct row *r = NULL;

    HASH_FIND_STR(rows, app, r);
    return r;
}

static int add(struct row **rows, const char *app, const void *p, size_t n)
{
    struct row *r = find(*rows, app);

    if (r) { /* sent twice: the last one counts */
        HASH_DEL(*rows, r);
        row_free(r);
    }
    r = calloc(1, sizeof(*r) + n);
    if (!r)
        return -ENOMEM;
    snprintf(r->app, sizeof(r->app), "%s", app);
    r->n = n;
    if (n)
        memcpy(r->bytes, p, n);
    HASH_ADD_STR(*rows, app, r);
    return 0;
}

static void key_of(const char *app, char key[sizeof(NM_CREDENTIALS_KEY) + YARN_ID_TEXT_MAX])
{
    snprintf(key, sizeof(NM_CREDENTIALS_KEY) + YARN_ID_TEXT_MAX, NM_CREDENTIALS_KEY "%s", app);
}

static void put_on_record(struct nm_credentials *c, struct row *r)
{
    char key[sizeof(NM_CREDENTIALS_KEY) + YARN_ID_TEXT_MAX];
    int k;

    if (r->on_record || !nm_app_find(c->ctx, r->app))
        return;
    key_of(r->app, key);
    k = nm_store_resource(c->ctx->store, key, r->bytes, r->n);
    r->on_record = k >= 0;
    if (k < 0)
        sv_log(SV_LOG_ERR, r->app, "%s: cannot record renewed credentials in state store: %s",
               r->app, strerror(-k));
}

static void drop_record(struct nm_credentials *c, const struct row *r)
{
    char key[sizeof(NM_CREDENTIALS_KEY) + YARN_ID_TEXT_MAX];
    int k;

    if (!r->on_record)
        return;
    key_of(r->app, key);
    k = nm_store_resource_remove(c->ctx->store, key);
    if (k < 0)
        sv_log(SV_LOG_ERR, r->app, "%s: cannot remove credentials from state store: %s", r->app,
               strerror(-k));
}

/* Replaces old rows; writes a record only if the bytes differ. */
static void install(struct nm_credentials *c, struct row *fresh)
{
    struct row *old = c->rows, *r, *tmp;

    c->rows = fresh;
    HASH_ITER (hh, old, r, tmp) {
        struct row *now = find(fresh, r->app);

        if (!now)
            drop_record(c, r);
        else
            now->on_record = r->on_record && r->n == now->n && !memcmp(r->bytes, now->bytes, r->n);
    }
    free_all(&old);
    HASH_ITER (hh, c->rows, r, tmp)
        put_on_record(c, r);
}

int nm_credentials_replace(struct nm_credentials *c,
                           Hadoop__Yarn__SystemCredentialsForAppsProto *const *rows, size_t n)
{
    struct row *fresh = NULL;
    uint64_t total = 0;
    int r = 0;

    for (size_t i = 0; i < n && r >= 0; i++) {
        char app[YARN_ID_TEXT_MAX];
        struct yarn_app_id id;

        if (!rows[i]->has_credentialsforapp || yarn_app_id_from(rows[i]->appid, &id) < 0)
            continue;
        yarn_app_id_text(id, app);
        if (rows[i]->credentialsforapp.len > NM_CREDENTIALS_MAX) {
            sv_log(SV_LOG_ERR, app,
                   "%s: its renewed credentials have %zu bytes, at most %u are "
                   "taken",
                   app, rows[i]->credentialsforapp.len, NM_CREDENTIALS_MAX);
            continue;
        }
        total += rows[i]->credentialsforapp.len;
        r = total > NM_CREDENTIALS_TOTAL_MAX
                ? -E2BIG
                : add(&fresh, app, rows[i]->credentialsforapp.data, rows[i]->credentialsforapp.len);
    }
    if (r < 0) {
        sv_log_err("renewed credentials of %zu applications are not taken: %s", n, strerror(-r));
        free_all(&fresh);
        return r;
    }
    if (fresh)
        install(c, fresh);
    return 0;
}

int nm_credentials_restore(struct nm_credentials *c, const char *app, const void *p, size_t n)
{
    struct yarn_app_id id;
    int r;

    if (yarn_app_id_parse(app, &id) < 0 || n > NM_CREDENTIALS_MAX)
        return -EBADMSG;
    r = add(&c->rows, app, p, n);
    if (r < 0)
        return r;
    find(c->rows, app)->on_record = true;
    if (!nm_app_find(c->ctx, app)) /* the daemon ended before it removed the record */
        nm_credentials_app_finished(c, app);
    return 0;
}

bool nm_credentials_of(struct nm_credentials *c, const char *app, const void **ret, size_t *ret_n)
{
    struct row *r = find(c->rows, app);

    if (!r)
        return false;
    put_on_record(c, r); /* it may have arrived before its application */
    *ret = r->bytes;
    *ret_n = r->n;
    return true;
}

void nm_credentials_app_finished(struct nm_credentials *c, const char *app)
{
    struct row *r = find(c->rows, app);

    if (!r)
        return;
    drop_record(c, r);
    HASH_DEL(c->rows, r);
    row_free(r);
}
