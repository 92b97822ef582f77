/* The parts of nm-driver: the ResourceManager (nm-driver-rm.c), the ApplicationMasters
 * (nm-driver-am.c), the times of benches (nm-driver-bench.c), and the commands that control them
 * (nm-driver.c). */
#ifndef SELVEDGE_TESTS_NM_DRIVER_H
#define SELVEDGE_TESTS_NM_DRIVER_H

#include <jansson.h>
#include <systemd/sd-event.h>
#include <uthash.h>

#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define CLUSTER_TS 1700000000000LL

struct seen { /* one container, by heartbeats and registrations */
    UT_hash_handle hh;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_container_id id;
    int state, exit_code;
    int told;       /* in how many messages it was C_COMPLETE */
    int64_t end_us; /* when that was first */
    char *diagnostics;
    bool acked;
};

extern struct driver {
    sd_event *event;
    struct ipc_server *server;
    uint16_t port;
    int64_t heartbeat_ms;
    int64_t id; /* rm_identifier of registrations and ContainerTokens */
    struct yarn_master_key nm_key, container_key;
    int attempt, containers_attempt; /* of the NMTokens, and of the containers of commands */
    struct yarn_node_id node;
    size_t heartbeat_bytes; /* the last heartbeat's, without its frame */
    int registrations, registrations_asked, heartbeats,
        heartbeats_before; /* the last registration */
    json_t *registered;    /* containers and applications of the last registration */
    struct seen *seen;
    int ended;
    bool ack, resync, shutdown, unregistered, rolled;
    struct yarn_app_id finish[64];
    int n_finish;
    bool finished[4096]; /* by number: repeated to a node that registers with it */
    struct yarn_container_id cleanup[64];
    int n_cleanup;
    struct yarn_container_id signal_id;
    int signal_command;               /* 0 = none */
    int vcores, gpus, execution_type; /* of containers to come */
    struct driver_resource {          /* files of this machine that they want localized */
        char name[64], path[256];
        char scheme[16], host[64]; /* "-": none */
        int url_port;              /* 0: none */
        int64_t size, timestamp;
        int visibility, type;
    } resources[64];
    size_t n_resources;
    struct driver_bytes {
        uint8_t bytes[4096];
        size_t n;
        int app;
    } tokens,       /* Credentials in the launch contexts to come */
        renewed[4]; /* system_credentials_for_apps of the heartbeats to come … */
    size_t n_renewed;
    int64_t renewals;      /* … whose node does not know this sequence number */
    int increased;         /* containers reported as increased by heartbeats */
    json_t *opportunistic; /* OpportunisticContainersStatus of the last heartbeat */
    int queue_limit;       /* container_queuing_limit of the heartbeats to come; -2: none */
    struct driver_update { /* containers_to_update of the next heartbeat; app 0: none */
        int app, version;
        int64_t n;
        char user[65];
        struct yarn_resource resource;
    } update;
    char view_acl[256];   /* of applications to come; "" = none */
    struct driver_retry { /* ContainerRetryContext of contexts to come; policy -1: none */
        int policy, max, interval_ms;
        int64_t window_ms;
        int32_t codes[4];
        int n_codes;
    } retry;
    float cpu;
    char lie[16]; /* kind of the next heartbeat's answer; "" = an honest one */
    int lies;
    /* Change the answer to each heartbeat or registration; or NULL. */
    void (*heartbeat)(Hadoop__Yarn__NodeHeartbeatResponseProto *m);
    void (*registration)(Hadoop__Yarn__RegisterNodeManagerResponseProto *m);
    bool refuse;      /* registrations are answered with SHUTDOWN */
    char version[16]; /* version of the ResourceManager, sent at registration */
} rm;

int64_t now_us(void);
_Noreturn void die(const char *what, int r);
struct yarn_app_id app_id(int app);
struct yarn_container_id container_id(int app, int64_t n);

/* Runs the loop; false: it took longer. */
bool run_until(bool (*done)(int64_t), int64_t arg, int64_t ms);
bool has_ended(int64_t count); /* that many containers, ever */

/* The ResourceTracker answers, or is away. */
void rm_serve(bool on);

/* Each returns the NodeManager's answer or error as JSON. */
json_t *am_start(int app, int64_t first, int count, const char *user, int64_t mem,
                 const char *fault, const char *command);
json_t *am_stop(int app, int other, int64_t first, int count);
json_t *am_status(int app, int other, int64_t first, int count);
json_t *am_update(int app, int64_t n, const char *user, struct yarn_resource resource, int version,
                  const char *fault);
/* {key: state} of one container */
json_t *am_localization(int app, int64_t n);
json_t *am_signal(int app, int other, int64_t n, int command);
/* method: localize (the resources), reInitializeContainer (with the command; auto_commit),
 * restartContainer, rollbackLastReInitialization or commitLastReInitialization. */
json_t *am_change(int app, int other, int64_t n, const char *method, bool auto_commit,
                  const char *command);
/* Its connection; fault: "nmtoken": signed with a wrong key; "nmnode": for another node. */
struct ipc_client *am_client(int app, const char *user, const char *fault);
/* A ContainerToken with whatever is to be wrong with it. */
Hadoop__Common__TokenProto *am_container_token(struct sv_arena *a, int app, int64_t n,
                                               const char *user, struct yarn_resource resource,
                                               int version, const char *fault);
/* The next call opens a new connection, with a token of the keys of then. */
void am_forget_clients(void);

/* ---- Labels, attributes, resource types: nm-driver-labels.c ---- */

/* Fills in the answer, and adds what was told to `registered`. */
void labels_registered(const Hadoop__Yarn__RegisterNodeManagerRequestProto *q,
                       Hadoop__Yarn__RegisterNodeManagerResponseProto *m, json_t *registered);
void labels_heartbeat(const Hadoop__Yarn__NodeHeartbeatRequestProto *q,
                      Hadoop__Yarn__NodeHeartbeatResponseProto *m);
json_t *labels_command(const char *line); /* NULL: another command */

/* ---- Times of containers: nm-driver-bench.c ---- */

json_t *bench_command(const char *line); /* NULL: another command */

/* ---- Largest messages: nm-driver-largest.c ---- */

struct largest_load {
    int app, n; /* its containers 1 … n run */
    char user[65];
    int app_last; /* applications from `app` to this one run */
};
/* {"fields": names of the parts of a heartbeat's answer} */
json_t *largest_fields(void);
/* Each returns {"requests", "refused", "largest"} once the last request is answered, or a heartbeat
 * has followed the last answer of the ResourceManager. */
json_t *largest_call(const struct largest_load *load, const char *method);
json_t *largest_heartbeat(const struct largest_load *load, const char *field);
json_t *largest_registration(const struct largest_load *load);

#endif
