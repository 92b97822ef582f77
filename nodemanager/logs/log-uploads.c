/* The list of uploads and their records; see log-internal.h. */
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "nodemanager/logs/log-internal.h"
#include "nodemanager/store/state-store.h"

#define SKIPS_MAX (16u << 20)
#define FIELDS_MAX (1u << 20)

/* ---- The list ---- */

struct nm_upload *nm_upload_add(struct nm_log_aggregation *g, struct yarn_app_id app,
                                const char *account)
{
    struct nm_upload *u = calloc(1, sizeof(*u));

    if (!u)
        return NULL;
    u->g = g;
    u->app = app;
    yarn_app_id_text(app, u->text);
    (void)snprintf(u->account, sizeof(u->account), "%s", account);
    u->fields = SV_BUF_INIT(FIELDS_MAX);
    u->skips = SV_BUF_INIT(SKIPS_MAX);
    u->ended = SV_BUF_INIT(SKIPS_MAX);
    u->credentials = SV_BUF_INIT(FS_TOKENS_BYTES_MAX);
    u->channel = -1;
    DL_APPEND(g->list, u);
    return u;
}

void nm_upload_drop(struct nm_upload *u)
{
    nm_upload_stop(u);
    DL_DELETE(u->g->list, u);
    sv_buf_free(&u->fields);
    sv_buf_free(&u->skips);
    sv_buf_free(&u->ended);
    sv_buf_wipe(&u->credentials);
    free(u);
}

/* ---- Records ---- */

int nm_upload_record(const struct nm_upload *u)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(FIELDS_MAX + sizeof(u->head));
    int r = sv_buf_put(&b, &u->head, sizeof(u->head));

    if (r == 0)
        r = sv_buf_put(&b, u->fields.data, u->fields.len);
    return r < 0 ? r
                 : nm_store_log_upload(u->g->ctx->store, u->text, u->account,
                                       u->state == NM_UPLOAD_APP_RUNS ? NM_STORED_UPLOAD_APP_RUNS
                                                                      : NM_STORED_UPLOAD_PENDING,
                                       b.data, b.len);
}

void nm_upload_unrecord(const struct nm_upload *u)
{
    int r = nm_store_log_upload_remove(u->g->ctx->store, u->text);

    if (r < 0)
        sv_log(SV_LOG_ERR, u->text, "%s: cannot remove upload from state store: %s", u->text,
               strerror(-r));
}
