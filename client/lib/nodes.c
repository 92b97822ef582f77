/* The NodeManagers on which an ApplicationMaster starts containers: ContainerManagementProtocol,
 * one connection per node, authenticated by that node's NMToken.
 *
 * Calls to an unreachable node (its daemon restarts) are retried by wire/ipc/proxy.h. If a start
 * may have arrived before the connection broke, the container's status is queried first: it must
 * not be started twice, and "Attempt to relaunch" is then not a failure. */
#include <errno.h>
#include <string.h>

#include "client/lib/nodes-internal.h"
#include "wire/ipc/methods.h"
#include "wire/sasl/qop.h"

#define ASK_MAX 5 /* maximum connections that one start may break */

static int send_op(struct node_op *op);
static int query_status(struct node_op *op);

struct cli_nodes *cli_nodes_new(sd_event *event, cli_start_fn started, void *userdata)
{
    /* No configuration in a container: Hadoop's defaults. */
    struct sv_conf *conf = sv_conf_new();
    struct cli_nodes *n = conf ? calloc(1, sizeof(*n)) : NULL;

    if (n && yarn_nm_proxy_config(conf, &n->config, NULL) < 0) {
        free(n);
        n = NULL;
    }
    sv_conf_free(conf);
    if (!n)
        return NULL;
    n->config.client.protocol = YARN_CONTAINER_MANAGEMENT_PROTOCOL;
    n->config.client.qop_mask = IPC_QOP_ALL; /* the server decides */
    n->config.n_servers = 1;
    n->event = sd_event_ref(event);
    n->started = started;
    n->userdata = userdata;
    return n;
}

static void op_free(struct node_op *op)
{
    DL_DELETE(op->nodes->ops, op);
    sv_arena_free(op->arena);
    free(op);
}

struct cli_nodes *cli_nodes_free(struct cli_nodes *n)
{
    struct node *node, *tmp;
    struct node_op *op, *next;

    if (!n)
        return NULL;
    HASH_ITER (hh, n->by_key, node, tmp) {
        ipc_proxy_free(node->ipc); /* ends its calls and their operations */
        HASH_DEL(n->by_key, node);
        sv_arena_free(node->token_arena);
        free(node);
    }
    DL_FOREACH_SAFE (n->ops, op, next)
        op_free(op);
    sd_event_unref(n->event);
    free(n);
    return NULL;
}

static int copy_token(struct sv_arena *a, const struct yarn_token *from, struct yarn_token *to)
{
    *to = *from;
    to->id = sv_arena_memdup(a, from->id, from->id_len);
    to->password = sv_arena_memdup(a, from->password, from->password_len);
    to->kind = sv_arena_strdup(a, from->kind);
    to->service = sv_arena_strdup(a, from->service);
    return to->id && to->password && to->kind && to->service ? 0 : -ENOMEM;
}

int cli_nodes_token(struct cli_nodes *n, const struct yarn_node_id *id,
                    const struct yarn_token *token)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(1 << 20);
    struct yarn_token copy;
    struct node *node;
    char key[264];

    if (!a || copy_token(a, token, &copy) < 0)
        return -ENOMEM;
    yarn_node_id_text(id, key);
    HASH_FIND_STR(n->by_key, key, node);
    if (!node) {
        node = calloc(1, sizeof(*node));
        if (!node)
            return -ENOMEM;
        yarn_node_id_text(id, node->key);
        node->id = *id;
        HASH_ADD_STR(n->by_key, key, node);
    }
    /* A connection in use is kept: the node remembers the key of its authentication. */
    if (node->ipc && node->open_calls == 0)
        node->ipc = ipc_proxy_free(node->ipc);
    sv_arena_free(node->token_arena);
    node->token_arena = SV_TAKE(a);
    node->token = copy;
    return 0;
}

static void finish_op(struct node_op *op, int status, const ProtobufCMessage *response,
                      const struct sv_error *err)
{
    const struct node_op ended = *op;

    op_free(op); /* the callback may free the connections */
    if (ended.done)
        ended.done(ended.id, status, response, err, ended.userdata);
}

/* Finds the reason for this container among the failed ones. */
static const Hadoop__Yarn__SerializedExceptionProto *refusal(const struct node_op *op,
                                                             const struct node_failures *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct yarn_container_id id;

        if (yarn_container_id_from(f->list[i]->container_id, &id) == 0 &&
            yarn_container_id_cmp(id, op->id) == 0)
            return f->list[i]->exception;
    }
    return NULL;
}

static void refused(struct node_op *op, const Hadoop__Yarn__SerializedExceptionProto *why)
{
    const char *text = why->message ? why->message : why->class_name ? why->class_name : "";
    struct sv_error err = { 0 };

    if (op->asked > 0 && strstr(text, "Attempt to relaunch the same container")) {
        finish_op(op, 0, NULL, NULL); /* started by the request that was presumed lost */
        return;
    }
    sv_error_set(&err, -EREMOTEIO, "node %s: %s", op->node->key, text);
    finish_op(op, -EREMOTEIO, NULL, &err);
}

static void failed(struct node_op *op, const struct ipc_result *r, const struct sv_error *err)
{
    struct sv_error own = { 0 };

    if (err)
        own = *err;
    sv_error_wrap(&own, "node %s", op->node->key);
    finish_op(op, r->status, NULL, &own);
}

/* Runs the next step of an operation, or ends it. */
static void run_step(struct node_op *op, int (*step)(struct node_op *op))
{
    struct sv_error err = { 0 };
    int r = step(op);

    if (r < 0) {
        sv_error_errno(&err, r, "node %s", op->node->key);
        finish_op(op, r, NULL, &err);
    }
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct node_op *op = userdata;
    const Hadoop__Yarn__SerializedExceptionProto *why = NULL;
    enum ipc_failure failure = r->status < 0 ? ipc_failure_of(r) : IPC_FAILURE_FINAL;

    op->node->open_calls--;
    if (r->status < 0 && op->method->once && r->sent && op->asked < ASK_MAX &&
        (failure == IPC_FAILURE_LOST || failure == IPC_FAILURE_TIMEOUT)) {
        op->asked++;
        run_step(op, query_status);
        return;
    }
    if (r->status < 0) {
        failed(op, r, err);
        return;
    }
    if (op->method->failures) {
        const struct node_failures f = op->method->failures(r->response);

        why = refusal(op, &f);
    }
    if (why)
        refused(op, why);
    else
        finish_op(op, 0, r->response, NULL);
}

/* Result of the status query before a start is resent. */
static void on_status(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct node_op *op = userdata;
    const Hadoop__Yarn__GetContainerStatusesResponseProto *m = (const void *)r->response;

    op->node->open_calls--;
    if (r->status < 0)
        failed(op, r, err);
    else if (m->n_status > 0)
        finish_op(op, 0, NULL, NULL);
    else
        run_step(op, send_op); /* the start never arrived */
}

static int query_status(struct node_op *op)
{
    Hadoop__Yarn__GetContainerStatusesRequestProto request =
        HADOOP__YARN__GET_CONTAINER_STATUSES_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ContainerIdProto *id = a ? yarn_container_id_to(a, op->id) : NULL;

    if (!id)
        return -ENOMEM;
    request.container_id = &id;
    request.n_container_id = 1;
    int r = ipc_proxy_call(op->node->ipc, "getContainerStatuses", &request.base,
                           &hadoop__yarn__get_container_statuses_response_proto__descriptor, 0,
                           on_status, op, NULL);

    if (r >= 0)
        op->node->open_calls++;
    return r;
}

static int send_op(struct node_op *op)
{
    struct node *node = op->node;
    int r;

    if (!node->ipc) {
        struct ipc_proxy_config cfg = op->nodes->config;

        cfg.client.token = &node->token;
        cfg.servers[0].host = node->id.host;
        cfg.servers[0].port = (uint16_t)node->id.port;
        r = ipc_proxy_new(op->nodes->event, &cfg, &node->ipc, NULL);
        if (r < 0)
            return r;
    }
    r = ipc_proxy_call(node->ipc, op->method->name, op->request, op->method->response, 0, on_answer,
                       op, NULL);
    if (r >= 0)
        node->open_calls++;
    return r;
}

int cli_node_op_new(struct cli_nodes *n, const struct yarn_node_id *id, struct yarn_container_id c,
                    struct node_op **ret)
{
    struct node_op *op;
    struct node *node;
    char key[264];

    yarn_node_id_text(id, key);
    HASH_FIND_STR(n->by_key, key, node);
    if (!node)
        return -ENOKEY; /* no NMToken was received for this node */
    op = calloc(1, sizeof(*op));
    if (!op)
        return -ENOMEM;
    op->arena = sv_arena_new(0);
    if (!op->arena) {
        free(op);
        return -ENOMEM;
    }
    op->nodes = n;
    op->node = node;
    op->id = c;
    DL_APPEND(n->ops, op);
    *ret = op;
    return 0;
}

int cli_node_op_drop(struct node_op *op, int status)
{
    op_free(op);
    return status;
}

int cli_node_op_send(struct node_op *op, const struct node_method *method,
                     const ProtobufCMessage *request, cli_node_fn done, void *userdata)
{
    int r = -ENOMEM;

    op->method = method;
    op->request = request;
    op->done = done;
    op->userdata = userdata;
    if (request)
        r = send_op(op);
    if (r < 0)
        op_free(op);
    return r < 0 ? r : 0;
}
