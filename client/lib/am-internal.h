/* An ApplicationMaster's state, shared by am.c (lifecycle) and am-allocate.c (heartbeat
 * messages). */
#ifndef SELVEDGE_CLIENT_LIB_AM_INTERNAL_H
#define SELVEDGE_CLIENT_LIB_AM_INTERNAL_H

#include <uthash.h>
#include <utlist.h>

#include "client/lib/internal.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/proxy.h"

enum cli_am_phase { NEW, REGISTERING, RUNNING, FINISHING, OVER };

struct am_ask {
    int32_t priority, count;
    struct yarn_resource resource;
    bool dirty;
    struct am_ask *next;
};

struct am_container {
    struct yarn_container_id id;
    char key[YARN_ID_TEXT_MAX];
    struct sv_arena *arena; /* memory of the token and the address */
    struct cli_allocation allocation;
    struct yarn_token token;
    bool started;  /* a start was sent and has not failed */
    bool over;     /* completed or released: kept to detect repeated completions */
    bool released; /* its completion is not reported */
    UT_hash_handle hh;
};

struct am_release {
    struct yarn_container_id id;
    struct am_release *next;
};

struct cli_am {
    sd_event *event;
    struct cli_am_ops ops;
    void *userdata;
    struct ipc_proxy_config rm;   /* servers and retry rules; the token changes */
    char *hosts[CLI_SERVERS_MAX]; /* of rm.servers */
    int64_t heartbeat_ms, max_wait_ms;
    struct yarn_attempt_id attempt;
    enum cli_am_phase phase;
    struct ipc_proxy *ipc;
    struct sv_arena *new_token_arena; /* renewed AMRMToken, used from the next message on */
    struct yarn_token new_token;
    struct cli_nodes *nodes;
    sd_event_source *timer;
    bool call_open, was_registered;
    int64_t silent_since; /* first failure in a row; 0 = none */
    int32_t response_id;
    struct sv_arena *request_arena; /* of the pending allocate request */
    Hadoop__Yarn__AllocateRequestProto *request;
    struct am_ask *asks;
    struct am_release *releases;
    struct am_container *containers;
    int32_t repeated; /* number of repeated completions */
    float progress;
    char *my_host, *my_url; /* kept to register again */
    int32_t my_port;
    enum cli_final final;
    char *diagnostics;
};

/* Builds am->request from the pending asks and releases and clears them: the request is resent
 * until it is answered. */
int cli_am_make_request(struct cli_am *am) _must_use_;
/* Reports the contents of the response to the program. */
void cli_am_take_answer(struct cli_am *am, const Hadoop__Yarn__AllocateResponseProto *m);
struct am_container *cli_am_find(struct cli_am *am, struct yarn_container_id id); /* not over */
/* Marks a container as over: frees its token, keeps its id. */
void cli_am_retire(struct am_container *c, bool released);
void cli_am_forget_all(struct cli_am *am);

#endif
