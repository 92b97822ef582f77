/* libselvedge-client: applications and ApplicationMasters of YARN in C. Installed as
 * <selvedge/client.h>; it includes nothing but the C library's headers.
 *
 *   selvedge_loop  events: run it, or watch its descriptor from any other loop
 *   selvedge_rm    a client of the ResourceManager: submit, watch, list, kill
 *   selvedge_am    an ApplicationMaster: register, request containers, start and stop them, finish
 *
 * It speaks Hadoop's protocols, with Selvedge's daemons and with Apache's. Every function that can
 * fail returns 0 or more, or -errno. Handles are numbers that are never reused: a call with one
 * that was closed, or never opened, returns -EBADF, and a missing argument -EINVAL. A handle may be
 * closed from within a callback of its own. The library is single-threaded.
 *
 * Callbacks run from the loop alone, never within a call. The callback of a request runs exactly
 * once for each request that returned 0: with -ECANCELED if its handle was closed before. Callback
 * arguments are valid only during the call; texts are never NULL. Identifiers are texts:
 * "application_1700000000000_0001". */
#ifndef SELVEDGE_CLIENT_LIB_LIBRARY_H
#define SELVEDGE_CLIENT_LIB_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SELVEDGE_API 4 /* incremented with each addition */

struct sd_event;

typedef struct selvedge_loop { /* all zero: none */
    uint64_t id;
} selvedge_loop;
typedef struct selvedge_rm {
    uint64_t id;
} selvedge_rm;
typedef struct selvedge_am {
    uint64_t id;
} selvedge_am;

/* An error as one line: the object, what failed, why, what to do. Arguments of this type may be
 * NULL. */
struct selvedge_error {
    int code; /* -errno */
    char text[1024];
};

/* Since SELVEDGE_API 3: of the library that the program runs with: its version, as in "0.1.0", and
 * its SELVEDGE_API. */
const char *selvedge_version(void);
int selvedge_api(void);

/* ---- Events ---- */

/* `event` NULL: creates a loop of its own; else uses an sd-event loop, which the program runs. */
int selvedge_loop_new(struct sd_event *event, selvedge_loop *ret);
/* -EBUSY: it has open handles, or it is running. */
int selvedge_loop_free(selvedge_loop loop);
/* Runs until selvedge_loop_quit is called, and returns its `code`; once per loop. */
int selvedge_loop_run(selvedge_loop loop);
int selvedge_loop_quit(selvedge_loop loop, int code);
/* For integration into other loops: a descriptor that becomes readable when there is something to
 * do, timeouts included. Then, and after calls from outside of callbacks, call
 * selvedge_loop_dispatch, which does not block: 1 if it must be called again at once. */
int selvedge_loop_fd(selvedge_loop loop);
int selvedge_loop_dispatch(selvedge_loop loop);

/* ---- Launch of a container ---- */

enum selvedge_visibility { /* users that share the node's copy; YARN's numbers */
                           SELVEDGE_PUBLIC = 1,
                           SELVEDGE_PRIVATE = 2,
                           SELVEDGE_APPLICATION = 3
};

struct selvedge_file {    /* a file that the node fetches before the launch */
    const char *name;     /* name in the work directory */
    const char *url;      /* "file:///…", "hdfs://host:port/…", "https://…" */
    int64_t size;         /* -1, for file: URLs only: the current size and time */
    int64_t timestamp_ms; /* last modification; size and time must match at the launch */
    int archive;          /* unpacked into a directory of that name */
    int visibility;       /* 0: SELVEDGE_APPLICATION */
};

/* Initialize before setting members: `struct selvedge_launch l = SELVEDGE_LAUNCH;`. It records
 * which members a program compiled with an older header knows. */
struct selvedge_launch {
    size_t struct_size;
    /* One line for bash. Every NodeManager, Apache's too, puts it between double quotes as it
     * stands, `exec /bin/bash -c "<command>"`: a shell before the command's own expands $, ` and
     * \, and a double quote ends the text. Before that the node expands {{VARIABLE}} and
     * <LOG_DIR>. For a program with arguments: argv. */
    const char *command;
    const struct selvedge_file *files;
    size_t n_files;
    const char *const *env; /* "NAME=value", ended by NULL; or NULL */
    const void *tokens;     /* bytes of a credentials file, or NULL */
    size_t tokens_len;
    /* Since SELVEDGE_API 3: in place of `command`, ended by NULL: a program and exactly these
     * arguments, which no shell and no node changes. Its output goes to the logs stdout and
     * stderr. */
    const char *const *argv;
};
#define SELVEDGE_LAUNCH                                                                            \
    {                                                                                              \
        sizeof(struct selvedge_launch), 0, 0, 0, 0, 0, 0, 0                                        \
    }

struct selvedge_resource { /* since SELVEDGE_API 3: besides memory and vcores */
    const char *name;      /* "yarn.io/gpu", or a type of the cluster's resource-types.xml */
    int64_t value;         /* in the type's unit */
};

/* ---- A client of the ResourceManager ---- */

struct selvedge_submission {
    size_t struct_size;
    const char *name, *queue, *type; /* NULL: the cluster's defaults */
    int64_t memory_mb;               /* of the ApplicationMaster's container */
    int32_t vcores;
    int32_t max_attempts; /* 0: the cluster's */
    int64_t lifetime_s;   /* the ResourceManager kills it after this time; 0: unlimited */
    struct selvedge_launch launch;
};
#define SELVEDGE_SUBMISSION                                                                        \
    {                                                                                              \
        sizeof(struct selvedge_submission), 0, 0, 0, 1024, 1, 0, 0, SELVEDGE_LAUNCH                \
    }

/* Further settings of a submission, since SELVEDGE_API 3: `struct selvedge_options o =
 * SELVEDGE_OPTIONS;`. Texts may be NULL: the cluster's default. */
struct selvedge_options {
    size_t struct_size;
    const char *const *tags;           /* of the application, ended by NULL; or NULL */
    const char *view_acl, *modify_acl; /* "user,user group,group" who may see, and end it */
    const char *label, *am_label; /* node labels of all its containers, of the master's alone */
    /* Patterns of logs that are uploaded at the end, that are not, and both while it runs. */
    const char *log_include, *log_exclude, *rolled_include, *rolled_exclude;
    const struct selvedge_resource *resources; /* of the master's container */
    size_t n_resources;
    int64_t failure_validity_ms; /* older failures of attempts do not count; 0: all count */
    int32_t priority;            /* within its queue */
    int keep_containers;         /* they go on when an attempt of the master ends: `recovered` */
};
#define SELVEDGE_OPTIONS                                                                           \
    {                                                                                              \
        sizeof(struct selvedge_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                  \
    }

struct selvedge_container_report { /* later versions append members; since SELVEDGE_API 3 */
    const char *id, *node, *http_address;
    const char *state; /* "NEW", "RUNNING", "COMPLETE" */
    const char *diagnostics, *log_url;
    int64_t start_ms, finish_ms; /* since 1970; 0: not yet */
    int32_t exit_status;         /* of a complete one */
};

struct selvedge_report {       /* later versions append members */
    const char *app, *attempt; /* attempt "": none yet */
    const char *user, *queue, *name, *type;
    const char *state; /* "ACCEPTED", "RUNNING", "FINISHED", … */
    const char *final; /* "UNDEFINED", "SUCCEEDED", "FAILED", "KILLED" */
    const char *diagnostics, *tracking_url;
    int64_t start_ms, finish_ms; /* since 1970; 0: not yet */
    double progress;             /* 0…1 */
    int64_t memory_mb;
    int32_t vcores, containers;
    int ended;
};

/* `status`: 0 or -errno, with the reason in `why`. -EREMOTEIO: rejected by the ResourceManager. */
typedef void (*selvedge_submitted_fn)(int status, const char *why, const char *app, void *userdata);
typedef void (*selvedge_done_fn)(int status, const char *why, void *userdata);
typedef void (*selvedge_reports_fn)(int status, const char *why,
                                    const struct selvedge_report *reports, size_t n,
                                    void *userdata);
typedef void (*selvedge_containers_fn)(int status, const char *why,
                                       const struct selvedge_container_report *list, size_t n,
                                       void *userdata);
/* `text` has any bytes, as the container wrote them. */
typedef void (*selvedge_log_fn)(int status, const char *why, const char *text, size_t len,
                                void *userdata);

/* `conf_dir` NULL: $HADOOP_CONF_DIR, or /etc/hadoop/conf. `user` NULL: the process' own. Hadoop's
 * keys define the ResourceManager's addresses and retries. In a cluster with Kerberos, since
 * SELVEDGE_API 4: the caller is who an RM_DELEGATION_TOKEN of $HADOOP_TOKEN_FILE_LOCATION says,
 * else the user's ticket (kinit); another `user` is one whom it acts for, if the cluster lets it
 * (hadoop.proxyuser). Then it loads libgssapi_krb5.so.2. -ENOKEY: no ticket; -EKEYEXPIRED. */
int selvedge_rm_open(selvedge_loop loop, const char *conf_dir, const char *user, selvedge_rm *ret,
                     struct selvedge_error *err);

/* selvedge_rm_open() for a program that runs for longer than a ticket, since SELVEDGE_API 4:
 * `struct selvedge_login l = SELVEDGE_LOGIN;`. Each member may be NULL. */
struct selvedge_login {
    size_t struct_size;
    const char *conf_dir, *user; /* as above */
    const char *principal;       /* whose tickets, "alice@EXAMPLE.COM" */
    const char *keytab;          /* a file with that principal's key: tickets by it, in memory */
    const char *cache;           /* of tickets, without a keytab; NULL: $KRB5CCNAME and so on */
};
#define SELVEDGE_LOGIN                                                                             \
    {                                                                                              \
        sizeof(struct selvedge_login), 0, 0, 0, 0, 0                                               \
    }
int selvedge_rm_open_as(selvedge_loop loop, const struct selvedge_login *login, selvedge_rm *ret,
                        struct selvedge_error *err);
int selvedge_rm_close(selvedge_rm rm);
/* Takes delegation tokens for a job of a cluster with Kerberos, since SELVEDGE_API 4: of the HDFS
 * file systems of `urls`, ended by NULL ("hdfs://host:port"; "/": fs.defaultFS), which its nodes
 * need, too, to read its files and write its logs; for "yarn:" of the ResourceManager, for a job
 * that itself asks it. `tokens` are the bytes of a credentials file, for selvedge_launch; none
 * without Kerberos. The ResourceManager renews them, and cancels them at the job's end. */
typedef void (*selvedge_tokens_fn)(int status, const char *why, const void *tokens, size_t len,
                                   void *userdata);
int selvedge_rm_tokens(selvedge_rm rm, const char *const *urls, selvedge_tokens_fn fn,
                       void *userdata);
/* Submits a new application. Its master gets SELVEDGE_SCHEDULERS in its environment, for
 * selvedge_am_open. */
int selvedge_rm_submit(selvedge_rm rm, const struct selvedge_submission *s,
                       selvedge_submitted_fn fn, void *userdata);
/* selvedge_rm_submit() with options, which may be NULL; since SELVEDGE_API 3. */
int selvedge_rm_submit_with(selvedge_rm rm, const struct selvedge_submission *s,
                            const struct selvedge_options *o, selvedge_submitted_fn fn,
                            void *userdata);
int selvedge_rm_report(selvedge_rm rm, const char *app, selvedge_reports_fn fn, void *userdata);
/* Calls `fn` once the application has ended. */
int selvedge_rm_wait(selvedge_rm rm, const char *app, selvedge_reports_fn fn, void *userdata);
/* `user` NULL: all users. `live`: only unfinished applications. */
int selvedge_rm_list(selvedge_rm rm, const char *user, int live, selvedge_reports_fn fn,
                     void *userdata);
/* `reason` may be NULL. Success: the ResourceManager kills the application, or it had already
 * ended. */
int selvedge_rm_kill(selvedge_rm rm, const char *app, const char *reason, selvedge_done_fn fn,
                     void *userdata);

/* Since SELVEDGE_API 3: another priority within its queue; `fn` once it is set. */
int selvedge_rm_set_priority(selvedge_rm rm, const char *app, int32_t priority, selvedge_done_fn fn,
                             void *userdata);
/* The containers of its latest attempt, as the ResourceManager lists them: selvedge-rm those that
 * run, Apache's some ended ones too. */
int selvedge_rm_containers(selvedge_rm rm, const char *app, selvedge_containers_fn fn,
                           void *userdata);
/* A log of a container from its node, such as "stdout", while the node has it: the first 16 MiB.
 * `http_address`: the node's, as reports and allocations have it; NULL: as the ResourceManager
 * lists the container. -ENOENT: it lists none, or the node has no such log. Loads libcurl.so.4 with
 * the first call. */
int selvedge_rm_log(selvedge_rm rm, const char *container, const char *http_address,
                    const char *name, selvedge_log_fn fn, void *userdata);

/* ---- An ApplicationMaster ---- */

struct selvedge_container {               /* later versions append members */
    const char *id, *node, *http_address; /* node: "host:port" */
    int64_t memory_mb;
    int32_t vcores, priority;
    /* Since SELVEDGE_API 2: */
    int64_t request_id;      /* of selvedge_am_request(); -1: none */
    const char *const *tags; /* of a request with placement */
    size_t n_tags;
    /* Since SELVEDGE_API 3: what it has besides memory and vcores. */
    const struct selvedge_resource *resources;
    size_t n_resources;
};

struct selvedge_node { /* later versions append members */
    const char *node, *rack;
    const char *state; /* "RUNNING", "UNHEALTHY", "LOST", "DECOMMISSIONING", … */
    int usable;        /* it takes new containers, and those that it has go on */
};

/* Any callback may be NULL. */
struct selvedge_am_ops {
    size_t struct_size; /* sizeof(struct selvedge_am_ops) */
    /* Reports the largest container that can be requested. */
    void (*registered)(selvedge_am am, int64_t memory_mb, int32_t vcores, void *userdata);
    void (*allocated)(selvedge_am am, const struct selvedge_container *c, void *userdata);
    /* The node has accepted the container (0) or rejected it. */
    void (*started)(selvedge_am am, const char *id, int status, const char *why, void *userdata);
    /* Called once per container. `exit_status`: its process' own, 128 + signal, or YARN's negative
     * ones. */
    void (*completed)(selvedge_am am, const char *id, int32_t exit_status, const char *diagnostics,
                      void *userdata);
    void (*finished)(selvedge_am am, void *userdata); /* unregistered: the program may end */
    /* The ResourceManager has ended this attempt, or was unreachable for 15 minutes. */
    void (*lost)(selvedge_am am, const char *why, void *userdata);
    /* Since SELVEDGE_API 2: */
    /* A container of an earlier attempt that still runs, of an application that keeps them; it
     * counts as started. Those known at the registration come before `registered`. */
    void (*recovered)(selvedge_am am, const struct selvedge_container *c, void *userdata);
    /* The ResourceManager gave up a request with placement: `count` containers will not come. */
    void (*rejected)(selvedge_am am, int64_t request_id, int32_t count, const char *why,
                     void *userdata);
    /* The end of selvedge_am_update(): the container as it is now. */
    void (*updated)(selvedge_am am, const struct selvedge_container *c, int status, const char *why,
                    void *userdata);
    void (*node)(selvedge_am am, const struct selvedge_node *n, void *userdata);
    /* The ResourceManager had restarted. The library has registered again and sends all open
     * requests: nothing needs to be done. */
    void (*resynced)(selvedge_am am, void *userdata);
    /* Since SELVEDGE_API 3: the ResourceManager wants the container back, and kills it after the
     * cluster's time for that
     * (yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill): save its work.
     * strict == 0: releasing another one of its size will do. */
    void (*preempted)(selvedge_am am, const char *id, int strict, void *userdata);
};

/* For a program in a YARN container, whose token is found by $HADOOP_TOKEN_FILE_LOCATION.
 * `schedulers`: "host:port", or several, comma-separated; NULL: $SELVEDGE_SCHEDULERS, else from the
 * configuration. */
int selvedge_am_open(selvedge_loop loop, const char *schedulers, const struct selvedge_am_ops *ops,
                     void *userdata, selvedge_am *ret, struct selvedge_error *err);
int selvedge_am_close(selvedge_am am);
/* The job's tokens, for the launches of its containers, since SELVEDGE_API 4: all that the master
 * was given but its own. Valid until the handle is closed; *ret NULL: none. */
int selvedge_am_tokens(selvedge_am am, const void **ret, size_t *ret_len);
/* Registers, once (-EALREADY), and starts heartbeats. `host` and `port` (-1: none) are the address
 * for the application's clients. */
int selvedge_am_register(selvedge_am am, const char *host, int32_t port, const char *tracking_url);
/* Requests `count` containers beyond those already allocated; replaces the earlier count of this
 * priority. More may be allocated: release the surplus. */
int selvedge_am_want(selvedge_am am, int32_t priority, int64_t memory_mb, int32_t vcores,
                     int32_t count);
/* Starts an allocated container: -ENOENT for others, -EALREADY a second time. */
int selvedge_am_start(selvedge_am am, const char *container, const struct selvedge_launch *launch);
int selvedge_am_stop(selvedge_am am, const char *container); /* `completed` reports its end */
int selvedge_am_release(selvedge_am am, const char *container);
int selvedge_am_progress(selvedge_am am, double progress); /* 0…1 */

/* ---- Requests by name, locality and placement: since SELVEDGE_API 2 ---- */

struct selvedge_place {
    const char *host; /* NULL: anywhere in the rack */
    const char *rack; /* the host's own; NULL, with a host: "/default-rack" */
};

enum selvedge_placement {                         /* of a container, by the tags of others */
                          SELVEDGE_AFFINITY = 1,  /* at least one of them in the scope */
                          SELVEDGE_ANTI_AFFINITY, /* none */
                          SELVEDGE_CARDINALITY,   /* min … max */
                          SELVEDGE_ALL_OF,        /* all children are met */
                          SELVEDGE_ANY_OF         /* one of them is */
};

/* A tree, at most 8 deep. Initialize before setting members: `struct selvedge_constraint c =
 * SELVEDGE_CONSTRAINT;`. */
struct selvedge_constraint {
    size_t struct_size;
    int type;                /* enum selvedge_placement */
    int rack;                /* scope: the rack; 0: the node */
    const char *const *tags; /* ended by NULL, of this application's containers; or NULL */
    const char *partition;   /* node label; or NULL */
    int32_t min, max;        /* of SELVEDGE_CARDINALITY; max -1: no limit */
    const struct selvedge_constraint *const *children; /* of ALL_OF and ANY_OF, ended by NULL */
};
#define SELVEDGE_CONSTRAINT                                                                        \
    {                                                                                              \
        sizeof(struct selvedge_constraint), SELVEDGE_ANTI_AFFINITY, 0, 0, 0, 0, -1, 0              \
    }

/* `count` containers beyond those already allocated. A later request of the same priority and id
 * replaces it; one with tags may change its count alone. */
struct selvedge_request {
    size_t struct_size;
    int64_t request_id; /* yours, told with its containers; -1: none */
    int32_t priority;
    int64_t memory_mb;
    int32_t vcores, count;
    const struct selvedge_place *places; /* wanted hosts and racks; not with tags or a label */
    size_t n_places;
    int strict;        /* nowhere else */
    const char *label; /* node label expression; NULL: the queue's */
    /* Tags of its containers, ended by NULL: make it a request with placement, for which the
     * ResourceManager needs yarn.resourcemanager.placement-constraints.handler. Or NULL. */
    const char *const *tags;
    const struct selvedge_constraint *constraint; /* NULL: anywhere. Only with tags */
    /* Since SELVEDGE_API 3: */
    const struct selvedge_resource *resources; /* besides memory and vcores */
    size_t n_resources;
};
#define SELVEDGE_REQUEST                                                                           \
    {                                                                                              \
        sizeof(struct selvedge_request), -1, 0, 1024, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0                 \
    }

/* -EINVAL: `err` says which member breaks which rule. */
int selvedge_am_request(selvedge_am am, const struct selvedge_request *q,
                        struct selvedge_error *err);
/* Takes a request back; -ENOENT: none of that name is open. */
int selvedge_am_cancel(selvedge_am am, int32_t priority, int64_t request_id);
/* No (on == 0: again) new containers on that host. */
int selvedge_am_blacklist(selvedge_am am, const char *host, int on);
/* Another size for a container, larger or smaller in both; `updated` tells the end. -EALREADY: an
 * update of it is open; -EINVAL: neither larger nor smaller. */
int selvedge_am_update(selvedge_am am, const char *container, int64_t memory_mb, int32_t vcores);

/* Unregisters with the result; -ENOTCONN: not registered, or already finished. */
int selvedge_am_finish(selvedge_am am, int success, const char *diagnostics);

#ifdef __cplusplus
}
#endif

#endif
