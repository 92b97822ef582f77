/* The master's state, shared by its files: master.c (start and end), events.c (what YARN and the
 * loop report), commands.c (what clients ask), operations.c (what the engine wants) and below it
 * launching.c, checking.c, registering.c, storing.c. */
#ifndef SELVEDGE_SERVICE_AM_MASTER_INTERNAL_H
#define SELVEDGE_SERVICE_AM_MASTER_INTERNAL_H

#include "client/lib/am-server.h"
#include "common/buf.h"
#include "service/am/check/addresses.h"
#include "service/am/check/readiness.h"
#include "service/am/facts/containers.h"
#include "service/am/facts/journal.h"
#include "service/am/facts/peers.h"
#include "service/am/launch/work.h"
#include "service/am/master.h"
#include "service/am/serve/caller-names.h"
#include "service/am/serve/client-am.h"
#include "service/am/serve/rest.h"
#include "service/am/view/status.h"

struct reg_registry;

struct svc_pending { /* a container to launch, or to run another version; or one that has ended */
    struct yarn_container_id id;
    const struct svc_component *component;
    bool again; /* it runs */
    struct svc_pending *prev, *next;
};

struct svc_upgrade { /* the last one */
    bool reading;    /* its definition is being read */
    bool auto_finalize, express;
    bool noting;           /* the journal that is being stored was printed after its begin */
    unsigned number;       /* in struct svc_container */
    struct ipc_call *call; /* NULL: the caller has its answer */
};
#define SVC_RESUMED 1 /* number of the upgrade that an earlier attempt began */

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
    struct svc_addresses *addresses;
    struct svc_status *status;
    struct svc_instances *instances;
    struct svc_containers containers;
    struct svc_containers expected; /* of the journal, not handed back yet */
    struct svc_journal_head past;   /* the upgrade that the attempt before had not ended */
    struct sv_arena *credentials_arena;
    const uint8_t *credentials; /* of containers */
    size_t credentials_len;
    struct cli_am_access access;
    struct svc_caller_names callers;
    /* Launches whose names the journal has to get, and those whose names it has; completions of our
     * own. */
    struct svc_pending *pending, *journaled, *released;
    sd_event_source *turn, *engine_timer, *localized_timer, *exit_timer;
    size_t jobs, stores;                 /* open: of launches, of stored files */
    bool storing_journal, journal_stale; /* it lacks something, launches are not all of it */
    size_t localized_open;               /* queries of states of files */
    struct svc_names *names;             /* addresses of instances, for launches */
    struct svc_upgrade upgrade;
    struct reg_registry *registry;        /* NULL: none */
    char *registry_where, *registry_path; /* the service's, in it */
    struct sv_buf registry_record;        /* the service's own */
    sd_event_source *registry_timer;      /* of containers that are not handed back */
    bool unregistered;                    /* its records are removed */
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

#define SVC_LAUNCHES_OPEN 64 /* being prepared */

/* Launches the container once the journal has its name. `again`: it runs. */
void svc_master_launch(struct svc_master *m, const struct svc_op *op, bool again);
/* Gives the engine the end of a container in the next turn. */
void svc_master_end(struct svc_master *m, struct yarn_container_id id);
int svc_master_launching_new(struct svc_master *m) _must_use_;

/* ---- checking.c ---- */

void svc_master_check(struct svc_master *m, const struct svc_op *op);
int svc_master_checking_new(struct svc_master *m) _must_use_;

/* ---- localized.c ---- */

/* The container was started: asks its node for the states of its files, until they are there. */
void svc_master_localized(struct svc_master *m, struct yarn_container_id id);
int svc_master_localized_new(struct svc_master *m) _must_use_;

/* ---- registering.c ---- */

/* `url`: of the directory of the definition. A failure is logged, and there are no records. */
void svc_master_registry_open(struct svc_master *m, struct sv_conf *conf, const char *url);
void svc_master_registry_free(struct svc_master *m);
/* Before svc_master_register(): the port of the RPC and the master's URL. */
int svc_master_describe(struct svc_master *m, const char *host, uint16_t port, const char *url)
    _must_use_;
void svc_master_register(struct svc_master *m);
/* The service has ended for good: removes all its records. */
void svc_master_unregister(struct svc_master *m);
/* After svc_master_registry_open(). */
int svc_master_names_new(struct svc_master *m, struct sv_conf *conf) _must_use_;
/* A container with a name has another address than before. */
void svc_master_record(struct svc_master *m, const struct svc_container *c);
/* It is forgotten. */
void svc_master_unrecord(struct svc_master *m, struct yarn_container_id id);

/* ---- storing.c ---- */

/* Ends the process where there was no memory. */
void svc_master_need(int r);
/* There is something to do for launching.c in the loop's next turn. */
void svc_master_turn(struct svc_master *m);
/* NULL: the component of no definition that is kept. */
struct svc_component_plan *svc_master_plan_of(const struct svc_master *m,
                                              const struct svc_component *c);
void svc_master_free_dropped(struct svc_master *m);
/* Writes the application's id into the definition that runs. */
void svc_master_identify(struct svc_master *m);
void svc_master_persist(struct svc_master *m, const struct svc_op *op);
void svc_master_finalize(struct svc_master *m, const struct svc_op *op);
void svc_master_drop(struct svc_master *m, const struct svc_op *op);
/* Stores the definition, if an operation has changed it. */
void svc_master_store(struct svc_master *m);
void svc_master_store_journal(struct svc_master *m);
/* The journal lacks something: it is stored after this turn of the loop. */
void svc_master_journal_changed(struct svc_master *m);
/* Ends the loop when the service has ended and all is stored. */
void svc_master_maybe_exit(struct svc_master *m);

/* ---- events.c ---- */

extern const struct cli_am_ops svc_master_yarn_ops;
void svc_master_checked(struct yarn_container_id id, bool ready, const char *why, void *userdata);
void svc_master_status_done(int status, void *userdata);

/* ---- resuming.c ---- */

/* Before the loop: the definition of the upgrade that the attempt before had not ended. A failure
 * is logged, and the service stays as it was stored. */
void svc_master_read_target(struct svc_master *m, struct svc_files *files, struct sv_conf *conf);
/* Registered: goes on with it. */
void svc_master_resume(struct svc_master *m);
/* For the engine, of a recovered container whose name the journal had. */
bool svc_master_runs_target(const struct svc_master *m, const struct svc_container *c);
void svc_master_turn_recovered(struct svc_master *m, struct yarn_container_id id);

/* ---- commands.c ---- */

extern const struct svc_control_ops svc_master_control_ops;

#endif
