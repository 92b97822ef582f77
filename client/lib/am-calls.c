/* Calls of an ApplicationMaster to the nodes of its containers. Answers come from NodeManagers; a
 * container may have ended before one arrives. */
#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"

/* One open call, for the callback of the program. */
struct am_call {
    struct cli_am *am;
    cli_container_fn fn;
    cli_status_fn status_fn;
    cli_localized_fn localized_fn;
    void *userdata;
};

static struct am_call *new_call(struct cli_am *am, cli_container_fn fn, cli_status_fn status_fn,
                                void *userdata)
{
    struct am_call *call = malloc(sizeof(*call));

    if (call)
        *call =
            (struct am_call){ .am = am, .fn = fn, .status_fn = status_fn, .userdata = userdata };
    return call;
}

static int begun(int r, struct am_call *call)
{
    if (r < 0)
        free(call);
    return r;
}

/* ---- Start and stop ---- */

void cli_am_started(struct yarn_container_id id, int status, const struct sv_error *err,
                    void *userdata)
{
    struct cli_am *am = userdata;
    struct am_container *c = status < 0 ? cli_am_find(am, id) : NULL;

    if (c)
        c->started = false;
    if (am->phase != OVER && am->ops.started)
        am->ops.started(am, id, status, err, am->userdata);
}

int cli_am_start(struct cli_am *am, struct yarn_container_id id, const struct cli_launch *launch)
{
    struct am_container *c = cli_am_find(am, id);
    int r;

    if (!c)
        return -ENOENT;
    if (c->started)
        return -EALREADY;
    r = cli_nodes_start(am->nodes, &c->allocation.node, id, &c->token, launch);
    c->started = r >= 0;
    return r;
}

int cli_am_stop(struct cli_am *am, struct yarn_container_id id)
{
    struct am_container *c = cli_am_find(am, id);

    return c ? cli_nodes_stop(am->nodes, &c->allocation.node, id) : -ENOENT;
}

/* ---- Changes ---- */

static void on_done(struct yarn_container_id id, int status, const ProtobufCMessage *response,
                    const struct sv_error *err, void *userdata)
{
    const struct am_call call = *(struct am_call *)userdata;

    (void)response;
    free(userdata);
    if (call.fn)
        call.fn(call.am, id, status, err, call.userdata);
}

int cli_am_reinitialize(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch, bool auto_commit, cli_container_fn fn,
                        void *userdata)
{
    struct am_container *c = cli_am_find(am, id);
    struct am_call *call;

    if (!c)
        return -ENOENT;
    call = new_call(am, fn, NULL, userdata);
    return call ? begun(cli_nodes_reinitialize(am->nodes, &c->allocation.node, id, launch,
                                               auto_commit, on_done, call),
                        call)
                : -ENOMEM;
}

static int plain(struct cli_am *am, struct yarn_container_id id, enum cli_node_verb verb,
                 cli_container_fn fn, void *userdata)
{
    struct am_container *c = cli_am_find(am, id);
    struct am_call *call;

    if (!c)
        return -ENOENT;
    call = new_call(am, fn, NULL, userdata);
    return call ? begun(cli_nodes_plain(am->nodes, &c->allocation.node, id, verb, on_done, call),
                        call)
                : -ENOMEM;
}

int cli_am_commit(struct cli_am *am, struct yarn_container_id id, cli_container_fn fn,
                  void *userdata)
{
    return plain(am, id, CLI_NODE_COMMIT, fn, userdata);
}

int cli_am_rollback(struct cli_am *am, struct yarn_container_id id, cli_container_fn fn,
                    void *userdata)
{
    return plain(am, id, CLI_NODE_ROLLBACK, fn, userdata);
}

int cli_am_restart(struct cli_am *am, struct yarn_container_id id, cli_container_fn fn,
                   void *userdata)
{
    return plain(am, id, CLI_NODE_RESTART, fn, userdata);
}

int cli_am_localize(struct cli_am *am, struct yarn_container_id id,
                    const struct cli_resource *resources, size_t n, cli_container_fn fn,
                    void *userdata)
{
    struct am_container *c = cli_am_find(am, id);
    struct am_call *call;

    if (!c)
        return -ENOENT;
    call = new_call(am, fn, NULL, userdata);
    return call ? begun(cli_nodes_localize(am->nodes, &c->allocation.node, id, resources, n,
                                           on_done, call),
                        call)
                : -ENOMEM;
}

int cli_am_signal(struct cli_am *am, struct yarn_container_id id, enum cli_signal signal,
                  cli_container_fn fn, void *userdata)
{
    struct am_container *c = cli_am_find(am, id);
    struct am_call *call;

    if (!c)
        return -ENOENT;
    call = new_call(am, fn, NULL, userdata);
    return call ? begun(cli_nodes_signal(am->nodes, &c->allocation.node, id, signal, on_done, call),
                        call)
                : -ENOMEM;
}

/* ---- Status ---- */

static const char *attribute(const Hadoop__Yarn__ContainerStatusProto *m, const char *key)
{
    for (size_t i = 0; i < m->n_container_attributes; i++)
        if (strcmp(cli_text(m->container_attributes[i]->key), key) == 0)
            return cli_text(m->container_attributes[i]->value);
    return "";
}

static struct cli_container_status status_of(const Hadoop__Yarn__ContainerStatusProto *m)
{
    struct cli_container_status s = {
        .state = m->has_state ? cli_enum_name(&hadoop__yarn__container_state_proto__descriptor,
                                              m->state, "C_")
                              : "",
        .sub_state = m->has_container_sub_state
                         ? cli_enum_name(&hadoop__yarn__container_sub_state_proto__descriptor,
                                         m->container_sub_state, "CSS_")
                         : "",
        .exit_status = m->exit_status,
        .diagnostics = cli_text(m->diagnostics),
        .host = attribute(m, "HOST"),
        .ips = attribute(m, "IPS"),
        .ports = attribute(m, "PORTS"),
    };

    if (yarn_resource_from(m->capability, &s.resource) < 0)
        s.resource = (struct yarn_resource){ 0 };
    return s;
}

static void on_status(struct yarn_container_id id, int status, const ProtobufCMessage *response,
                      const struct sv_error *err, void *userdata)
{
    const Hadoop__Yarn__GetContainerStatusesResponseProto *m = (const void *)response;
    const struct am_call call = *(struct am_call *)userdata;
    char text[YARN_ID_TEXT_MAX];
    struct sv_error own = { 0 };

    free(userdata);
    for (size_t i = 0; m && i < m->n_status; i++) {
        struct yarn_container_id named;

        if (yarn_container_id_from(m->status[i]->container_id, &named) < 0 ||
            yarn_container_id_cmp(named, id) != 0)
            continue;
        const struct cli_container_status s = status_of(m->status[i]);

        call.status_fn(call.am, id, 0, &s, NULL, call.userdata);
        return;
    }
    if (status >= 0) {
        status = sv_error_set(&own, -ENOENT, "%s: its node does not know it",
                              yarn_container_id_text(id, text));
        err = &own;
    }
    call.status_fn(call.am, id, status, NULL, err, call.userdata);
}

int cli_am_status(struct cli_am *am, struct yarn_container_id id, cli_status_fn fn, void *userdata)
{
    struct am_container *c = cli_am_find(am, id);
    struct am_call *call;

    if (!c)
        return -ENOENT;
    call = new_call(am, NULL, fn, userdata);
    return call ? begun(cli_nodes_status(am->nodes, &c->allocation.node, id, on_status, call), call)
                : -ENOMEM;
}

/* ---- Files ---- */

static struct cli_localized localized_of(const Hadoop__Yarn__LocalizationStatusProto *m)
{
    return (struct cli_localized){
        .key = cli_text(m->resource_key),
        .state = m->has_localization_state
                     ? cli_enum_name(&hadoop__yarn__localization_state_proto__descriptor,
                                     m->localization_state, "L_")
                     : "",
        .diagnostics = cli_text(m->diagnostics),
        .pending = m->localization_state == HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_PENDING,
    };
}

static int localized(const struct am_call *call, struct yarn_container_id id,
                     const Hadoop__Yarn__ContainerLocalizationStatusesProto *m)
{
    struct cli_localized *list = calloc(m->n_localization_statuses + 1, sizeof(*list));

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < m->n_localization_statuses; i++)
        list[i] = localized_of(m->localization_statuses[i]);
    call->localized_fn(call->am, id, 0, list, m->n_localization_statuses, NULL, call->userdata);
    free(list);
    return 0;
}

static void on_localized(struct yarn_container_id id, int status, const ProtobufCMessage *response,
                         const struct sv_error *err, void *userdata)
{
    const Hadoop__Yarn__GetLocalizationStatusesResponseProto *m = (const void *)response;
    const struct am_call call = *(struct am_call *)userdata;
    char text[YARN_ID_TEXT_MAX];
    struct sv_error own = { 0 };

    free(userdata);
    for (size_t i = 0; status >= 0 && m && i < m->n_cntn_localization_statuses; i++) {
        struct yarn_container_id named;

        if (yarn_container_id_from(m->cntn_localization_statuses[i]->container_id, &named) < 0 ||
            yarn_container_id_cmp(named, id) != 0)
            continue;
        status = localized(&call, id, m->cntn_localization_statuses[i]);
        if (status == 0)
            return;
    }
    if (status >= 0)
        status = -ENOENT;
    if (!err) {
        (void)sv_error_set(&own, status, "%s: its node does not know it",
                           yarn_container_id_text(id, text));
        err = &own;
    }
    call.localized_fn(call.am, id, status, NULL, 0, err, call.userdata);
}

int cli_am_localized(struct cli_am *am, struct yarn_container_id id, cli_localized_fn fn,
                     void *userdata)
{
    struct am_container *c = cli_am_find(am, id);
    struct am_call *call;

    if (!c)
        return -ENOENT;
    call = new_call(am, NULL, NULL, userdata);
    if (!call)
        return -ENOMEM;
    call->localized_fn = fn;
    return begun(cli_nodes_localized(am->nodes, &c->allocation.node, id, on_localized, call), call);
}
