/* The state of a framework's master, shared by its files: master.c (start and end), begin.c, yarn.c
 * (what the ResourceManager and nodes report), operate.c (what the engine wants), tell.c (what the
 * launcher is told and says), tasks.c (tables), start.c (launches), publish.c (FrameworkInfo). */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_MASTER_INTERNAL_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_MASTER_INTERNAL_H

#include <uthash.h>

#include "client/lib/am.h"
#include "common/buf.h"
#include "service/am/framework/job-tokens.h"
#include "service/am/framework/link.h"
#include "service/am/framework/master.h"
#include "service/am/framework/ports.h"
#include "service/am/framework/task-launch.h"
#include "service/am/launch/work.h"
#include "service/engine/framework.h"
#include "service/engine/place.h"
#include "service/framework/link.h"

#define SVC_FWM_LAUNCHES_OPEN 64 /* being prepared */

struct svc_fwm_task { /* one that has changed since the launcher was told, or is told now */
    char *instance;   /* the engine's name, "role0-7" */
    bool again;       /* it has changed since it was sent */
    bool sent;
    struct svc_fwm_task *prev, *next;
    UT_hash_handle hh;
};

struct svc_fwm_container {
    struct yarn_container_id id;
    char key[YARN_ID_TEXT_MAX];
    struct yarn_node_id node;
    char *http;  /* address of its node's web server, "host:port" */
    char *ports; /* "" = none */
    char ip[SVC_TASK_IP_MAX];
    char *instance;                        /* NULL: it was not given to a task */
    int64_t claim;                         /* its request, among the places; 0: none */
    bool waits;                            /* for the launcher to know of it */
    bool prepares;                         /* a job has its launch */
    struct svc_fwm_container *prev, *next; /* those that wait */
    UT_hash_handle hh;
};

struct svc_fwm_released { /* its end is reported in the next turn */
    struct yarn_container_id id;
    int64_t request; /* >= 0: instead a request that no node can answer */
    char *why;
    struct svc_fwm_released *prev, *next;
};

struct svc_fwm_request { /* one container that was asked for */
    int32_t priority;
    size_t role;
    int64_t request;
    bool claimed; /* among the places */
    UT_hash_handle hh;
};

struct svc_fwm_avoided {
    char *host;
    int64_t until;
    struct svc_fwm_avoided *prev, *next;
};

struct svc_fwm {
    sd_event *event;
    const struct svc_fwm_options *options;
    struct sv_conf *conf;
    struct cli_am *yarn;
    struct svc_engine *engine;
    struct svc_link *link;
    struct svc_work *work;
    struct svc_job_tokens tokens;
    struct svc_files *files; /* until `work` has them */
    struct svc_ports *ports;
    struct sv_arena *spec_arena; /* the descriptor's */
    struct svc_fw_descriptor *spec;
    struct sv_arena *arena;     /* of the definition and other texts that stay */
    json_t *cluster;            /* clusterConfiguration; NULL: none */
    struct svc_fw_exits *exits; /* NULL: the defaults */
    const char *launcher;       /* URL */
    char application[YARN_ID_TEXT_MAX], attempt[YARN_ID_TEXT_MAX];
    struct svc_fwm_task *changed, *sent; /* lists */
    struct svc_fwm_task *tasks;          /* both, by name */
    struct svc_fwm_container *containers, *waiting;
    struct svc_fwm_container *ended_of; /* the last one of each task that has none, by its name */
    struct svc_fwm_request *requests;
    char **whys;                       /* of each role: why its tasks wait; NULL: of none */
    struct svc_shared_text *addresses; /* of a gang; NULL: to be made anew */
    size_t addresses_max;              /* bytes of them; 0: SVC_FW_ADDRESSES_MAX */
    bool too_long;                     /* they are more: the framework ends with the next turn */
    size_t jobs;
    double progress;                    /* the override; < 0: none */
    void (*operate)(struct svc_fwm *m); /* svc_fwm_operate(), for files below it */
    struct cli_rm *rm;                  /* NULL: with Kerberos, without a token for it */
    struct svc_places *places;          /* NULL: not known (yet) */
    struct svc_fwm_avoided *avoided;    /* the first one ends first */
    int64_t *answered; /* claimed requests that were, since the last list of nodes */
    size_t n_answered, answered_room;
    int64_t resync_ms;
    int32_t listing;                /* containers of this attempt were asked for; 0: of none */
    bool list_own;                  /* the master's own was among them */
    bool asking_nodes, nodes_asked; /* now; and answered once, if only by an error */
    bool lists_fail;                /* the last one was refused, or not answered */
    bool start_waits;               /* for that */
    sd_event_source *resync_timer, *nodes_timer, *avoid_timer;
    sd_event_source *engine_timer, *end_timer, *publish_timer, *publish_turn, *turn;
    struct svc_fwm_released *released;
    struct sv_buf info; /* what is being published */
    size_t info_role, info_cursor;
    bool info_open, info_stale, info_full, publishing;
    bool begun, registered, ending, gone, finished, ended;
    enum cli_final final;
    char *final_text;
    int exit_code;
};

/* ---- tasks.c ---- */

/* Ends the process where there was no memory. */
void svc_fwm_need(int r);
/* The number in "role<i>-<k>". */
size_t svc_fwm_role_of(const char *instance);
#define SVC_FWM_NAME (SVC_FW_NAME_MAX + 16)
/* A task's name for people, "worker-3"; instance NULL: "no task". Returns `ret`. */
const char *svc_fwm_name(const struct svc_fwm *m, const char *instance, char ret[SVC_FWM_NAME]);
/* Its state is to be told. */
void svc_fwm_changed(struct svc_fwm *m, const char *instance);
bool svc_fwm_is_told(const struct svc_fwm *m, const char *instance);
/* NULL: known already. */
struct svc_fwm_container *svc_fwm_container_add(struct svc_fwm *m, struct yarn_container_id id,
                                                const struct yarn_node_id *node, const char *http);
struct svc_fwm_container *svc_fwm_container(const struct svc_fwm *m, struct yarn_container_id id);
/* Forgets it and gives its ports back. */
void svc_fwm_container_remove(struct svc_fwm *m, struct svc_fwm_container *c);
/* It has ended: its ports are free, and it is known as its task's last one. */
void svc_fwm_container_end(struct svc_fwm *m, struct svc_fwm_container *c);
void svc_fwm_forget_ended(struct svc_fwm *m, const char *instance);
/* That of a task, the ended one too; NULL: not known. */
const struct svc_fwm_container *
svc_fwm_container_of(const struct svc_fwm *m, struct yarn_container_id id, const char *instance);
void svc_fwm_request_add(struct svc_fwm *m, int32_t priority, size_t role, int64_t request,
                         bool claimed);
/* -ENOENT: no request of this priority is open. */
int svc_fwm_request_role(const struct svc_fwm *m, int32_t priority, size_t *ret) _must_use_;
/* Why tasks of the role have no container; NULL: nothing is in their way. */
void svc_fwm_why_set(struct svc_fwm *m, size_t role, const char *why);
/* The request is over. `by`: the container that its task has; NULL: the node was tried in vain. */
void svc_fwm_request_take(struct svc_fwm *m, int32_t priority, struct svc_fwm_container *by);
/* The container's share of its node is free again. */
void svc_fwm_unclaim(struct svc_fwm *m, struct svc_fwm_container *c);
void svc_fwm_tasks_clear(struct svc_fwm *m);

/* ---- view.c ---- */

/* A task with what the engine does not know of it; texts are the arena's, the engine's or the
 * container's. */
void svc_fwm_view(const struct svc_fwm *m, const struct svc_fw_view *v, struct sv_arena *a,
                  struct svc_fw_task *ret);
/* The addresses of all tasks, for a gang; NULL: too long. */
struct svc_shared_text *svc_fwm_addresses(struct svc_fwm *m);

/* ---- cluster.c ---- */

struct cli_rm;
int svc_fwm_cluster_new(struct svc_fwm *m, struct sv_error *err) _must_use_;
void svc_fwm_cluster_free(struct svc_fwm *m);
/* Starts the engine, once the nodes are known where roles want GPUs. */
void svc_fwm_cluster_start(struct svc_fwm *m);
/* The node for a request with GPUs; no host: any, and err says which node lacks what where that is
 * why. -EAGAIN: none has those that it names. The choice is claimed until the request is taken. */
int svc_fwm_choose(struct svc_fwm *m, int64_t request, const struct svc_fw_role *role,
                   struct svc_place_choice *ret, struct sv_error *err) _must_use_;

/* ---- avoid.c ---- */

int svc_fwm_avoid_new(struct svc_fwm *m) _must_use_;
void svc_fwm_avoid_free(struct svc_fwm *m);
/* The engine wants the host on the ResourceManager's blacklist, or no longer. */
void svc_fwm_blacklist(struct svc_fwm *m, const char *host, bool on);
/* A port of the role's task was taken on the host. */
void svc_fwm_avoid(struct svc_fwm *m, const char *host, size_t role);

/* ---- operate.c ---- */

/* After every input of the engine: carries its operations out. */
void svc_fwm_operate(struct svc_fwm *m);
int svc_fwm_operate_new(struct svc_fwm *m) _must_use_;
/* The loop ends with the code, once nothing is being told. */
void svc_fwm_exit(struct svc_fwm *m, int code);
/* Unregisters, once the launcher knows all tasks. */
void svc_fwm_maybe_finish(struct svc_fwm *m);

/* ---- start.c ---- */

/* Launches containers that wait and of which the launcher knows. */
void svc_fwm_start(struct svc_fwm *m);

/* ---- tell.c ---- */

extern const struct svc_link_ops svc_fwm_link_ops;

/* ---- publish.c ---- */

int svc_fwm_publish_new(struct svc_fwm *m) _must_use_;

/* ---- yarn.c ---- */

extern const struct cli_am_ops svc_fwm_yarn_ops;
/* The descriptor's needs against what one container can have; words, or NULL. malloc'd. */
char *svc_fwm_cannot(const struct svc_fw_descriptor *d, const struct yarn_resource *maximum);

/* ---- begin.c ---- */

/* The greeting was answered: makes the engine and registers. */
int svc_fwm_begin(struct svc_fwm *m, const struct svc_answer *a, struct sv_error *err) _must_use_;

#endif
