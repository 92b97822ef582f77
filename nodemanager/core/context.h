/* The shared state of the daemon (NMContext): the loop, the configuration, the event dispatcher,
 * the identity and size of the node, the tables of applications and containers, and the components
 * of the lower layers that every service uses. Owned by nm.c; services of the upper layers are
 * passed to their users at creation, not through here.
 *
 * One thread, one sd-event loop; nothing in this component blocks on it. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTEXT_H
#define SELVEDGE_NODEMANAGER_CORE_CONTEXT_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/dispatcher.h"
#include "common/error.h"
#include "common/exit-meaning.h"
#include "common/histogram.h"
#include "common/rate.h"
#include "nodemanager/conf/conf.h"
#include "wire/ids.h"

/* The Hadoop release whose behaviour this daemon follows; reported to the ResourceManager, which
 * may be configured to refuse older nodes. */
#define NM_HADOOP_VERSION "3.4.2"

struct cg_root;
struct exe;
struct nm_app;
struct nm_container;
struct nm_credentials;
struct nm_dirs;
struct nm_health;
struct nm_log_disks;
struct nm_secrets;
struct nm_stopped;
struct nm_store;
struct sgss_daemon;

/* State machines of the dispatcher; fsm/ registers their handlers. */
enum nm_machine {
    NM_MACHINE_CONTAINER, /* object: struct nm_container */
    NM_MACHINE_APP,       /* object: struct nm_app */
};

struct nm_context {
    sd_event *event;
    const struct nm_conf *conf;
    struct sv_dispatcher *dispatcher;

    struct yarn_node_id node_id; /* as in tokens and in the registration */
    char node_id_text[264];
    uint16_t http_port;         /* 0 = the web server is not listening yet */
    int64_t start_ms;           /* wall clock */
    struct yarn_resource total; /* for all containers; the ResourceManager may change it */
    bool stopping;              /* no new containers */
    struct nm_counters {        /* containers since the start of this process */
        int64_t launched, completed, failed, killed, rolled_back;
        struct sv_rate launches; /* from the localized files, or the request, to the start; ms */
        struct sv_rate localizations; /* ms */
        struct sv_histogram launch_times;
        struct sv_histogram localization_times;
        struct sv_histogram request_times; /* from the request of a container until it runs */
        struct sv_histogram heartbeats;    /* from a heartbeat to its answer */
        int64_t ended[SV_ENDS];            /* by reason */
        uint64_t throttled_periods, throttled_usec; /* by the containers' own limits */
    } counters;
    unsigned stuck_deletions; /* failed deletions that are retried */
    /* NULL, or a callback after events were handled, and after each heartbeat. */
    void (*changed)(void *userdata);
    /* NULL, or a callback for the end of each container, once, when it is on record. */
    void (*ended)(const struct nm_container *c, void *changed_userdata);
    void *changed_userdata;

    struct nm_store *store;
    struct nm_dirs *dirs;
    struct nm_log_disks *log_disks;
    struct nm_health *health;
    struct cg_root *cgroups;
    struct exe *exe;
    struct nm_secrets *secrets;
    struct nm_credentials *credentials;
    struct nm_stopped *stopped;
    struct sgss_daemon *kerberos; /* NULL: the cluster is not secure */

    struct nm_app *apps;                  /* uthash by text */
    struct nm_container *containers;      /* uthash by text */
    struct nm_container *dead_containers; /* freed when the dispatcher is idle */
    struct nm_app *dead_apps;
};

/* Creates the dispatcher; the caller sets the other components. */
int nm_context_open(struct nm_context *ctx, sd_event *event, const struct nm_conf *conf,
                    struct sv_error *err) _must_use_;
/* Drops unhandled events, then frees removed objects and the dispatcher. The tables must be
 * empty. */
void nm_context_close(struct nm_context *ctx);

/* Reports a possible change of objects or of the node itself. */
void nm_context_changed(struct nm_context *ctx);

/* Adds it to the table of containers and to its application. */
void nm_container_add(struct nm_container *c, struct nm_app *app);
/* Removes it from all tables; freed when no event is pending. */
void nm_container_remove(struct nm_container *c);
struct nm_container *nm_container_find(const struct nm_context *ctx, const char *text);

void nm_app_add(struct nm_app *a);
void nm_app_remove(struct nm_app *a); /* keeps its containers, without an application */
struct nm_app *nm_app_find(const struct nm_context *ctx, const char *text);

#endif
