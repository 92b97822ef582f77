/* Updates of containers: the ResourceManager decides, then the node is told by a new token. */
#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"

#define UPDATES_MAX 1000 /* of one heartbeat; the next one has the rest */

static void report(struct cli_am *am, struct am_container *c, int status,
                   const struct sv_error *err)
{
    c->update = NO_UPDATE;
    if (am->phase != OVER && am->ops.updated)
        am->ops.updated(am, &c->allocation, c->update_type, status, err, am->userdata);
}

int cli_am_update(struct cli_am *am, struct yarn_container_id id, enum cli_update type,
                  struct yarn_resource resource)
{
    struct am_container *c = cli_am_find(am, id);

    if (!c)
        return -ENOENT;
    if (c->update != NO_UPDATE)
        return -EALREADY;
    if (type != CLI_INCREASE && type != CLI_DECREASE && type != CLI_PROMOTE && type != CLI_DEMOTE)
        return -EINVAL;
    c->update_type = type;
    c->update_resource = resource;
    c->update = UPDATE_WANTED;
    DL_APPEND(am->wanted_updates, c);
    cli_am_wake_soon(am);
    return 0;
}

/* ---- To the ResourceManager ---- */

static Hadoop__Yarn__UpdateContainerRequestProto *update_to(struct sv_arena *a,
                                                            const struct am_container *c)
{
    Hadoop__Yarn__UpdateContainerRequestProto *m =
        sv_new(a, Hadoop__Yarn__UpdateContainerRequestProto);
    bool size = c->update_type == CLI_INCREASE || c->update_type == CLI_DECREASE;

    if (!m)
        return NULL;
    hadoop__yarn__update_container_request_proto__init(m);
    m->container_version = c->allocation.version;
    m->container_id = yarn_container_id_to(a, c->allocation.id);
    m->update_type = (Hadoop__Yarn__ContainerUpdateTypeProto)c->update_type;
    if (size && !(m->capability = yarn_resource_to(a, c->update_resource)))
        return NULL;
    m->has_execution_type = !size;
    m->execution_type = c->update_type == CLI_DEMOTE
                            ? HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC
                            : HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED;
    return m->container_id ? m : NULL;
}

int cli_am_add_updates(struct cli_am *am, struct sv_arena *a, Hadoop__Yarn__AllocateRequestProto *m)
{
    struct am_container *c;

    if (!am->wanted_updates)
        return 0;
    m->update_requests = sv_newn(a, Hadoop__Yarn__UpdateContainerRequestProto *, UPDATES_MAX);
    if (!m->update_requests)
        return -ENOMEM;
    DL_FOREACH (am->wanted_updates, c) {
        if (m->n_update_requests == UPDATES_MAX)
            return 0;
        m->update_requests[m->n_update_requests] = update_to(a, c);
        if (!m->update_requests[m->n_update_requests++])
            return -ENOMEM;
    }
    return 0;
}

void cli_am_updates_taken(struct cli_am *am)
{
    for (size_t i = 0; i < UPDATES_MAX && am->wanted_updates; i++) {
        struct am_container *c = am->wanted_updates;

        DL_DELETE(am->wanted_updates, c);
        c->update = UPDATE_SENT;
    }
}

/* ---- Its answers ---- */

static void on_node(struct yarn_container_id id, int status, const ProtobufCMessage *response,
                    const struct sv_error *err, void *userdata)
{
    struct cli_am *am = userdata;
    struct am_container *c = cli_am_find(am, id);

    (void)response;
    if (!c || c->update != UPDATE_AT_NODE)
        return; /* ended meanwhile */
    /* The ResourceManager may have told the node first. */
    if (status == -EREMOTEIO && err && strstr(err->text, "has update version ["))
        status = 0;
    report(am, c, status, status < 0 ? err : NULL);
}

void cli_am_take_updated(struct cli_am *am, const Hadoop__Yarn__UpdatedContainerProto *m)
{
    struct sv_error err = { 0 };
    struct yarn_container_id id;
    struct am_container *c;
    int r;

    if (yarn_container_id_from(m->container->id, &id) < 0 || !(c = cli_am_find(am, id)) ||
        m->container->version <= c->allocation.version)
        return; /* ended meanwhile, or told before */
    if (c->update == UPDATE_WANTED)
        DL_DELETE(am->wanted_updates, c);
    c->update_type = (enum cli_update)m->update_type;
    r = cli_am_renew(c, m->container);
    if (r >= 0 && c->started) {
        c->update = UPDATE_AT_NODE;
        r = cli_nodes_update(am->nodes, &c->allocation.node, id, &c->token, on_node, am);
        if (r >= 0)
            return;
    }
    if (r < 0)
        sv_error_errno(&err, r, "container update");
    report(am, c, SV_MIN(r, 0), r < 0 ? &err : NULL);
}

void cli_am_take_update_error(struct cli_am *am, const Hadoop__Yarn__UpdateContainerErrorProto *m)
{
    struct sv_error err = { 0 };
    struct yarn_container_id id;
    struct am_container *c;

    if (!m->update_request || yarn_container_id_from(m->update_request->container_id, &id) < 0 ||
        !(c = cli_am_find(am, id)) || c->update != UPDATE_SENT)
        return;
    if (m->has_current_container_version && m->current_container_version >= 0)
        c->allocation.version = m->current_container_version;
    sv_error_set(&err, -EREMOTEIO, "ResourceManager: update refused: %s", cli_text(m->reason));
    report(am, c, -EREMOTEIO, &err);
}
