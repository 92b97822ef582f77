/* The master's state, shared by its files: master.c (start and end), events.c (what YARN and the
 * loop report), commands.c (what clients ask), operations.c (what the engine wants) and below it
 * launching.c, checking.c, storing.c. */
#ifndef SELVEDGE_SERVICE_AM_MASTER_INTERNAL_H
#define SELVEDGE_SERVICE_AM_MASTER_INTERNAL_H

#include "client/lib/am-server.h"
#include "service/am/client-am.h"
#include "service/am/containers.h"
#include "service/am/master.h"
#include "service/am/readiness.h"
#include "service/am/rest.h"
#include "service/am/status.h"
#include "service/am/work.h"

struct svc_pending { /* a container to launch, or to run another version */
    struct yarn_container_id id;
    const struct svc_component *component;
    bool again; /* it runs */
    struct svc_pending *prev, *next;
};

struct svc_upgrade { /* one whose definition is being read */
    bool reading, auto_finalize, express;
    struct ipc_call *call; /* NULL: the caller has its answer */
};

struct svc_master {
    sd_event *event;
    const struct svc_am_options *options;
    struct cli_am *yarn;
    struct cli_am_server *rpc;
    struct svc_client_am client;
    struct svc_rest *rest;
    struct svc_engine *engine;
    /* The one that runs; the target of an upgrade; the one that ran before, while the engine refers
     * to it; freed when no job uses them. */
    struct svc_plan *plan, *next, *old, *dropped;
    const char *version; /* of the plan */
    struct svc_tokens *tokens;
    const char *definition_file; /* its name, the files' */
    struct svc_work *work;
    struct svc_checks *checks;
    struct svc_status *status;
    struct svc_containers containers;
    struct svc_containers expected; /* of the journal, not handed back yet */
    struct sv_arena *credentials_arena;
    const uint8_t *credentials; /* of containers */
    size_t credentials_len;
    struct cli_am_access access;
    struct svc_pending *pending, *released; /* of this turn; released: completions of our own */
    sd_event_source *turn, *engine_timer, *address_timer, *exit_timer;
    size_t jobs, stores; /* open: of launches, of stored files */
    struct svc_upgrade upgrade;
    bool stored_by_caller; /* what the present command changes was stored by its client */
    bool store_again;      /* the definition changed while it was being stored */
    void (*operate)(struct svc_master *m); /* svc_master_operate(), for files below it */
    bool started, ended;
    int exit_code;
};

/* ---- operations.c ---- */

/* After every input of the engine: carries its operations out. */
void svc_master_operate(struct svc_master *m);
/* The service's threads and jobs are done, or will not be waited for. */
void svc_master_exit(struct svc_master *m, int code);
int svc_master_operations_new(struct svc_master *m) _must_use_;

/* ---- launching.c ---- */

/* Stores names and launches the container in the next turn. `again`: it runs. */
void svc_master_launch(struct svc_master *m, const struct svc_op *op, bool again);
/* Gives the engine the end of a container in the next turn. */
void svc_master_end(struct svc_master *m, struct yarn_container_id id);
int svc_master_launching_new(struct svc_master *m) _must_use_;

/* ---- checking.c ---- */

void svc_master_check(struct svc_master *m, const struct svc_op *op);
int svc_master_checking_new(struct svc_master *m) _must_use_;

/* ---- storing.c ---- */

/* Ends the process where there was no memory. */
void svc_master_need(int r);
/* NULL: the component of no definition that is kept. */
struct svc_component_plan *svc_master_plan_of(const struct svc_master *m,
                                              const struct svc_component *c);
void svc_master_free_dropped(struct svc_master *m);
void svc_master_persist(struct svc_master *m, const struct svc_op *op);
void svc_master_finalize(struct svc_master *m, const struct svc_op *op);
void svc_master_drop(struct svc_master *m, const struct svc_op *op);
/* Stores the definition, if an operation has changed it. */
void svc_master_store(struct svc_master *m);
void svc_master_store_journal(struct svc_master *m);
/* Ends the loop when the service has ended and all is stored. */
void svc_master_maybe_exit(struct svc_master *m);

/* ---- events.c ---- */

extern const struct cli_am_ops svc_master_yarn_ops;
void svc_master_checked(struct yarn_container_id id, bool ready, const char *why, void *userdata);
void svc_master_status_done(int status, void *userdata);

/* ---- commands.c ---- */

extern const struct svc_control_ops svc_master_control_ops;

#endif
