/* The scenarios of rm-driver and what they share: nodes on one machine, one client, and masters
 * that are started on these nodes. */
#ifndef SELVEDGE_TESTS_INTEGRATION_RM_DRIVER_H
#define SELVEDGE_TESTS_INTEGRATION_RM_DRIVER_H

#include "tests/lib/rm-peer.h"

#define NODES 20

struct master {
    struct peer_master am;
    size_t containers, done;
    int64_t exits; /* sum of exit codes */
};

extern struct driver {
    struct ipc_client *client;
    struct peer_node nodes[NODES];
    int n_nodes, starts;
    struct peer_master am;           /* of the last start: its token */
    struct yarn_container_id master; /* its container */
    char env_base[128], env_time[64];
} g;

/* The call is refused with this exception, whose text has `text`. */
void refused(struct ipc_client *c, const char *method, const void *q, const char *class,
             const char *text);
const char *variable(const char *name, const char *otherwise);
void await_line(const char *word); /* prints the word and waits for a line on standard input */

struct peer_node *add_node(void);
void beat(struct peer_node *n);
void beat_all(void);
/* One heartbeat with this response id. */
const HeartbeatResponse *beat_with(struct sv_arena *a, struct peer_node *n, int32_t response_id);

struct yarn_app_id submit(const char *queue, int32_t attempts);
const ApplicationReport *report(struct sv_arena *a, struct yarn_app_id id);
/* Heartbeats until then; false when it lasts too long. */
bool wait_state(struct yarn_app_id id, int state);
bool wait_start(int starts);

const MasterRegistered *master_register(struct sv_arena *a, struct master *m);
AllocateRequest *request(struct sv_arena *a, int32_t count, int64_t memory);
/* ask < 0: none. What comes is placed on its nodes. */
const AllocateResponse *allocate(struct sv_arena *a, struct master *m, int32_t ask);

/* Node, application, master registered: the beginning of most scenarios. */
struct yarn_app_id begin(struct master *m);
/* The master unregisters, its container ends, the node must clean up. */
void good_bye(struct master *m, struct yarn_app_id id);

/* rm-driver-life.c */
void run_life(void);
void run_page(void);
void run_rules(void);
void run_heartbeats(void);
void run_roll(void);
void run_rate(void);
/* rm-driver-updates.c */
void run_updates(void);
/* rm-driver-ends.c */
void run_kill(void);
void run_failure(void);
void run_acls(void);
void run_restart(void);
void run_expiry(void);
void run_stranger(void);
/* rm-driver-uam.c */
void run_uam(void);

#endif
