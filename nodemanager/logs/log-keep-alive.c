/* Applications that have ended, but whose logs this node is still to upload with their tokens: the
 * ResourceManager cancels these some time after the end, and puts it off each time that it is told
 * (NodeStatusUpdaterImpl's keep-alive). In secure clusters alone, as in Hadoop. */
#include <utlist.h>

#include "common/clock.h"
#include "nodemanager/logs/log-internal.h"
#include "wire/ipc/backoff.h"

/* Between 70 and 90 % of the interval: nodes that heard of the end together do not answer so. */
static int64_t next(const struct nm_upload *u)
{
    int64_t interval = u->g->ctx->conf->logs.rm_expiry_ms;

    return sv_now_ms() + interval / 10 * 7 + interval / 1000 * (int64_t)(ipc_backoff_noise() % 201);
}

void nm_upload_keep_alive(struct nm_upload *u, bool at_once)
{
    if (u->g->ctx->kerberos && u->keep_alive_ms == 0)
        u->keep_alive_ms = at_once ? sv_now_ms() : next(u);
}

void nm_upload_keep_alive_told(struct nm_upload *u)
{
    if (u->keep_alive_told)
        u->keep_alive_ms = next(u);
    u->keep_alive_told = false;
}

void nm_aggregation_app_ends(struct nm_log_aggregation *g, const char *app)
{
    struct nm_upload *u = nm_upload_find(g, app);

    if (u && u->state != NM_UPLOAD_OVER)
        nm_upload_keep_alive(u, false);
}

Hadoop__Yarn__ApplicationIdProto **nm_aggregation_keep_alive(struct nm_log_aggregation *g,
                                                             struct sv_arena *a, size_t *ret_n)
{
    Hadoop__Yarn__ApplicationIdProto **list;
    int64_t now = sv_now_ms();
    struct nm_upload *u;
    size_t n = 0;

    DL_COUNT(g->list, u, n);
    list = sv_newn(a, Hadoop__Yarn__ApplicationIdProto *, n + 1);
    if (!list)
        return NULL;
    n = 0;
    DL_FOREACH (g->list, u) {
        u->keep_alive_told =
            u->keep_alive_ms != 0 && u->keep_alive_ms <= now && u->state != NM_UPLOAD_OVER;
        if (!u->keep_alive_told)
            continue;
        list[n] = yarn_app_id_to(a, u->app);
        if (!list[n++])
            return NULL;
    }
    *ret_n = n;
    return list;
}
