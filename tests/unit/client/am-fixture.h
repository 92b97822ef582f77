/* An ApplicationMaster of client/lib with a ResourceManager and a node that a test scripts: one
 * server on a loopback port speaks both protocols and keeps what it was asked. */
#ifndef SELVEDGE_TESTS_UNIT_CLIENT_AM_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_CLIENT_AM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/am.h"
#include "client/lib/internal.h"
#include "common/buf.h"
#include "common/clock.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

#define PATIENCE_MS 60000 /* only for hangs */
#define HEARTBEAT_MS 5
#define CLIENT_KEY "0123456789abcdef"

typedef Hadoop__Yarn__RegisterApplicationMasterRequestProto RegisterRequest;
typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto RegisterResponse;
typedef Hadoop__Yarn__AllocateRequestProto AllocateRequest;
typedef Hadoop__Yarn__AllocateResponseProto AllocateResponse;

struct cluster {
    sd_event *event;
    struct ipc_server *server;
    uint16_t port;
    struct cli_am *am;
    char tokens[64]; /* path of the credentials file */
    int attempt;
    /* The ResourceManager. */
    int registrations, heartbeats;
    const char *refuse_register; /* class of the exception, once */
    const char *refuse_allocate;
    bool secure; /* gives the master a key */
    void (*on_register)(struct cluster *w, const RegisterRequest *q, RegisterResponse *out,
                        struct sv_arena *a);
    /* May fill an answer; called for each heartbeat that is served. */
    void (*on_allocate)(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                        struct sv_arena *a);
    struct sv_arena *kept; /* memory of `last` */
    AllocateRequest *last; /* the last heartbeat that asked for something */
    int asking;            /* heartbeats that asked for something */
    /* The node: answers of the last call. */
    const char *refuse_node; /* message of an exception */
    int node_calls;
    char node_method[64];
    uint8_t node_request[8192];
    size_t node_request_len;
    const Hadoop__Yarn__ContainerStatusProto *container_status;
    const Hadoop__Yarn__ContainerLocalizationStatusesProto *localized;
    /* Events of the master. */
    struct cli_registration registered;
    int n_registered, n_recovered, n_allocated, n_rejected, n_started, n_updated, n_completed,
        n_nodes, n_resynced, n_lost, n_finished, n_preempted, n_wanted_back;
    struct yarn_container_id preempted;
    bool strictly;
    struct cli_allocation allocation;
    char tag[64];
    struct yarn_container_id recovered[4];
    struct cli_rejection rejection;
    struct cli_node_update node;
    int status, update_type;
    int32_t exit_status;
    char text[SV_ERROR_TEXT_MAX];
    void *test; /* the test's own */
};

static inline struct yarn_container_id container(int attempt, int64_t id)
{
    return (struct yarn_container_id){ .attempt = { { 1700000000000, 1 }, attempt }, .id = id };
}

/* ---- Messages ---- */

static inline Hadoop__Common__TokenProto *token_message(struct sv_arena *a, const char *kind)
{
    static const struct yarn_token t = { .id = (const uint8_t *)"some identifier",
                                         .id_len = 15,
                                         .password = (const uint8_t *)"password",
                                         .password_len = 8,
                                         .service = "" };
    struct yarn_token of_kind = t;

    of_kind.kind = kind;
    return yarn_token_to(a, &of_kind);
}

static inline Hadoop__Yarn__ContainerProto *container_message(struct cluster *w, struct sv_arena *a,
                                                              int64_t id, int32_t priority,
                                                              int64_t request_id)
{
    Hadoop__Yarn__ContainerProto *m = sv_new(a, Hadoop__Yarn__ContainerProto);
    const struct yarn_node_id node = { .host = "127.0.0.1", .port = w->port };

    hadoop__yarn__container_proto__init(m);
    m->id = yarn_container_id_to(a, container(w->attempt, id));
    m->nodeid = yarn_node_id_to(a, &node);
    m->resource = yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 512, .vcores = 1 });
    m->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    hadoop__yarn__priority_proto__init(m->priority);
    m->priority->has_priority = true;
    m->priority->priority = priority;
    m->has_allocation_request_id = true;
    m->allocation_request_id = request_id;
    m->container_token = token_message(a, YARN_KIND_CONTAINER);
    return m;
}

static inline Hadoop__Yarn__NMTokenProto *nm_token_message(struct cluster *w, struct sv_arena *a)
{
    Hadoop__Yarn__NMTokenProto *m = sv_new(a, Hadoop__Yarn__NMTokenProto);
    const struct yarn_node_id node = { .host = "127.0.0.1", .port = w->port };

    hadoop__yarn__nmtoken_proto__init(m);
    m->nodeid = yarn_node_id_to(a, &node);
    m->token = token_message(a, YARN_KIND_NM);
    return m;
}

/* Puts one container and its node's token into an answer. */
static inline void allocate_one(struct cluster *w, AllocateResponse *out, struct sv_arena *a,
                                Hadoop__Yarn__ContainerProto *m)
{
    out->allocated_containers = sv_newn(a, Hadoop__Yarn__ContainerProto *, 1);
    out->allocated_containers[0] = m;
    out->n_allocated_containers = 1;
    out->nm_tokens = sv_newn(a, Hadoop__Yarn__NMTokenProto *, 1);
    out->nm_tokens[0] = nm_token_message(w, a);
    out->n_nm_tokens = 1;
}

static inline void complete_one(struct cluster *w, AllocateResponse *out, struct sv_arena *a,
                                int64_t id, int32_t exit_status)
{
    Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

    hadoop__yarn__container_status_proto__init(m);
    m->container_id = yarn_container_id_to(a, container(w->attempt, id));
    m->has_exit_status = true;
    m->exit_status = exit_status;
    out->completed_container_statuses = sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, 1);
    out->completed_container_statuses[0] = m;
    out->n_completed_container_statuses = 1;
}

/* ---- The ResourceManager ---- */

static inline void on_registerApplicationMaster(struct ipc_call *call,
                                                const ProtobufCMessage *request, void *userdata)
{
    struct cluster *w = userdata;
    RegisterResponse out = HADOOP__YARN__REGISTER_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    if (w->refuse_register) {
        ipc_call_fail(call, w->refuse_register, "no");
        w->refuse_register = NULL;
        return;
    }
    w->registrations++;
    out.queue = (char[]){ "root.a" };
    out.has_client_to_am_token_master_key = w->secure;
    out.client_to_am_token_master_key.data = (uint8_t *)(uintptr_t)CLIENT_KEY;
    out.client_to_am_token_master_key.len = sizeof(CLIENT_KEY) - 1;
    if (w->on_register)
        w->on_register(w, (const void *)request, &out, ipc_call_arena(call));
    ipc_call_reply(call, &out.base);
}

static inline void keep_request(struct cluster *w, const AllocateRequest *q)
{
    size_t n = hadoop__yarn__allocate_request_proto__get_packed_size(q);
    uint8_t *bytes;

    if (q->n_ask + q->n_release + q->n_update_requests + q->n_scheduling_requests == 0 &&
        !q->blacklist_request && !q->tracking_url)
        return;
    w->asking++;
    sv_arena_free(w->kept);
    w->kept = sv_arena_new(0);
    bytes = sv_arena_alloc(w->kept, n);
    hadoop__yarn__allocate_request_proto__pack(q, bytes);
    w->last = hadoop__yarn__allocate_request_proto__unpack(sv_arena_protobuf(w->kept), n, bytes);
    assert_non_null(w->last);
}

static inline void on_allocate(struct ipc_call *call, const ProtobufCMessage *request,
                               void *userdata)
{
    struct cluster *w = userdata;
    const AllocateRequest *q = (const void *)request;
    AllocateResponse out = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;

    if (w->refuse_allocate) {
        ipc_call_fail(call, w->refuse_allocate, "no");
        w->refuse_allocate = NULL;
        return;
    }
    w->heartbeats++;
    keep_request(w, q);
    out.has_response_id = true;
    out.response_id = q->response_id + 1;
    if (w->on_allocate)
        w->on_allocate(w, q, &out, ipc_call_arena(call));
    ipc_call_reply(call, &out.base);
}

static inline void on_finishApplicationMaster(struct ipc_call *call,
                                              const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__FinishApplicationMasterResponseProto out =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    (void)request, (void)userdata;
    out.has_isunregistered = out.isunregistered = true;
    ipc_call_reply(call, &out.base);
}

/* ---- The node ---- */

/* True: refused, and answered. */
static inline bool node_called(struct cluster *w, struct ipc_call *call, const char *method,
                               const ProtobufCMessage *request)
{
    w->node_calls++;
    (void)snprintf(w->node_method, sizeof(w->node_method), "%s", method);
    w->node_request_len = protobuf_c_message_get_packed_size(request);
    assert_true(w->node_request_len <= sizeof(w->node_request));
    protobuf_c_message_pack(request, w->node_request);
    if (w->refuse_node)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", w->refuse_node);
    return w->refuse_node != NULL;
}

#define EMPTY_ANSWER(name, type, init)                                                             \
    static inline void on_##name(struct ipc_call *call, const ProtobufCMessage *request,           \
                                 void *userdata)                                                   \
    {                                                                                              \
        type out = init;                                                                           \
                                                                                                   \
        if (!node_called(userdata, call, #name, request))                                          \
            ipc_call_reply(call, &out.base);                                                       \
    }

EMPTY_ANSWER(startContainers, Hadoop__Yarn__StartContainersResponseProto,
             HADOOP__YARN__START_CONTAINERS_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(stopContainers, Hadoop__Yarn__StopContainersResponseProto,
             HADOOP__YARN__STOP_CONTAINERS_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(increaseContainersResource, Hadoop__Yarn__IncreaseContainersResourceResponseProto,
             HADOOP__YARN__INCREASE_CONTAINERS_RESOURCE_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(signalToContainer, Hadoop__Yarn__SignalContainerResponseProto,
             HADOOP__YARN__SIGNAL_CONTAINER_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(localize, Hadoop__Yarn__ResourceLocalizationResponseProto,
             HADOOP__YARN__RESOURCE_LOCALIZATION_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(reInitializeContainer, Hadoop__Yarn__ReInitializeContainerResponseProto,
             HADOOP__YARN__RE_INITIALIZE_CONTAINER_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(restartContainer, Hadoop__Yarn__RestartContainerResponseProto,
             HADOOP__YARN__RESTART_CONTAINER_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(rollbackLastReInitialization, Hadoop__Yarn__RollbackResponseProto,
             HADOOP__YARN__ROLLBACK_RESPONSE_PROTO__INIT)
EMPTY_ANSWER(commitLastReInitialization, Hadoop__Yarn__CommitResponseProto,
             HADOOP__YARN__COMMIT_RESPONSE_PROTO__INIT)

static inline void on_getLocalizationStatuses(struct ipc_call *call,
                                              const ProtobufCMessage *request, void *userdata)
{
    struct cluster *w = userdata;
    Hadoop__Yarn__GetLocalizationStatusesResponseProto out =
        HADOOP__YARN__GET_LOCALIZATION_STATUSES_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__ContainerLocalizationStatusesProto *one = (void *)(uintptr_t)w->localized;

    if (node_called(w, call, "getLocalizationStatuses", request))
        return;
    out.cntn_localization_statuses = &one;
    out.n_cntn_localization_statuses = one ? 1 : 0;
    ipc_call_reply(call, &out.base);
}

static inline void on_getContainerStatuses(struct ipc_call *call, const ProtobufCMessage *request,
                                           void *userdata)
{
    struct cluster *w = userdata;
    Hadoop__Yarn__GetContainerStatusesResponseProto out =
        HADOOP__YARN__GET_CONTAINER_STATUSES_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__ContainerStatusProto *one = (void *)(uintptr_t)w->container_status;

    if (node_called(w, call, "getContainerStatuses", request))
        return;
    out.status = &one;
    out.n_status = one ? 1 : 0;
    ipc_call_reply(call, &out.base);
}

/* Refuses by a row of the answer, as real nodes do. */
static inline void on_updateContainer(struct ipc_call *call, const ProtobufCMessage *request,
                                      void *userdata)
{
    struct cluster *w = userdata;
    Hadoop__Yarn__ContainerUpdateResponseProto out =
        HADOOP__YARN__CONTAINER_UPDATE_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__ContainerExceptionMapProto row =
                                                 HADOOP__YARN__CONTAINER_EXCEPTION_MAP_PROTO__INIT,
                                             *rows = &row;
    Hadoop__Yarn__SerializedExceptionProto why = HADOOP__YARN__SERIALIZED_EXCEPTION_PROTO__INIT;
    const char *refuse = w->refuse_node;

    w->refuse_node = NULL;
    (void)node_called(w, call, "updateContainer", request);
    row.container_id = yarn_container_id_to(ipc_call_arena(call), w->allocation.id);
    row.exception = &why;
    why.message = (char *)(uintptr_t)refuse;
    out.failed_requests = &rows;
    out.n_failed_requests = refuse ? 1 : 0;
    ipc_call_reply(call, &out.base);
}

#define FIXTURE_ROW(name, request, response)                                                       \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method rm_methods[] = { YARN_APPLICATION_MASTER_METHODS(FIXTURE_ROW) };
static const struct ipc_protocol rm_protocol = { .name = YARN_APPLICATION_MASTER_PROTOCOL,
                                                 .version = 1,
                                                 .methods = rm_methods,
                                                 .n_methods = SV_ARRAY_LEN(rm_methods) };
static const struct ipc_method nm_methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(FIXTURE_ROW) };
static const struct ipc_protocol nm_protocol = { .name = YARN_CONTAINER_MANAGEMENT_PROTOCOL,
                                                 .version = 1,
                                                 .methods = nm_methods,
                                                 .n_methods = SV_ARRAY_LEN(nm_methods) };
static const struct ipc_protocol *const cluster_protocols[] = { &rm_protocol, &nm_protocol, NULL };

static inline int verify_any(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                             size_t *ret_len, char ret_user[SASL_USER_MAX], const char **ret_class,
                             struct sv_error *err, void *userdata)
{
    (void)id, (void)id_len, (void)ret_class, (void)err, (void)userdata;
    memcpy(ret_password, "password", 8);
    *ret_len = 8;
    (void)snprintf(ret_user, SASL_USER_MAX, "master");
    return 0;
}

/* ---- Events ---- */

static inline void note_error(struct cluster *w, int status, const struct sv_error *err)
{
    w->status = status;
    (void)snprintf(w->text, sizeof(w->text), "%s", err ? err->text : "");
}
static inline void event_registered(struct cli_am *am, const struct cli_registration *r,
                                    void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    w->registered = *r;
    w->n_registered++;
}
static inline void note_allocation(struct cluster *w, const struct cli_allocation *c)
{
    w->allocation = *c;
    (void)snprintf(w->tag, sizeof(w->tag), "%s", c->n_tags ? c->tags[0] : "");
}
static inline void event_recovered(struct cli_am *am, const struct cli_allocation *c,
                                   void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    assert_true(w->n_recovered < 4);
    w->recovered[w->n_recovered++] = c->id;
    note_allocation(w, c);
}
static inline void event_allocated(struct cli_am *am, const struct cli_allocation *c,
                                   void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    w->n_allocated++;
    note_allocation(w, c);
}
static inline void event_rejected(struct cli_am *am, const struct cli_rejection *r, void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    w->n_rejected++;
    w->rejection = *r;
}
static inline void event_started(struct cli_am *am, struct yarn_container_id id, int status,
                                 const struct sv_error *err, void *userdata)
{
    struct cluster *w = userdata;

    (void)am, (void)id;
    w->n_started++;
    note_error(w, status, err);
}
static inline void event_updated(struct cli_am *am, const struct cli_allocation *c,
                                 enum cli_update type, int status, const struct sv_error *err,
                                 void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    w->n_updated++;
    w->update_type = (int)type;
    note_allocation(w, c);
    note_error(w, status, err);
}
static inline void event_completed(struct cli_am *am, struct yarn_container_id id,
                                   int32_t exit_status, const char *diagnostics, void *userdata)
{
    struct cluster *w = userdata;

    (void)am, (void)id, (void)diagnostics;
    w->n_completed++;
    w->exit_status = exit_status;
}
static inline void event_node(struct cli_am *am, const struct cli_node_update *n, void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    w->n_nodes++;
    w->node = *n;
}
static inline void event_preempted(struct cli_am *am, struct yarn_container_id id, bool strict,
                                   void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    w->n_preempted++;
    w->preempted = id;
    w->strictly = strict;
}

static inline void event_resynced(struct cli_am *am, void *userdata)
{
    (void)am;
    ((struct cluster *)userdata)->n_resynced++;
}
static inline void event_finished(struct cli_am *am, void *userdata)
{
    (void)am;
    ((struct cluster *)userdata)->n_finished++;
}
static inline void event_lost(struct cli_am *am, const struct sv_error *err, void *userdata)
{
    struct cluster *w = userdata;

    (void)am;
    w->n_lost++;
    note_error(w, err->code, err);
}

static const struct cli_am_ops cluster_ops = {
    .registered = event_registered,
    .recovered = event_recovered,
    .allocated = event_allocated,
    .rejected = event_rejected,
    .started = event_started,
    .updated = event_updated,
    .completed = event_completed,
    .node = event_node,
    .resynced = event_resynced,
    .preempted = event_preempted,
    .finished = event_finished,
    .lost = event_lost,
};

/* ---- Life ---- */

static inline void write_tokens(struct cluster *w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct yarn_amrm_token amrm = { .attempt = container(w->attempt, 1).attempt,
                                          .key_id = 1 };
    struct yarn_token token = { .kind = YARN_KIND_AMRM,
                                .service = "",
                                .password = (const uint8_t *)"password",
                                .password_len = 8 };
    struct yarn_token of_job = { .kind = YARN_KIND_HDFS_DELEGATION,
                                 .service = "127.0.0.1:9000",
                                 .id = (const uint8_t *)"job",
                                 .id_len = 3,
                                 .password = (const uint8_t *)"password",
                                 .password_len = 8 };
    struct sv_buf out = SV_BUF_INIT(65536);
    struct yarn_credentials c = { 0 };
    FILE *f;
    int fd;

    assert_int_equal(yarn_amrm_token_encode(a, &amrm, &token.id, &token.id_len), 0);
    assert_int_equal(yarn_credentials_add(a, &c, "am", &token), 0);
    assert_int_equal(yarn_credentials_add(a, &c, "hdfs", &of_job), 0);
    assert_int_equal(yarn_credentials_write(&c, &out), 0);
    (void)snprintf(w->tokens, sizeof(w->tokens), "/tmp/test-am-tokens-XXXXXX");
    fd = mkstemp(w->tokens);
    assert_true(fd >= 0);
    f = fdopen(fd, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(out.data, 1, out.len, f), out.len);
    assert_int_equal(fclose(f), 0);
    sv_buf_free(&out);
}

static inline struct cluster *cluster_new(int attempt)
{
    struct cluster *w = calloc(1, sizeof(*w));
    struct cli_server server = { .host = "127.0.0.1" };
    struct ipc_server_config ipc = { .verify_token = verify_any,
                                     .protocols = cluster_protocols,
                                     .userdata = w };
    struct cli_am_config cfg = { .schedulers = &server,
                                 .n_schedulers = 1,
                                 .heartbeat_ms = HEARTBEAT_MS,
                                 .ops = &cluster_ops,
                                 .userdata = w };
    struct sv_error err = { 0 };

    assert_non_null(w);
    w->attempt = attempt;
    assert_int_equal(sd_event_new(&w->event), 0);
    assert_int_equal(ipc_server_new(w->event, &ipc, &w->server, NULL), 0);
    server.port = w->port = ipc_server_port(w->server);
    write_tokens(w);
    cfg.tokens_file = w->tokens;
    if (cli_am_new(w->event, &cfg, &w->am, &err) < 0)
        fail_msg("%s", err.text);
    return w;
}

static inline int cluster_set_up(void **state)
{
    *state = cluster_new(1);
    return 0;
}

static inline int cluster_tear_down(void **state)
{
    struct cluster *w = *state;

    cli_am_free(w->am);
    ipc_server_free(w->server);
    sd_event_unref(w->event);
    sv_arena_free(w->kept);
    (void)unlink(w->tokens);
    free(w);
    return 0;
}

#define RUN_UNTIL(w, condition)                                                                    \
    do {                                                                                           \
        const int64_t end_ = sv_now_ms() + PATIENCE_MS;                                            \
                                                                                                   \
        while (!(condition) && sv_now_ms() < end_)                                                 \
            assert_true(sd_event_run((w)->event, 100000) >= 0);                                    \
        assert_true(condition);                                                                    \
    } while (0)

static inline void run_registered(struct cluster *w)
{
    assert_int_equal(cli_am_register(w->am, "host", 4711, "http://host/"), 0);
    RUN_UNTIL(w, w->n_registered == 1);
}

/* Two more answered heartbeats: the first may have been on its way. */
static inline void run_heartbeats(struct cluster *w)
{
    const int n = w->heartbeats + 2;

    RUN_UNTIL(w, w->heartbeats >= n);
}

/* Waits for the next heartbeat that asks for something. */
static inline void run_asked(struct cluster *w)
{
    const int n = w->asking;

    RUN_UNTIL(w, w->asking > n);
}

#endif
