/* The NodeManagers that an ApplicationMaster starts containers on: ContainerManagementProtocol,
 * one connection a node, opened by that node's NMToken.
 *
 * A node that is away for a moment (its daemon restarts) is tried again. When a request may have
 * arrived before the connection broke, the node is asked for the container first: a container must
 * not be started twice, and its refusal "already running" is not a failure. */
#include <errno.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "client/internal.h"
#include "common/clock.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc_server.h" /* the Java class names */
#include "wire/methods.h"
#include "wire/qop.h"

#define RETRY_MS 500
#define GIVE_UP_MS 60000

struct node {
    char key[264]; /* "host:port" */
    struct yarn_node_id id;
    struct sv_arena *token_arena;
    struct yarn_token token;
    struct ipc_client *ipc; /* made on first use; NULL after the token changed */
    int open_calls;
    UT_hash_handle hh;
};

struct op { /* one container to start or to stop */
    struct cli_nodes *nodes;
    struct node *node;
    struct yarn_container_id id;
    struct sv_arena *arena; /* the request lives here, for another try */
    Hadoop__Yarn__StartContainersRequestProto *start; /* NULL: stop */
    bool uncertain; /* the node may have it already */
    int64_t deadline;
    sd_event_source *timer;
    struct op *prev, *next;
};

struct cli_nodes {
    sd_event *event;
    cli_start_fn started;
    void *userdata;
    struct node *by_key;
    struct op *ops;
    bool closing;
};

static int send_op(struct op *op);

struct cli_nodes *cli_nodes_new(sd_event *event, cli_start_fn started, void *userdata)
{
    struct cli_nodes *n = calloc(1, sizeof(*n));

    if (n) {
        n->event = sd_event_ref(event);
        n->started = started;
        n->userdata = userdata;
    }
    return n;
}

static void op_free(struct op *op)
{
    DL_DELETE(op->nodes->ops, op);
    sd_event_source_disable_unref(op->timer);
    sv_arena_free(op->arena);
    free(op);
}

struct cli_nodes *cli_nodes_free(struct cli_nodes *n)
{
    struct node *node, *tmp;
    struct op *op, *next;

    if (!n)
        return NULL;
    n->closing = true;
    HASH_ITER(hh, n->by_key, node, tmp) {
        ipc_client_free(node->ipc); /* ends its calls, and so their operations */
        HASH_DEL(n->by_key, node);
        sv_arena_free(node->token_arena);
        free(node);
    }
    DL_FOREACH_SAFE(n->ops, op, next)
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
    /* A connection that is in use stays: the node remembers the key it was opened with. */
    if (node->ipc && node->open_calls == 0)
        node->ipc = ipc_client_free(node->ipc);
    sv_arena_free(node->token_arena);
    node->token_arena = SV_TAKE(a);
    node->token = copy;
    return 0;
}

static void finish_op(struct op *op, int status, const struct sv_error *err)
{
    struct cli_nodes *n = op->nodes;
    struct yarn_container_id id = op->id;
    bool start = op->start != NULL;

    op_free(op);
    if (start)
        n->started(id, status, err, n->userdata);
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct op *op = userdata;
    struct sv_error err = { 0 };
    int r;

    (void)s;
    (void)usec;
    op->timer = sd_event_source_disable_unref(op->timer);
    r = send_op(op);
    if (r < 0) {
        sv_error_errno(&err, r, "node %s", op->node->key);
        finish_op(op, r, &err);
    }
    return 0;
}

static void retry_op(struct op *op, int status, const struct sv_error *err)
{
    if (sv_now_ms() < op->deadline &&
        sd_event_add_time_relative(op->nodes->event, &op->timer, CLOCK_MONOTONIC,
                                   RETRY_MS * UINT64_C(1000), 0, on_retry, op) >= 0)
        return;
    finish_op(op, status, err);
}

static bool worth_retrying(const struct ipc_result *r)
{
    switch (r->status) {
    case -EREMOTEIO:
        return r->java_class && strcmp(r->java_class, JAVA_NM_NOT_READY) == 0;
    case -ECANCELED:
    case -EACCES:
    case -EPERM:
    case -ENOMEM:
    case -EMSGSIZE:
        return false;
    default:
        return true;
    }
}

/* Our container among the refused ones: its reason. */
static const Hadoop__Yarn__SerializedExceptionProto *
refusal(const struct op *op, Hadoop__Yarn__ContainerExceptionMapProto *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct yarn_container_id id;

        if (yarn_container_id_from(list[i]->container_id, &id) == 0 &&
            yarn_container_id_cmp(id, op->id) == 0)
            return list[i]->exception;
    }
    return NULL;
}

static void refused(struct op *op, const Hadoop__Yarn__SerializedExceptionProto *why)
{
    const char *class = why->class_name ? why->class_name : "";
    struct sv_error err = { 0 };
    struct ipc_result r = { .status = -EREMOTEIO, .java_class = class };

    sv_error_set(&err, -EREMOTEIO, "node %s: %s", op->node->key,
                 why->message ? why->message : class);
    if (worth_retrying(&r))
        retry_op(op, -EREMOTEIO, &err);
    else
        finish_op(op, -EREMOTEIO, &err);
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct op *op = userdata;
    const Hadoop__Yarn__SerializedExceptionProto *why = NULL;
    struct sv_error own = { 0 };

    op->node->open_calls--;
    if (r->status < 0) {
        if (err)
            own = *err;
        sv_error_wrap(&own, "node %s", op->node->key);
        op->uncertain = op->uncertain || (r->sent && r->status != -EREMOTEIO);
        if (op->nodes->closing || !worth_retrying(r))
            finish_op(op, r->status, &own);
        else
            retry_op(op, r->status, &own);
        return;
    }
    if (op->start) {
        const Hadoop__Yarn__StartContainersResponseProto *m = (const void *)r->response;

        why = refusal(op, m->failed_requests, m->n_failed_requests);
    } else {
        const Hadoop__Yarn__StopContainersResponseProto *m = (const void *)r->response;

        why = refusal(op, m->failed_requests, m->n_failed_requests);
    }
    if (why)
        refused(op, why);
    else
        finish_op(op, 0, NULL);
}

/* The answer to "do you have it?" before a start is tried again. */
static void on_status(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct op *op = userdata;
    const Hadoop__Yarn__GetContainerStatusesResponseProto *m = (const void *)r->response;
    struct sv_error own = { 0 };

    op->node->open_calls--;
    if (r->status < 0) {
        if (err)
            own = *err;
        sv_error_wrap(&own, "node %s", op->node->key);
        if (op->nodes->closing || !worth_retrying(r))
            finish_op(op, r->status, &own);
        else
            retry_op(op, r->status, &own);
        return;
    }
    if (m->n_status > 0) {
        finish_op(op, 0, NULL);
        return;
    }
    op->uncertain = false; /* it never arrived */
    sv_error_set(&own, -ECONNRESET, "node %s: the connection broke", op->node->key);
    retry_op(op, -ECONNRESET, &own);
}

static int ask_status(struct op *op)
{
    Hadoop__Yarn__GetContainerStatusesRequestProto request =
        HADOOP__YARN__GET_CONTAINER_STATUSES_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ContainerIdProto *id = a ? yarn_container_id_to(a, op->id) : NULL;

    if (!id)
        return -ENOMEM;
    request.container_id = &id;
    request.n_container_id = 1;
    return ipc_client_call(op->node->ipc, "getContainerStatuses", &request.base,
                           &hadoop__yarn__get_container_statuses_response_proto__descriptor, 0,
                           on_status, op);
}

static int send_op(struct op *op)
{
    struct node *node = op->node;
    int r;

    if (!node->ipc) {
        struct ipc_client_config cfg = {
            .host = node->id.host,
            .port = (uint16_t)node->id.port,
            .protocol = YARN_CONTAINER_MANAGEMENT_PROTOCOL,
            .version = 1,
            .token = &node->token,
            .qop_mask = IPC_QOP_ALL, /* no configuration in a container: the server says what it wants */
        };

        r = ipc_client_new(op->nodes->event, &cfg, &node->ipc, NULL);
        if (r < 0)
            return r;
    }
    if (op->start && op->uncertain) {
        r = ask_status(op);
    } else if (op->start) {
        r = ipc_client_call(node->ipc, "startContainers", &op->start->base,
                            &hadoop__yarn__start_containers_response_proto__descriptor, 0,
                            on_answer, op);
    } else {
        Hadoop__Yarn__StopContainersRequestProto request =
            HADOOP__YARN__STOP_CONTAINERS_REQUEST_PROTO__INIT;
        Hadoop__Yarn__ContainerIdProto *id = yarn_container_id_to(op->arena, op->id);

        if (!id)
            return -ENOMEM;
        request.container_id = &id;
        request.n_container_id = 1;
        r = ipc_client_call(node->ipc, "stopContainers", &request.base,
                            &hadoop__yarn__stop_containers_response_proto__descriptor, 0,
                            on_answer, op);
    }
    if (r >= 0)
        node->open_calls++;
    return r;
}

static int new_op(struct cli_nodes *n, const struct yarn_node_id *id, struct yarn_container_id c,
                  struct op **ret)
{
    struct op *op;
    struct node *node;
    char key[264];

    yarn_node_id_text(id, key);
    HASH_FIND_STR(n->by_key, key, node);
    if (!node)
        return -ENOKEY; /* no NMToken was sent for this node */
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
    op->deadline = sv_now_ms() + GIVE_UP_MS;
    DL_APPEND(n->ops, op);
    *ret = op;
    return 0;
}

int cli_nodes_start(struct cli_nodes *n, const struct yarn_node_id *node,
                    struct yarn_container_id id, const struct yarn_token *container_token,
                    const struct cli_launch *launch)
{
    Hadoop__Yarn__StartContainerRequestProto *one;
    struct op *op;
    int r = new_op(n, node, id, &op);

    if (r < 0)
        return r;
    r = -ENOMEM;
    op->start = sv_new(op->arena, Hadoop__Yarn__StartContainersRequestProto);
    one = sv_new(op->arena, Hadoop__Yarn__StartContainerRequestProto);
    if (!op->start || !one)
        goto fail;
    hadoop__yarn__start_containers_request_proto__init(op->start);
    hadoop__yarn__start_container_request_proto__init(one);
    one->container_token = yarn_token_to(op->arena, container_token);
    one->container_launch_context = cli_launch_to(op->arena, launch, NULL);
    op->start->start_container_request = sv_newn(op->arena, typeof(one), 1);
    if (!one->container_token || !one->container_launch_context ||
        !op->start->start_container_request)
        goto fail;
    op->start->start_container_request[0] = one;
    op->start->n_start_container_request = 1;
    r = send_op(op);
    if (r >= 0)
        return 0;
fail:
    op_free(op);
    return r;
}

int cli_nodes_stop(struct cli_nodes *n, const struct yarn_node_id *node,
                   struct yarn_container_id id)
{
    struct op *op;
    int r = new_op(n, node, id, &op);

    if (r < 0)
        return r;
    r = send_op(op);
    if (r < 0)
        op_free(op);
    return r < 0 ? r : 0;
}
