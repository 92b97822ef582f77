/* Tokens with which an application's logs are uploaded: those of file systems that the launch
 * context of its first container here has, on record until the last upload is over. Renewed ones of
 * the ResourceManager are added to them for each upload, as Hadoop's NodeManager does. Hostile: the
 * launch context. Secrets: never logged. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/logs/log-internal.h"
#include "nodemanager/store/state-store.h"

#define KEY_MAX (sizeof(NM_UPLOAD_CREDENTIALS_KEY) + YARN_ID_TEXT_MAX)

static bool is_local(const struct nm_upload *u)
{
    return !*u->g->remote.servers && !*u->g->remote.web;
}

static void record(const struct nm_upload *u)
{
    char key[KEY_MAX];
    int r;

    (void)snprintf(key, sizeof(key), NM_UPLOAD_CREDENTIALS_KEY "%s", u->text);
    r = u->credentials.len > 0
            ? nm_store_resource(u->g->ctx->store, key, u->credentials.data, u->credentials.len)
            : 0;
    if (r < 0)
        sv_log(SV_LOG_ERR, u->text,
               "%s: cannot record the tokens of its uploads in state store: %s; after a restart "
               "they are missing",
               u->text, strerror(-r));
}

static void unrecord(struct nm_store *store, const char *app)
{
    char key[KEY_MAX];
    int r;

    (void)snprintf(key, sizeof(key), NM_UPLOAD_CREDENTIALS_KEY "%s", app);
    r = nm_store_resource_remove(store, key);
    if (r < 0)
        sv_log(SV_LOG_ERR, app, "%s: cannot remove tokens from state store: %s", app, strerror(-r));
}

/* Appends the upload's tokens, with the renewed ones first. */
static int gather(const struct nm_upload *u, struct sv_buf *b, struct sv_error *err)
{
    struct fs_credentials parts[2] = { { u->credentials.data, u->credentials.len }, { NULL, 0 } };
    struct nm_credentials *renewed = u->g->ctx->credentials;
    int r;

    if (renewed)
        (void)nm_credentials_of(renewed, u->text, &parts[1].p, &parts[1].n); /* or none, ignoring */
    r = fs_tokens_gather(parts, 2, b, err);
    if (r >= 0 || parts[1].n == 0)
        return r;
    sv_log(SV_LOG_WARNING, u->text,
           "%s: the ResourceManager's renewed %s; its logs are uploaded with the tokens of its "
           "submission",
           u->text, err->text);
    *err = (struct sv_error){ 0 };
    return fs_tokens_gather(parts, 1, b, err);
}

/* Makes the tokens the upload's own. */
static void keep(struct nm_upload *u, const struct sv_buf *tokens)
{
    if (tokens->len == 0 || (tokens->len == u->credentials.len &&
                             !memcmp(tokens->data, u->credentials.data, tokens->len)))
        return;
    if (u->credentials.len > 0)
        explicit_bzero(u->credentials.data, u->credentials.len);
    u->credentials.len = 0;
    if (sv_buf_put(&u->credentials, tokens->data, tokens->len) < 0)
        sv_log(SV_LOG_ERR, u->text, "%s: out of memory: its logs are uploaded without its tokens",
               u->text);
    record(u);
}

void nm_upload_credentials_submitted(struct nm_upload *u, struct fs_credentials submitted)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(FS_TOKENS_BYTES_MAX);
    struct sv_error err = { 0 };
    int r;

    if (is_local(u) || submitted.n == 0)
        return;
    r = fs_tokens_gather(&submitted, 1, &b, &err);
    if (r < 0)
        sv_log(SV_LOG_WARNING, u->text, "%s: its logs are uploaded without its tokens: %s", u->text,
               err.text);
    else
        keep(u, &b);
}

void nm_upload_credentials_last(struct nm_upload *u)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(FS_TOKENS_BYTES_MAX);
    struct sv_error err = { 0 };

    if (!is_local(u) && gather(u, &b, &err) >= 0)
        keep(u, &b);
}

int nm_upload_credentials(const struct nm_upload *u, int *ret, struct sv_error *err)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(FS_TOKENS_BYTES_MAX);
    int fd = -1, r = is_local(u) ? 0 : gather(u, &b, err);

    if (r < 0)
        return r;
    if (b.len > 0) {
        fd = sv_memfd_readonly("credentials", b.data, b.len);
        if (fd < 0)
            return sv_error_errno(err, fd, "credentials");
    }
    *ret = fd;
    return 0;
}

void nm_upload_credentials_forget(struct nm_upload *u)
{
    if (u->credentials.len > 0)
        unrecord(u->g->ctx->store, u->text);
    sv_buf_wipe(&u->credentials);
}

/* ---- Recovery ---- */

static int restore_one(const char *key, const void *value, size_t len, void *userdata)
{
    struct nm_log_aggregation *g = userdata;
    size_t prefix = strlen(NM_UPLOAD_CREDENTIALS_KEY);
    struct yarn_app_id id;
    struct nm_upload *u;

    if (strncmp(key, NM_UPLOAD_CREDENTIALS_KEY, prefix) != 0)
        return 0;
    if (yarn_app_id_parse(key + prefix, &id) < 0 || len > FS_TOKENS_BYTES_MAX) {
        sv_log_err("state store: \"%.100s\" is malformed, ignoring", key);
        return 0;
    }
    u = nm_upload_find(g, key + prefix);
    if (u && u->state != NM_UPLOAD_OVER)
        return sv_buf_put(&u->credentials, value, len);
    unrecord(g->ctx->store, key + prefix); /* the daemon ended before it was removed */
    return 0;
}

int nm_upload_credentials_restore(struct nm_log_aggregation *g)
{
    return nm_store_each_resource(g->ctx->store, restore_one, g);
}
