/* Plays nodes, clients and ApplicationMasters against a ResourceManager, ours or Apache's, over
 * real connections to 127.0.0.1: one ResourceManager a program, whose state here is `peer`.
 *
 * A request is a message of peer_request(), which the caller fills; peer_must() sends it and ends
 * the program where it is refused, peer_call() returns NULL with the reason in peer.err. A node
 * keeps the containers that it runs, reports them and learns from each answer which of them are to
 * end. Answers live in the arena that the caller gives. */
#ifndef SELVEDGE_TESTS_LIB_RM_PEER_H
#define SELVEDGE_TESTS_LIB_RM_PEER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "common/clock.h"
#include "common/str.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

typedef Hadoop__Yarn__AllocateRequestProto AllocateRequest;
typedef Hadoop__Yarn__AllocateResponseProto AllocateResponse;
typedef Hadoop__Yarn__ApplicationReportProto ApplicationReport;
typedef Hadoop__Yarn__ApplicationSubmissionContextProto SubmissionContext;
typedef Hadoop__Yarn__ContainerStatusProto ContainerStatus;
typedef Hadoop__Yarn__NodeHeartbeatRequestProto HeartbeatRequest;
typedef Hadoop__Yarn__NodeHeartbeatResponseProto HeartbeatResponse;
typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto MasterRegistered;
typedef Hadoop__Yarn__RegisterNodeManagerRequestProto RegisterRequest;
typedef Hadoop__Yarn__RegisterNodeManagerResponseProto RegisterResponse;
typedef Hadoop__Yarn__ResourceRequestProto ResourceRequest;

#define NODE_ACTION(x) HADOOP__YARN__NODE_ACTION_PROTO__##x
#define APP_STATE(x) HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__##x

enum peer_service { PEER_CLIENTS, PEER_TRACKER, PEER_MASTERS, PEER_ADMIN, PEER_SERVICES };

struct peer_held { /* a container on a node */
    struct yarn_container_id id;
    bool complete, acked; /* acked: the ResourceManager wants to hear no more of it */
    int32_t exit;
};

struct peer_node {
    struct yarn_node_id id;
    struct ipc_client *rm;     /* of peer_register() */
    struct ipc_server *server; /* its ContainerManagementProtocol, of peer_serve(); or NULL */
    int32_t response_id;
    struct peer_held *held;
    size_t n_held, room;
    int apps_cleaned, cleanups, removed; /* as told by heartbeats */
};

struct peer_master {
    struct ipc_client *rm;
    struct yarn_app_id app;
    uint8_t id[1024], password[64]; /* of its AMRMToken */
    size_t id_len, password_len;    /* 0: no token yet */
    int32_t response_id;
};

extern struct peer {
    const char *name; /* before the text of what ends the program */
    FILE *errors;     /* where it is printed; NULL = standard output */
    sd_event *event;
    uint16_t port[PEER_SERVICES];
    int64_t patience_ms; /* of a call and of waiting: for hangs alone */
    /* Keys in the last answer to a registration or heartbeat. */
    struct yarn_master_key container_key, nm_key;
    /* A node was asked to start a container, whose token is good, and holds it. Or NULL. */
    void (*on_start)(struct peer_node *n, struct yarn_container_id id,
                     const Hadoop__Yarn__ContainerLaunchContextProto *launch);
    /* The last call: why it was refused, and the exception's class, in its arena; "" = none. */
    const char *method, *class;
    struct sv_error err;
    int stops, bad_tokens, failed; /* stopContainers; what no key has signed; checks */
} peer;

/* One line "ok TEXT" or "FAIL TEXT". */
void check(bool good, const char *fmt, ...) _printf_(2, 3);
_Noreturn void die(const char *what, const struct sv_error *err);
/* The event loop, and the ports in the order of enum peer_service. */
void peer_start(char **ports, int n_ports);
/* The loop runs once, for at most `ms`; false if sv_now_ms() is past `until`. Waiting is
 *     for (int64_t until = peer_deadline(); !DONE && peer_pause(until, 20);) */
int64_t peer_deadline(void);
bool peer_pause(int64_t until, uint64_t ms);

/* ---- Messages and calls ---- */

/* PEER_NEW(arena, hadoop__yarn__priority_proto): an initialized message. */
#define PEER_NEW(a, message) peer_new((a), &message##__descriptor)
void *peer_new(struct sv_arena *a, const ProtobufCMessageDescriptor *d);
void *peer_request(struct sv_arena *a, const char *method);
const ProtobufCMessageDescriptor *peer_response(const char *method);
char *peer_text(const char *constant); /* for fields of messages */

/* `user` or token; the connection is opened by the first call. */
struct ipc_client *peer_open(enum peer_service service, const char *user,
                             const struct yarn_token *token);
/* `request` NULL: the method's, empty. NULL: refused. */
const void *peer_call(struct sv_arena *a, struct ipc_client *c, const char *method,
                      const void *request);
const void *peer_good(const void *answer); /* NULL ends the program with the reason */
const void *peer_must(struct sv_arena *a, struct ipc_client *c, const char *method,
                      const void *request);
void peer_send(struct ipc_client *c, const char *method, const void *request, ipc_done done,
               void *userdata);

/* ---- Nodes ---- */

void peer_serve(struct peer_node *n, const char *host);
void peer_hold(struct peer_node *n, struct yarn_container_id id);
void peer_end(struct peer_node *n, struct yarn_container_id id, int32_t exit);

/* 64 GiB, 64 cores, and the containers that it runs. */
RegisterRequest *peer_registration(struct sv_arena *a, const struct peer_node *n);
void peer_take_keys(const Hadoop__Yarn__MasterKeyProto *container_key,
                    const Hadoop__Yarn__MasterKeyProto *nm_key);
/* NULL: refused. */
const RegisterResponse *peer_register(struct sv_arena *a, struct peer_node *n, RegisterRequest *q);
bool peer_join(struct peer_node *n); /* is it told to go on? */

ContainerStatus *peer_status(struct sv_arena *a, struct yarn_container_id id);
/* A heartbeat of a healthy node, with its containers. */
HeartbeatRequest *peer_heartbeat(struct sv_arena *a, const struct peer_node *n);
const HeartbeatResponse *peer_beat_with(struct sv_arena *a, struct peer_node *n,
                                        HeartbeatRequest *q);
void peer_beat(struct peer_node *n);

bool peer_signed(const Hadoop__Common__TokenProto *t, const struct yarn_master_key *key);

/* ---- Clients ---- */

/* A new application of queue default, whose master runs "true" in 1 GiB. */
SubmissionContext *peer_submission(struct sv_arena *a, struct ipc_client *c,
                                   struct yarn_app_id *ret);
void peer_submit(struct sv_arena *a, struct ipc_client *c, SubmissionContext *m);
const ApplicationReport *peer_report(struct sv_arena *a, struct ipc_client *c,
                                     struct yarn_app_id id);

/* ---- ApplicationMasters ---- */

/* An application with an unmanaged master, whose token is in its report once it is accepted. */
void peer_submit_unmanaged(struct ipc_client *c, struct peer_master *m, const char *name);
bool peer_reported_token(struct ipc_client *c, struct peer_master *m);
/* A managed master's token is in its launch context. */
void peer_launch_token(struct peer_master *m,
                       const Hadoop__Yarn__ContainerLaunchContextProto *launch);
struct ipc_client *peer_open_master(const struct peer_master *m);
/* NULL: refused. */
const MasterRegistered *peer_register_master(struct sv_arena *a, struct peer_master *m,
                                             const char *tracking_url);
ResourceRequest *peer_ask(struct sv_arena *a, const char *place, struct yarn_resource size,
                          int32_t count);
/* q NULL: asks for nothing. NULL: refused. */
const AllocateResponse *peer_allocate(struct sv_arena *a, struct peer_master *m,
                                      AllocateRequest *q);
bool peer_finish(struct peer_master *m, const char *diagnostics); /* is its end stored? */

#endif
