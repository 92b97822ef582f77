/* See earlier.h. */
#include "nodemanager/rm/earlier.h"

#include "nodemanager/core/container-status.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/rm/rm-session.h"

Hadoop__Yarn__NMContainerStatusProto **nm_rm_earlier(struct nm_updater *u, struct sv_arena *a,
                                                     size_t *ret_n)
{
    struct nm_context *ctx = u->ctx;
    Hadoop__Yarn__NMContainerStatusProto **v =
        sv_newn(a, Hadoop__Yarn__NMContainerStatusProto *, HASH_COUNT(ctx->containers) + 1);
    size_t n = 0;

    for (struct nm_container *c = ctx->containers; v && c; c = c->hh.next) {
        c->report.telling =
            u->rm_takes_earlier && !c->report.told && c->rm_identifier != u->rm_identifier;
        if (!c->report.telling)
            continue;
        v[n] = nm_container_nm_status(c, a);
        if (!v[n++])
            return NULL;
    }
    *ret_n = n;
    return v;
}

void nm_rm_earlier_delivered(struct nm_updater *u)
{
    for (struct nm_container *c = u->ctx->containers; c; c = c->hh.next) {
        c->report.told |= c->report.telling;
        c->report.telling = false;
    }
}
