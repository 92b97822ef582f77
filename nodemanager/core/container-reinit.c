/* See container-reinit.h. */
#include "nodemanager/core/container-reinit.h"

#include <errno.h>

#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"

void nm_reinit_drop(struct nm_container *c)
{
    c->reinit.arena = sv_arena_free(c->reinit.arena);
    c->reinit.clc = NULL;
}

static int on_request(const void *request, size_t len, void *userdata)
{
    struct nm_container *c = userdata;
    const Hadoop__Yarn__StartContainerRequestProto *m;

    nm_reinit_drop(c);
    c->reinit.arena = sv_arena_new(0);
    if (!c->reinit.arena)
        return -ENOMEM;
    m = hadoop__yarn__start_container_request_proto__unpack(sv_arena_protobuf(c->reinit.arena), len,
                                                            request);
    c->reinit.clc = m ? m->container_launch_context : NULL;
    return c->reinit.clc ? 0 : -EBADMSG;
}

int nm_reinit_load(struct nm_container *c, bool previous)
{
    int r = nm_store_container_request(
        c->ctx->store, c->text, previous ? NM_STORED_PREVIOUS : NM_STORED_NEXT, on_request, c);

    if (r < 0)
        nm_reinit_drop(c);
    return r;
}

int nm_reinit_renew(struct nm_container *c, int kind)
{
    int r;

    nm_reinit_drop(c);
    nm_container_drop_request(c);
    if (kind != NM_REINIT_RESTART) {
        c->late_resources = 0;
        c->reinit.can_rollback = kind == NM_REINIT_UPGRADE;
    }
    r = nm_container_load_request(c);
    if (r >= 0)
        nm_retry_set(&c->retry, c->clc, c->ctx->conf->retry_minimum_ms);
    return r;
}

void nm_reinit_end(struct nm_container *c)
{
    nm_reinit_drop(c);
    c->reinit.kind = NM_REINIT_NONE;
    c->reinit.kills = false;
}
