/* Applications on YARN, for the programs of this tree; library.h is the interface of
 * libselvedge-client, built on this one.
 *
 * Two sides, both asynchronous on the caller's sd-event loop:
 *   cli_rm client: new application, submit, watch, kill, list (ApplicationClientProtocol)
 *   cli_am ApplicationMaster (am.h; am-server.h for the port that it serves)
 *
 * Speaks Hadoop's wire protocol, to Selvedge's daemons and to Apache's. A callback runs exactly
 * once for each call that returned 0, never from inside that call; its arguments are valid only
 * while it runs. Not thread-safe: one loop, one thread. */
#ifndef SELVEDGE_CLIENT_LIB_CLIENT_H
#define SELVEDGE_CLIENT_LIB_CLIENT_H

#include <systemd/sd-event.h>

#include "client/lib/am.h"
#include "client/lib/launch.h"
#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"
#include "wire/ids.h"
#include "wire/ipc/proxy.h"

struct yarn_token;

/* ---- Client side ---- */

enum cli_app_state { /* YarnApplicationState */
                     CLI_APP_NEW = 1,
                     CLI_APP_NEW_SAVING,
                     CLI_APP_SUBMITTED,
                     CLI_APP_ACCEPTED,
                     CLI_APP_RUNNING,
                     CLI_APP_FINISHED,
                     CLI_APP_FAILED,
                     CLI_APP_KILLED,
};

struct cli_report { /* texts are never NULL */
    struct yarn_app_id id;
    struct yarn_attempt_id attempt; /* attempt.attempt == 0: none yet */
    enum cli_app_state state;
    enum cli_final final;
    const char *user, *queue, *name, *type, *diagnostics;
    const char *tracking_url; /* the ApplicationMaster's own, if known */
    int64_t start_ms, finish_ms;
    float progress; /* 0…1 */
    int32_t used_containers;
    int64_t used_memory_mb;
    int32_t used_vcores;
    /* Address at which the ApplicationMaster serves its clients: "" and -1: none yet, or it has
     * none. */
    const char *host;
    int32_t rpc_port;
    const struct yarn_token *client_token; /* for that port, with security; NULL: none */
    const char *const *tags;
    size_t n_tags;
    int64_t lifetime_left_s; /* -1: unlimited, or it has ended */
};
static inline bool cli_app_ended(enum cli_app_state s)
{
    return s == CLI_APP_FINISHED || s == CLI_APP_FAILED || s == CLI_APP_KILLED;
}
const char *cli_app_state_name(enum cli_app_state s);
/* The state of that name, in any case; 0: there is none. */
enum cli_app_state cli_app_state_named(const char *name);
const char *cli_final_name(enum cli_final f);

struct cli_node_report {
    struct yarn_node_id id;
    const char *http_address; /* "host:port" */
    const char *rack, *state, *health_report;
    int32_t containers;
    struct yarn_resource used, capability;
};

struct cli_queue_report {
    const char *path;              /* "root.a.b" */
    const char *state;             /* "RUNNING", "STOPPED", "DRAINING" */
    float capacity, maximum, used; /* 0…1; used: relative to capacity, so it may exceed 1 */
    size_t children;               /* 0: a leaf */
    int64_t running, pending;      /* applications; 0 if the ResourceManager does not report them */
};

struct cli_container_report {
    struct yarn_container_id id;
    struct yarn_node_id node;
    const char *http_address, *log_url, *diagnostics;
    const char *state; /* "NEW", "RUNNING", "COMPLETE" */
    int32_t exit_status;
    int64_t start_ms, finish_ms;
};

struct cli_attempt_report {
    struct yarn_attempt_id id;
    const char *state; /* "RUNNING", "FAILED", … */
    bool has_master;
    struct yarn_container_id master; /* the ApplicationMaster's container */
    const char *host, *diagnostics, *tracking_url;
    int64_t start_ms, finish_ms;
};

#define CLI_TAGS_MAX 256     /* of one application; the ResourceManager's limits are lower: */
#define CLI_TAG_LEN_MAX 1024 /* yarn.resourcemanager.application.max-tags, .max-tag.length */

struct cli_submission {
    struct yarn_app_id app;
    const char *name, *queue, *type; /* NULL: the cluster's defaults */
    struct yarn_resource resource;   /* of the ApplicationMaster's container */
    int32_t max_attempts;            /* 0: the cluster's */
    int64_t lifetime_s;              /* killed after this time; 0: unlimited */
    const char *rolled_logs; /* pattern of logs that are uploaded while it runs; NULL: none */
    /* Further patterns of logs, NULL: the cluster's: uploaded at the end, or not; not while it
     * runs. Java regular expressions over names of files. */
    const char *log_include, *log_exclude, *rolled_exclude;
    const char *log_policy, *log_policy_parameters; /* class that selects containers; or NULL */
    struct cli_launch launch;
    const char *const *tags; /* sent in lower case, as Hadoop's client does */
    size_t n_tags;
    bool keep_containers;        /* they go on running when an attempt of the master ends */
    int64_t failure_validity_ms; /* older failures of attempts do not count; 0: all count */
    int32_t priority;
    const char *label;    /* node label expression of all requests without one; NULL: the queue's */
    const char *am_label; /* of the master's container alone; NULL: `label` */
};

struct cli_rm;

/* `user`: NULL = the process' own. The addresses of the ResourceManagers and the retry limits are
 * read from `conf` by Hadoop's keys: yarn.resourcemanager.address, .ha.*, .connect.*,
 * yarn.client.failover-*, ipc.client.*. With Kerberos the client is who its login says (login.h);
 * another `user` is one whom it acts for. Errors as cli_login_new(). `conf` outlives it. */
int cli_rm_new(sd_event *event, struct sv_conf *conf, const char *user, struct cli_rm **ret,
               struct sv_error *err) _must_use_;
/* The login of a client that cli_rm_new() has made; NULL: without Kerberos. */
struct cli_login;
const struct cli_login *cli_rm_login(const struct cli_rm *rm);
/* As cli_rm_new(), with a login of the caller's, NULL without Kerberos, that outlives it; for
 * clients or administrators (YARN_RM_ADMIN). */
int cli_rm_new_as(sd_event *event, struct sv_conf *conf, const struct cli_login *login,
                  const char *user, enum yarn_rm_service service, struct cli_rm **ret,
                  struct sv_error *err) _must_use_;
/* A client for a daemon without Kerberos that asks on behalf of `for_user` (Hadoop's proxy users):
 * all calls are done as that user, and the ResourceManager checks that `user` may. */
int cli_rm_new_for(sd_event *event, struct sv_conf *conf, const char *user, const char *for_user,
                   struct cli_rm **ret, struct sv_error *err) _must_use_;
/* Likewise with a ticket; `kerberos` outlives it. qop_mask: hadoop.rpc.protection. */
struct ipc_kerberos;
int cli_rm_new_secure(sd_event *event, struct sv_conf *conf, const struct ipc_kerberos *kerberos,
                      uint32_t qop_mask, const char *for_user, struct cli_rm **ret,
                      struct sv_error *err) _must_use_;
struct cli_rm *cli_rm_free(struct cli_rm *rm); /* open calls end with -ECANCELED first */
/* Registers a callback that runs before each wait of a failed call that is retried automatically at
 * `next` ("host:port"). For messages only. */
typedef void (*cli_away_fn)(const struct sv_error *err, int64_t wait_ms, const char *next,
                            void *userdata);
void cli_rm_on_away(struct cli_rm *rm, cli_away_fn fn, void *userdata);

/* True once a call was answered, if only by an exception. */
bool cli_rm_answered(const struct cli_rm *rm);
/* Class of the last exception, without its package, such as "ApplicationNotFoundException"; "" =
 * none. For messages; valid until the next answer. */
const char *cli_rm_exception(const struct cli_rm *rm);

/* In every callback: status 0, or -errno and the reason in err->text; -EREMOTEIO = the
 * ResourceManager answered with an exception. */
typedef void (*cli_new_app_fn)(int status, struct yarn_app_id app, struct yarn_resource maximum,
                               const struct sv_error *err, void *userdata);
typedef void (*cli_done_fn)(int status, const struct sv_error *err, void *userdata);
typedef void (*cli_kill_fn)(int status, bool killed, const struct sv_error *err, void *userdata);
typedef void (*cli_reports_fn)(int status, const struct cli_report *reports, size_t n,
                               const struct sv_error *err, void *userdata);
typedef void (*cli_nodes_fn)(int status, const struct cli_node_report *nodes, size_t n,
                             const struct sv_error *err, void *userdata);
typedef void (*cli_containers_fn)(int status, const struct cli_container_report *containers,
                                  size_t n, const struct sv_error *err, void *userdata);
typedef void (*cli_queues_fn)(int status, const struct cli_queue_report *queues, size_t n,
                              const struct sv_error *err, void *userdata);

typedef void (*cli_priority_fn)(int status, int32_t priority, const struct sv_error *err,
                                void *userdata);
typedef void (*cli_attempts_fn)(int status, const struct cli_attempt_report *attempts, size_t n,
                                const struct sv_error *err, void *userdata);

int cli_rm_new_application(struct cli_rm *rm, cli_new_app_fn fn, void *userdata) _must_use_;
/* Success means accepted, not yet running: poll the report. */
int cli_rm_submit(struct cli_rm *rm, const struct cli_submission *s, cli_done_fn fn, void *userdata)
    _must_use_;
int cli_rm_report(struct cli_rm *rm, struct yarn_app_id app, cli_reports_fn fn, void *userdata)
    _must_use_;           /* n == 1 */
#define CLI_FILTER_MAX 16 /* values of one kind */
struct cli_app_filter {   /* applications that fit one value of each kind; none of a kind = all */
    const char *users[CLI_FILTER_MAX], *queues[CLI_FILTER_MAX], *types[CLI_FILTER_MAX],
        *tags[CLI_FILTER_MAX];
    enum cli_app_state states[CLI_FILTER_MAX];
    size_t n_users, n_queues, n_types, n_tags, n_states;
};
/* Adds the unfinished states. */
void cli_app_filter_live(struct cli_app_filter *f);
int cli_rm_applications_where(struct cli_rm *rm, const struct cli_app_filter *f, cli_reports_fn fn,
                              void *userdata) _must_use_;
/* `user` NULL = all users; `live`: only unfinished applications. */
int cli_rm_applications(struct cli_rm *rm, const char *user, bool live, cli_reports_fn fn,
                        void *userdata) _must_use_;
/* Requests the kill; repeat until `killed`. */
int cli_rm_kill(struct cli_rm *rm, struct yarn_app_id app, const char *reason, cli_kill_fn fn,
                void *userdata) _must_use_;
int cli_rm_nodes(struct cli_rm *rm, bool all_states, cli_nodes_fn fn, void *userdata) _must_use_;
/* Lists the queue `name`, as in a submission, or "root"; with `recursive` also all its descendants,
 * each parent before its children. n == 0: no such queue. */
int cli_rm_queues(struct cli_rm *rm, const char *name, bool recursive, cli_queues_fn fn,
                  void *userdata) _must_use_;
int cli_rm_containers(struct cli_rm *rm, struct yarn_attempt_id attempt, cli_containers_fn fn,
                      void *userdata) _must_use_;

int cli_rm_attempts(struct cli_rm *rm, struct yarn_app_id app, cli_attempts_fn fn, void *userdata)
    _must_use_;
int cli_rm_move(struct cli_rm *rm, struct yarn_app_id app, const char *queue, cli_done_fn fn,
                void *userdata) _must_use_;
/* The answer has the priority that was set, which the cluster's maximum limits. */
int cli_rm_priority(struct cli_rm *rm, struct yarn_app_id app, int32_t priority, cli_priority_fn fn,
                    void *userdata) _must_use_;
/* Sets the time from now on after which the application is killed; a queue's maximum limits it. */
int cli_rm_set_lifetime(struct cli_rm *rm, struct yarn_app_id app, int64_t seconds, cli_done_fn fn,
                        void *userdata) _must_use_;
/* The signal reaches the node with one of its next heartbeats. */
int cli_rm_signal(struct cli_rm *rm, struct yarn_container_id id, enum cli_signal signal,
                  cli_done_fn fn, void *userdata) _must_use_;

/* The two calls below are of the administrators' port, YARN_RM_ADMIN. */
int cli_rm_refresh_queues(struct cli_rm *rm, cli_done_fn fn, void *userdata) _must_use_;
/* `timeout_s`: of a graceful decommission; -1 = the cluster's. */
int cli_rm_refresh_nodes(struct cli_rm *rm, bool graceful, int32_t timeout_s, cli_done_fn fn,
                         void *userdata) _must_use_;

#endif
