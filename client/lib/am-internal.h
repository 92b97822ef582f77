/* An ApplicationMaster's state, shared by the files of cli_am. From the bottom up: am-clock.c
 * (the timer, the end), am-asks.c, am-blacklist.c and am-containers.c (what is open, and its
 * messages), am-calls.c (calls to nodes), am-updates.c, am-allocate.c (a heartbeat's request and
 * answer), am-register.c, am.c (life). */
#ifndef SELVEDGE_CLIENT_LIB_AM_INTERNAL_H
#define SELVEDGE_CLIENT_LIB_AM_INTERNAL_H

#include <uthash.h>
#include <utlist.h>

#include "client/lib/internal.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/proxy.h"

enum cli_am_phase { NEW, REGISTERING, RUNNING, FINISHING, OVER };

/* ---- Requests ---- */

struct am_ask_key { /* hashed: no padding */
    int64_t request_id, priority;
};

struct am_ask {
    struct am_ask_key key;
    int32_t count;
    int32_t held; /* what the ResourceManager works on, where it adds counts (am->adds) */
    bool dirty;   /* in am->dirty_asks */
    bool strict;
    struct yarn_resource resource;
    enum cli_execution execution; /* 0: not said, as in cli_am_want() */
    bool enforce;
    struct sv_arena *arena; /* memory of what follows; NULL: nothing of it */
    const char *label;
    const char **hosts, **racks, **wanted_racks; /* sorted, each once; racks: of hosts too */
    size_t n_hosts, n_racks, n_wanted_racks;
    const char **gone; /* names of the request that it replaces, which must go to 0 */
    size_t n_gone;
    Hadoop__Yarn__SchedulingRequestProto *placed; /* a scheduling request; else NULL */
    struct am_ask *prev, *next;                   /* in am->dirty_asks; next: in am->buried */
    UT_hash_handle hh;
};

struct am_name { /* a host of the blacklist */
    bool on;     /* else its removal is pending */
    bool dirty;
    struct am_name *prev, *next; /* in am->dirty_names */
    UT_hash_handle hh;
    char text[];
};

/* ---- Containers ---- */

struct am_container_key { /* hashed: no padding */
    int64_t cluster_ts, app, attempt, id;
};

struct am_container {
    struct am_container_key key;
    struct cli_allocation allocation;
    void *block; /* memory of the token and of the allocation's texts */
    struct yarn_token token;
    bool started;  /* a start was sent and has not failed */
    bool released; /* kept until the ResourceManager reports its end */
    enum { NOT_PREEMPTED, PREEMPTED, PREEMPTED_STRICTLY } preempted; /* as reported */
    enum { NO_UPDATE, UPDATE_WANTED, UPDATE_SENT, UPDATE_AT_NODE } update;
    enum cli_update update_type;
    struct yarn_resource update_resource;
    bool releasing;                   /* in am->releases: not told yet */
    struct am_container *prev, *next; /* in am->wanted_updates or am->releases */
    UT_hash_handle hh;
};

#define AM_ENDED_MAX 4096 /* known to detect repeated completions */
struct am_ended {
    struct am_container_key key;
    bool released; /* its completion is not reported */
    struct am_ended *prev, *next;
    UT_hash_handle hh;
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
    void (*tick)(struct cli_am *am);
    bool call_open, was_registered;
    bool adds;            /* counts of scheduling requests: cli_am_adds() */
    int64_t silent_since; /* first failure in a row; 0 = none */
    int32_t response_id;
    struct sv_arena *request_arena; /* of the pending allocate request */
    Hadoop__Yarn__AllocateRequestProto *request;
    struct am_ask *asks, *dirty_asks;
    struct am_ask *buried; /* replaced ones that the pending request points to */
    struct am_name *names, *dirty_names;
    struct am_container *containers, *releases, *wanted_updates;
    struct am_ended *ended_by_key, *ended; /* oldest first */
    size_t n_ended;
    int32_t repeated; /* number of repeated completions */
    float progress;
    char *my_host, *my_url; /* kept to register again */
    int32_t my_port;
    char *new_url;                      /* not yet sent */
    struct sv_arena *constraints_arena; /* of the registration */
    Hadoop__Yarn__PlacementConstraintMapEntryProto **constraints;
    size_t n_constraints;
    char *view_acl, *modify_acl, *queue; /* of the registration's answer */
    uint8_t client_key[YARN_MASTER_KEY_MAX];
    size_t client_key_len;
    struct sv_buf job_tokens;       /* of its containers: a credentials file, or empty */
    void (*on_key)(void *userdata); /* the server waits for the registration */
    void *on_key_userdata;
    struct yarn_resource headroom;
    int32_t cluster_nodes;
    enum cli_final final;
    char *diagnostics;
};

/* ---- am-tokens.c ---- */

/* Reads the file, and returns the master's own token, in the arena; sets the attempt and the job's
 * tokens. */
int cli_am_read_tokens(struct cli_am *am, const char *path, struct sv_arena *a,
                       const struct yarn_token **ret, struct sv_error *err) _must_use_;

/* ---- am-clock.c ---- */

#define AM_SOON_MS 10
/* Runs am->tick in after_ms, unless an earlier time is scheduled. */
void cli_am_wake(struct cli_am *am, int64_t after_ms);
/* Something is to be sent: soon, once registered. */
void cli_am_wake_soon(struct cli_am *am);
/* Ends the attempt and reports why. */
void cli_am_lost(struct cli_am *am, const struct sv_error *err);

/* ---- am-places.c ---- */

bool cli_am_is_name(const char *s);
bool cli_am_has_name(const char **sorted, size_t n, const char *name);
int cli_am_ask_places(struct am_ask *w, const struct cli_ask *q, struct sv_error *err) _must_use_;
/* Notes the names of `old`, which `w` replaces, that it does not have. */
int cli_am_ask_gone(struct am_ask *w, const struct am_ask *old) _must_use_;

/* ---- am-ask-messages.c ---- */

/* NULL: out of memory. */
Hadoop__Yarn__SchedulingRequestProto *cli_am_placed_to(struct sv_arena *a,
                                                       const struct cli_scheduling_request *q);
/* Adds the messages of changed requests. */
int cli_am_add_asks(struct cli_am *am, struct sv_arena *a, Hadoop__Yarn__AllocateRequestProto *m)
    _must_use_;

/* ---- am-asks.c ---- */

/* The request with them exists: they are not changed any more. */
void cli_am_asks_taken(struct cli_am *am);
/* The request was answered or dropped: nothing points to replaced asks. */
void cli_am_bury(struct cli_am *am);
void cli_am_asks_again(struct cli_am *am);
/* A container was allocated, or `n` are never to be. */
void cli_am_ask_answered(struct cli_am *am, int32_t priority, int64_t request_id, int32_t n);
void cli_am_asks_free(struct cli_am *am);

/* ---- am-blacklist.c ---- */

int cli_am_add_blacklist(struct cli_am *am, struct sv_arena *a,
                         Hadoop__Yarn__AllocateRequestProto *m) _must_use_;
void cli_am_blacklist_taken(struct cli_am *am);
void cli_am_blacklist_again(struct cli_am *am);
void cli_am_blacklist_free(struct cli_am *am);

/* ---- am-containers.c ---- */

struct am_container *cli_am_find(struct cli_am *am, struct yarn_container_id id); /* not released */
/* Makes the container of a message, or renews a known one: its token and texts. -EEXIST: held, or
 * ended. `with_token`: it must have one. */
int cli_am_hold(struct cli_am *am, const Hadoop__Yarn__ContainerProto *m, bool with_token,
                struct am_container **ret) _must_use_;
int cli_am_renew(struct am_container *c, const Hadoop__Yarn__ContainerProto *m) _must_use_;
/* Notes the end: true if the program is to be told. */
bool cli_am_end(struct cli_am *am, struct yarn_container_id id);
int cli_am_add_releases(struct cli_am *am, struct sv_arena *a,
                        Hadoop__Yarn__AllocateRequestProto *m) _must_use_;
void cli_am_releases_taken(struct cli_am *am);
/* Sends everything about containers once more that the ResourceManager may have forgotten. */
void cli_am_containers_again(struct cli_am *am);
void cli_am_containers_free(struct cli_am *am);

/* ---- am-calls.c ---- */

/* Callback of cli_nodes_new(). */
void cli_am_started(struct yarn_container_id id, int status, const struct sv_error *err,
                    void *userdata);

/* ---- am-updates.c ---- */

int cli_am_add_updates(struct cli_am *am, struct sv_arena *a, Hadoop__Yarn__AllocateRequestProto *m)
    _must_use_;
void cli_am_updates_taken(struct cli_am *am);
void cli_am_take_updated(struct cli_am *am, const Hadoop__Yarn__UpdatedContainerProto *m);
void cli_am_take_update_error(struct cli_am *am, const Hadoop__Yarn__UpdateContainerErrorProto *m);

/* ---- am-allocate.c ---- */

/* Builds am->request from all that is pending: the request is resent until it is answered. */
int cli_am_make_request(struct cli_am *am) _must_use_;
bool cli_am_has_pending(const struct cli_am *am);
/* Reports the contents of the response to the program. */
void cli_am_take_answer(struct cli_am *am, const Hadoop__Yarn__AllocateResponseProto *m);
void cli_am_take_nm_tokens(struct cli_am *am, Hadoop__Yarn__NMTokenProto *const *tokens, size_t n);
void cli_am_take_previous(struct cli_am *am, Hadoop__Yarn__ContainerProto *const *list, size_t n);

/* ---- am-register.c ---- */

/* Keeps what the answer says and reports the containers of earlier attempts. */
int cli_am_take_registration(struct cli_am *am,
                             const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m)
    _must_use_;
/* `m` NULL: the answer was lost. */
void cli_am_report_registered(struct cli_am *am,
                              const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m);

#endif
