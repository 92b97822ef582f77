/* Calls of ContainerManagementProtocol about one container, on the connections of nodes.c. */
#include <errno.h>

#include "client/lib/nodes-internal.h"

/* ---- Methods ---- */

#define FAILURES(name, type)                                                                       \
    static struct node_failures name(const ProtobufCMessage *response)                             \
    {                                                                                              \
        const type *m = (const void *)response;                                                    \
                                                                                                   \
        return (struct node_failures){ m->failed_requests, m->n_failed_requests };                 \
    }

FAILURES(start_failures, Hadoop__Yarn__StartContainersResponseProto)
FAILURES(stop_failures, Hadoop__Yarn__StopContainersResponseProto)
FAILURES(status_failures, Hadoop__Yarn__GetContainerStatusesResponseProto)
FAILURES(update_failures, Hadoop__Yarn__ContainerUpdateResponseProto)
FAILURES(localized_failures, Hadoop__Yarn__GetLocalizationStatusesResponseProto)

#define ANSWER(x) &hadoop__yarn__##x##_response_proto__descriptor

static const struct node_method start_method = { "startContainers", ANSWER(start_containers),
                                                 start_failures, true };
static const struct node_method stop_method = { "stopContainers", ANSWER(stop_containers),
                                                stop_failures, false };
static const struct node_method status_method = { "getContainerStatuses",
                                                  ANSWER(get_container_statuses), status_failures,
                                                  false };
static const struct node_method localized_method = { "getLocalizationStatuses",
                                                     ANSWER(get_localization_statuses),
                                                     localized_failures, false };
static const struct node_method update_method = { "updateContainer", ANSWER(container_update),
                                                  update_failures, false };
static const struct node_method reinit_method = { "reInitializeContainer",
                                                  ANSWER(re_initialize_container), NULL, false };
static const struct node_method localize_method = { "localize", ANSWER(resource_localization), NULL,
                                                    false };
static const struct node_method signal_method = { "signalToContainer", ANSWER(signal_container),
                                                  NULL, false };
static const struct node_method plain_methods[] = {
    [CLI_NODE_COMMIT] = { "commitLastReInitialization", ANSWER(commit), NULL, false },
    [CLI_NODE_ROLLBACK] = { "rollbackLastReInitialization", ANSWER(rollback), NULL, false },
    [CLI_NODE_RESTART] = { "restartContainer", ANSWER(restart_container), NULL, false },
};

/* ---- Start and stop ---- */

static void on_started(struct yarn_container_id id, int status, const ProtobufCMessage *response,
                       const struct sv_error *err, void *userdata)
{
    struct cli_nodes *n = userdata;

    (void)response;
    n->started(id, status, err, n->userdata);
}

static const ProtobufCMessage *start_request(struct sv_arena *a, const struct yarn_token *token,
                                             const struct cli_launch *launch, struct sv_error *err)
{
    Hadoop__Yarn__StartContainersRequestProto *m =
        sv_new(a, Hadoop__Yarn__StartContainersRequestProto);
    Hadoop__Yarn__StartContainerRequestProto *one =
        sv_new(a, Hadoop__Yarn__StartContainerRequestProto);

    if (!m || !one)
        return NULL;
    hadoop__yarn__start_containers_request_proto__init(m);
    hadoop__yarn__start_container_request_proto__init(one);
    one->container_token = yarn_token_to(a, token);
    one->container_launch_context = cli_launch_to(a, launch, err);
    m->start_container_request = sv_newn(a, typeof(one), 1);
    if (!one->container_token || !one->container_launch_context || !m->start_container_request)
        return NULL;
    m->start_container_request[0] = one;
    m->n_start_container_request = 1;
    return &m->base;
}

int cli_nodes_start(struct cli_nodes *n, const struct yarn_node_id *node,
                    struct yarn_container_id id, const struct yarn_token *container_token,
                    const struct cli_launch *launch)
{
    struct sv_error err = { .code = -ENOMEM };
    const ProtobufCMessage *request;
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    request = start_request(op->arena, container_token, launch, &err);
    return request ? cli_node_op_send(op, &start_method, request, on_started, n)
                   : cli_node_op_drop(op, err.code);
}

/* An array of this one container. */
static Hadoop__Yarn__ContainerIdProto **one_id(struct node_op *op)
{
    Hadoop__Yarn__ContainerIdProto **list = sv_newn(op->arena, Hadoop__Yarn__ContainerIdProto *, 1);

    if (list)
        list[0] = yarn_container_id_to(op->arena, op->id);
    return list && list[0] ? list : NULL;
}

int cli_nodes_stop(struct cli_nodes *n, const struct yarn_node_id *node,
                   struct yarn_container_id id)
{
    Hadoop__Yarn__StopContainersRequestProto *m;
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = sv_new(op->arena, Hadoop__Yarn__StopContainersRequestProto);
    if (m) {
        hadoop__yarn__stop_containers_request_proto__init(m);
        m->container_id = one_id(op);
        m->n_container_id = 1;
    }
    return cli_node_op_send(op, &stop_method, m && m->container_id ? &m->base : NULL, NULL, NULL);
}

/* ---- Status ---- */

int cli_nodes_status(struct cli_nodes *n, const struct yarn_node_id *node,
                     struct yarn_container_id id, cli_node_fn fn, void *userdata)
{
    Hadoop__Yarn__GetContainerStatusesRequestProto *m;
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = sv_new(op->arena, Hadoop__Yarn__GetContainerStatusesRequestProto);
    if (m) {
        hadoop__yarn__get_container_statuses_request_proto__init(m);
        m->container_id = one_id(op);
        m->n_container_id = 1;
    }
    return cli_node_op_send(op, &status_method, m && m->container_id ? &m->base : NULL, fn,
                            userdata);
}

int cli_nodes_localized(struct cli_nodes *n, const struct yarn_node_id *node,
                        struct yarn_container_id id, cli_node_fn fn, void *userdata)
{
    Hadoop__Yarn__GetLocalizationStatusesRequestProto *m;
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = sv_new(op->arena, Hadoop__Yarn__GetLocalizationStatusesRequestProto);
    if (m) {
        hadoop__yarn__get_localization_statuses_request_proto__init(m);
        m->container_id = one_id(op);
        m->n_container_id = 1;
    }
    return cli_node_op_send(op, &localized_method, m && m->container_id ? &m->base : NULL, fn,
                            userdata);
}

/* ---- Changes ---- */

int cli_nodes_update(struct cli_nodes *n, const struct yarn_node_id *node,
                     struct yarn_container_id id, const struct yarn_token *container_token,
                     cli_node_fn fn, void *userdata)
{
    Hadoop__Yarn__ContainerUpdateRequestProto *m;
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = sv_new(op->arena, Hadoop__Yarn__ContainerUpdateRequestProto);
    if (m) {
        hadoop__yarn__container_update_request_proto__init(m);
        m->update_container_token = sv_newn(op->arena, Hadoop__Common__TokenProto *, 1);
    }
    if (m && m->update_container_token) {
        m->update_container_token[0] = yarn_token_to(op->arena, container_token);
        m->n_update_container_token = m->update_container_token[0] ? 1 : 0;
    }
    return cli_node_op_send(op, &update_method, m && m->n_update_container_token ? &m->base : NULL,
                            fn, userdata);
}

int cli_nodes_reinitialize(struct cli_nodes *n, const struct yarn_node_id *node,
                           struct yarn_container_id id, const struct cli_launch *launch,
                           bool auto_commit, cli_node_fn fn, void *userdata)
{
    Hadoop__Yarn__ReInitializeContainerRequestProto *m;
    struct sv_error err = { .code = -ENOMEM };
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = sv_new(op->arena, Hadoop__Yarn__ReInitializeContainerRequestProto);
    if (!m)
        return cli_node_op_drop(op, -ENOMEM);
    hadoop__yarn__re_initialize_container_request_proto__init(m);
    m->container_id = yarn_container_id_to(op->arena, id);
    m->container_launch_context = cli_launch_to(op->arena, launch, &err);
    m->has_auto_commit = true;
    m->auto_commit = auto_commit;
    return m->container_id && m->container_launch_context
               ? cli_node_op_send(op, &reinit_method, &m->base, fn, userdata)
               : cli_node_op_drop(op, err.code);
}

int cli_nodes_plain(struct cli_nodes *n, const struct yarn_node_id *node,
                    struct yarn_container_id id, enum cli_node_verb verb, cli_node_fn fn,
                    void *userdata)
{
    Hadoop__Yarn__ContainerIdProto *m;
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = yarn_container_id_to(op->arena, id);
    return cli_node_op_send(op, &plain_methods[verb], m ? &m->base : NULL, fn, userdata);
}

int cli_nodes_localize(struct cli_nodes *n, const struct yarn_node_id *node,
                       struct yarn_container_id id, const struct cli_resource *resources,
                       size_t n_resources, cli_node_fn fn, void *userdata)
{
    const struct cli_launch launch = { .resources = resources,
                                       .n_resources = n_resources,
                                       .command = "" };
    Hadoop__Yarn__ContainerLaunchContextProto *context;
    Hadoop__Yarn__ResourceLocalizationRequestProto *m;
    struct sv_error err = { .code = -ENOMEM };
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = sv_new(op->arena, Hadoop__Yarn__ResourceLocalizationRequestProto);
    context = m ? cli_launch_to(op->arena, &launch, &err) : NULL;
    if (!context)
        return cli_node_op_drop(op, err.code);
    hadoop__yarn__resource_localization_request_proto__init(m);
    m->container_id = yarn_container_id_to(op->arena, id);
    m->local_resources = context->localresources;
    m->n_local_resources = context->n_localresources;
    return cli_node_op_send(op, &localize_method, m->container_id ? &m->base : NULL, fn, userdata);
}

int cli_nodes_signal(struct cli_nodes *n, const struct yarn_node_id *node,
                     struct yarn_container_id id, enum cli_signal signal, cli_node_fn fn,
                     void *userdata)
{
    Hadoop__Yarn__SignalContainerRequestProto *m;
    struct node_op *op;
    int r = cli_node_op_new(n, node, id, &op);

    if (r < 0)
        return r;
    m = sv_new(op->arena, Hadoop__Yarn__SignalContainerRequestProto);
    if (m) {
        hadoop__yarn__signal_container_request_proto__init(m);
        m->container_id = yarn_container_id_to(op->arena, id);
        m->command = (Hadoop__Yarn__SignalContainerCommandProto)signal;
    }
    return cli_node_op_send(op, &signal_method, m && m->container_id ? &m->base : NULL, fn,
                            userdata);
}
