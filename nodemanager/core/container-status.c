/* See container-status.h. */
#include "nodemanager/core/container-status.h"

#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

static Hadoop__Yarn__ContainerSubStateProto sub_state(const struct nm_container *c)
{
    switch (c->state) {
    case NM_CONTAINER_NEW:
    case NM_CONTAINER_LOCALIZING:
    case NM_CONTAINER_SCHEDULED:
    case NM_CONTAINER_RELAUNCHING:
    case NM_CONTAINER_REINITIALIZING_AWAITING_KILL:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_SCHEDULED;
    case NM_CONTAINER_RUNNING:
    case NM_CONTAINER_PAUSING:
    case NM_CONTAINER_REINITIALIZING:
    case NM_CONTAINER_KILLING:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_RUNNING;
    case NM_CONTAINER_PAUSED:
    case NM_CONTAINER_RESUMING:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_PAUSED;
    case NM_CONTAINER_DONE:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_DONE;
    default:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_COMPLETING;
    }
}

static Hadoop__Yarn__StringStringMapProto *attribute(struct sv_arena *a, const char *key,
                                                     const char *value)
{
    Hadoop__Yarn__StringStringMapProto *m = sv_new(a, Hadoop__Yarn__StringStringMapProto);

    if (!m)
        return NULL;
    hadoop__yarn__string_string_map_proto__init(m);
    m->key = (char *)(uintptr_t)key;
    m->value = (char *)(uintptr_t)value;
    return m;
}

Hadoop__Yarn__ContainerStatusProto *nm_container_status(const struct nm_container *c,
                                                        struct sv_arena *a)
{
    Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

    if (!m)
        return NULL;
    hadoop__yarn__container_status_proto__init(m);
    m->container_id = yarn_container_id_to(a, c->id);
    m->has_state = true;
    m->state = c->state == NM_CONTAINER_DONE ? HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE
                                             : HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    m->diagnostics = sv_arena_strdup(a, c->diagnostics);
    m->has_exit_status = true;
    m->exit_status = c->exit_code;
    m->capability = yarn_resource_to(a, c->resource);
    m->has_executiontype = true;
    m->executiontype = (Hadoop__Yarn__ExecutionTypeProto)c->execution_type;
    m->has_container_sub_state = true;
    m->container_sub_state = sub_state(c);
    if (nm_container_is_live(c)) { /* no PORTS: as in Hadoop without a runtime for them */
        m->container_attributes = sv_newn(a, Hadoop__Yarn__StringStringMapProto *, 2);
        if (!m->container_attributes)
            return NULL;
        m->n_container_attributes = 2;
        m->container_attributes[0] = attribute(a, "HOST", c->ctx->node_id.host);
        m->container_attributes[1] = attribute(a, "IPS", c->ctx->conf->node_address);
        if (!m->container_attributes[0] || !m->container_attributes[1])
            return NULL;
    }
    return m->container_id && m->diagnostics && m->capability ? m : NULL;
}

static bool add_tags(struct sv_arena *a, const struct nm_container *c,
                     Hadoop__Yarn__NMContainerStatusProto *m)
{
    const char *at = c->tags;

    m->allocation_tags = sv_newn(a, char *, c->n_tags);
    if (!m->allocation_tags)
        return false;
    for (size_t i = 0; i < c->n_tags; i++) {
        char *tag = sv_arena_strdup(a, at);

        if (!tag)
            return false;
        m->allocation_tags[m->n_allocation_tags++] = tag;
        at += strlen(at) + 1;
    }
    return true;
}

Hadoop__Yarn__NMContainerStatusProto *nm_container_nm_status(const struct nm_container *c,
                                                             struct sv_arena *a)
{
    Hadoop__Yarn__NMContainerStatusProto *m = sv_new(a, Hadoop__Yarn__NMContainerStatusProto);

    if (!m)
        return NULL;
    hadoop__yarn__nmcontainer_status_proto__init(m);
    m->container_id = yarn_container_id_to(a, c->id);
    m->has_container_state = true;
    m->container_state = c->state == NM_CONTAINER_DONE
                             ? HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE
                             : HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    m->resource = yarn_resource_to(a, c->resource);
    m->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    if (!m->priority)
        return NULL;
    hadoop__yarn__priority_proto__init(m->priority);
    m->priority->has_priority = true;
    m->priority->priority = c->priority;
    m->diagnostics = sv_arena_strdup(a, c->diagnostics);
    m->has_container_exit_status = true;
    m->container_exit_status = c->exit_code;
    m->has_creation_time = true;
    m->creation_time = c->creation_ms;
    if (*c->node_label)
        m->nodelabelexpression = sv_arena_strdup(a, c->node_label);
    m->has_version = true;
    m->version = c->version;
    m->has_executiontype = true;
    m->executiontype = (Hadoop__Yarn__ExecutionTypeProto)c->execution_type;
    m->has_allocation_request_id = true;
    m->allocation_request_id = c->allocation_request_id;
    if (c->n_tags > 0 && !add_tags(a, c, m))
        return NULL;
    return m->container_id && m->resource && m->diagnostics ? m : NULL;
}
