/* For tests with a whole ResourceManager: one call of a client, node or ApplicationMaster over a
 * connection of its own. */
#ifndef SELVEDGE_TESTS_UNIT_RM_LITE_PEER_CALLS_H
#define SELVEDGE_TESTS_UNIT_RM_LITE_PEER_CALLS_H

#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/security/tokens.h"
#include "wire/ipc/ipc-client.h"

struct peer_call {
    const char *protocol, *method;
    uint16_t port;
    const char *user;               /* or */
    const struct yarn_token *token; /* of an ApplicationMaster */
    const ProtobufCMessage *request;
    const ProtobufCMessageDescriptor *answer;
};

/* Returns the answer, in the arena; NULL: refused, with the reason in *ret_class and err. */
static inline const void *peer_ask(struct fix *f, struct sv_arena *a, const struct peer_call *q,
                                   const char **ret_class, struct sv_error *err)
{
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = q->port,
                                           .protocol = q->protocol,
                                           .version = 1,
                                           .user = q->user,
                                           .token = q->token };
    ProtobufCMessage *m = NULL;
    struct ipc_client *c;
    int r;

    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    r = ipc_client_call_sync(c, q->method, q->request, q->answer, a, &m, ret_class, err);
    ipc_client_free(c);
    if (r < 0 && r != -EREMOTEIO)
        fail_msg("%s: %s", q->method, err->text);
    return r < 0 ? NULL : m;
}

static inline const void *peer_must(struct fix *f, struct sv_arena *a, const struct peer_call *q)
{
    struct sv_error err = { 0 };
    const char *class = "";
    const void *m = peer_ask(f, a, q, &class, &err);

    if (!m)
        fail_msg("%s: %s: %s", q->method, class, err.text);
    return m;
}

/* By the master of an attempt, with its AMRMToken. */
static inline const void *master_must(struct fix *f, struct sv_arena *a, struct rm_attempt *att,
                                      const char *method, const ProtobufCMessage *request,
                                      const ProtobufCMessageDescriptor *answer)
{
    struct yarn_token token;

    assert_int_equal(rm_token_amrm(a, att, &token), 0);
    return peer_must(f, a,
                     &(struct peer_call){ .protocol = YARN_APPLICATION_MASTER_PROTOCOL,
                                          .method = method,
                                          .port = f->rm->am_port,
                                          .token = &token,
                                          .request = request,
                                          .answer = answer });
}

static inline const Hadoop__Yarn__RegisterApplicationMasterResponseProto *
master_register(struct fix *f, struct sv_arena *a, struct rm_attempt *att)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    return master_must(f, a, att, "registerApplicationMaster", &q.base,
                       &hadoop__yarn__register_application_master_response_proto__descriptor);
}

/* allocate with at most one row, of any host. */
static inline const Hadoop__Yarn__AllocateResponseProto *
master_allocate(struct fix *f, struct sv_arena *a, struct rm_attempt *att,
                Hadoop__Yarn__ResourceProto *size, int count)
{
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ResourceRequestProto ask = HADOOP__YARN__RESOURCE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ResourceRequestProto *asks[] = { &ask };
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;

    priority.has_priority = ask.has_num_containers = true;
    priority.priority = 1;
    ask.priority = &priority;
    ask.resource_name = (char *)(uintptr_t) "*";
    ask.capability = size;
    ask.num_containers = count;
    q.has_response_id = true;
    q.response_id = att->response_id;
    q.ask = asks;
    q.n_ask = size ? 1 : 0;
    return master_must(f, a, att, "allocate", &q.base,
                       &hadoop__yarn__allocate_response_proto__descriptor);
}

#endif
