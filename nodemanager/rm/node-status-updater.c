/* See node-status-updater.h. One request is out at a time; what happens meanwhile goes into the
 * next, which then follows at once. */
#include "nodemanager/rm/node-status-updater.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/http.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/am/container-update.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/nm.h"
#include "nodemanager/resources/containers-monitor.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/services/finished-containers.h"
#include "nodemanager/store/state-store.h"
#include "wire/backoff.h"
#include "wire/methods.h"
#include "wire/proxy.h"

#define CALL_MS 60000      /* a heartbeat unanswered for longer is repeated */
#define RETRY_FIRST_MS 250 /* after a refusal; doubles up to the configured interval */
#define RESEND_MS 10000    /* a delivered end that nobody acknowledges is told again */
#define UNREGISTER_MS 3000

struct nm_updater {
    struct nm *nm;
    struct ipc_proxy *rm;
    int32_t call; /* the open one's id; 0 = none */
    sd_event_source *timer;
    bool registered, again; /* again: an event wants a heartbeat as soon as possible */
    bool ended;             /* no request any more */
    int32_t response_id;
    int64_t rm_identifier;
    int64_t interval_ms;
    int64_t away_since_ms; /* monotonic; 0 = the ResourceManager answers */
    unsigned refusals;     /* in a row */
    int64_t token_sequence;
    int64_t heartbeat_wall_ms;
    struct nm_stopped *stopped;
    void (*unregistered)(void *userdata);
    void *unregistered_data;
};

static void schedule(struct nm_updater *u, int64_t in_ms);
static void send_register(struct nm_updater *u);
static void send_heartbeat(struct nm_updater *u);

/* ---- messages -------------------------------------------------------------------------------*/

static Hadoop__Yarn__NodeHealthStatusProto *health(struct nm_updater *u, struct sv_arena *a)
{
    Hadoop__Yarn__NodeHealthStatusProto *h = sv_new(a, Hadoop__Yarn__NodeHealthStatusProto);
    const char *report;
    bool good;

    if (!h)
        return NULL;
    hadoop__yarn__node_health_status_proto__init(h);
    good = nm_dirs_healthy(u->nm->dirs, &report);
    h->has_is_node_healthy = true;
    h->is_node_healthy = good && !*u->nm->unhealthy;
    h->health_report = sv_arena_printf(a, "%s%s%s", u->nm->unhealthy,
                                       *u->nm->unhealthy && *report ? ";" : "", report);
    h->has_last_health_report_time = true;
    h->last_health_report_time = nm_dirs_checked_ms(u->nm->dirs);
    return h->health_report ? h : NULL;
}

/* Is the container part of the next heartbeat? Completed ones until delivered, then again from time
 * to time until acknowledged. */
static bool wanted(const struct nm_container *c, int64_t now)
{
    if (c->state == NM_CONTAINER_NEW && c->recovered)
        return false; /* the recovery is not through with it */
    return !nm_container_is_done(c) || c->reported_ms == 0 || now - c->reported_ms >= RESEND_MS;
}

static Hadoop__Yarn__NodeStatusProto *node_status(struct nm_updater *u, struct sv_arena *a)
{
    Hadoop__Yarn__NodeStatusProto *s = sv_new(a, Hadoop__Yarn__NodeStatusProto);
    struct nm *nm = u->nm;
    int64_t now = sv_now_ms();

    if (!s)
        return NULL;
    hadoop__yarn__node_status_proto__init(s);
    s->node_id = yarn_node_id_to(a, &nm->node_id);
    s->has_response_id = true;
    s->response_id = u->response_id;
    s->nodehealthstatus = health(u, a);
    s->containersstatuses =
        sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, HASH_COUNT(nm->containers) + 1);
    if (!s->node_id || !s->nodehealthstatus || !s->containersstatuses)
        return NULL;
    for (struct nm_container *c = nm->containers; c; c = c->hh.next) {
        c->in_flight = false;
        if (!wanted(c, now))
            continue;
        s->containersstatuses[s->n_containersstatuses] = nm_container_status(c, a);
        if (!s->containersstatuses[s->n_containersstatuses])
            return NULL;
        s->n_containersstatuses++;
        c->in_flight = nm_container_is_done(c);
    }
    s->increased_containers = nm_update_increased(nm, a, &s->n_increased_containers);
    if (!s->increased_containers)
        return NULL;
    s->containers_utilization = nm_monitor_containers_utilization(nm->monitor, a);
    s->node_utilization = nm_monitor_node_utilization(nm->monitor, a);
    return s;
}

static Hadoop__Yarn__MasterKeyProto *key_to(struct sv_arena *a, const struct yarn_master_key *k)
{
    Hadoop__Yarn__MasterKeyProto *m = k ? sv_new(a, Hadoop__Yarn__MasterKeyProto) : NULL;

    if (!m)
        return NULL;
    hadoop__yarn__master_key_proto__init(m);
    m->has_key_id = true;
    m->key_id = k->key_id;
    m->has_bytes = true;
    m->bytes.data = sv_arena_memdup(a, k->bytes, k->len);
    m->bytes.len = k->len;
    return m->bytes.data ? m : NULL;
}

/* ---- away and back --------------------------------------------------------------------------*/

static const char *rm_text(const struct ipc_proxy_server *s)
{
    static char text[360]; /* for one log message */

    return ipc_proxy_server_text(s, text, sizeof(text));
}

static void came_back(struct nm_updater *u)
{
    if (u->away_since_ms)
        sv_log_info("ResourceManager %s answers again", rm_text(ipc_proxy_current(u->rm)));
    u->away_since_ms = 0;
    u->refusals = 0;
}

/* The proxy goes on by itself. */
static void on_retry(const char *method, const struct sv_error *err, int64_t wait_ms,
                     const struct ipc_proxy_server *failed, const struct ipc_proxy_server *next,
                     void *userdata)
{
    struct nm_updater *u = userdata;

    if (!u->away_since_ms) {
        u->away_since_ms = sv_now_ms();
        sv_log_warning("ResourceManager %s: %s; trying again, containers go on", rm_text(failed),
                       err->text);
    }
    if (failed != next)
        sv_log_info("%s: Failing over to ResourceManager %s", method, rm_text(next));
    else
        sv_log_debug("%s: again in %lld ms", method, (long long)wait_ms);
}

/* The proxy has given up: for want of an answer, after as long as is configured, which ends the
 * daemon as it ends Hadoop's; or because of an answer that makes no sense, and then we go on. */
static void went_away(struct nm_updater *u, const char *what, const struct ipc_result *r,
                      const char *why)
{
    const struct ipc_proxy_server *rm = ipc_proxy_current(u->rm);
    const struct ipc_retry_policy *retry = &u->nm->conf.rm.retry;
    int64_t now = sv_now_ms(), wait;

    if (!u->away_since_ms) {
        u->away_since_ms = now;
        sv_log_warning("ResourceManager %s: %s: %s; trying again, containers go on", rm_text(rm),
                       what, why);
    }
    if ((r && ipc_failure_is_absence(ipc_failure_of(r))) ||
        (retry->max_wait_ms >= 0 && now - u->away_since_ms > retry->max_wait_ms)) {
        char text[512];

        snprintf(text, sizeof(text), "ResourceManager %s did not answer for %lld ms", rm_text(rm),
                 (long long)(now - u->away_since_ms));
        u->ended = true;
        nm_stop(u->nm, text, EXIT_FAILURE);
        return;
    }
    wait = ipc_backoff_ms(RETRY_FIRST_MS, retry->interval_ms, u->refusals, ipc_backoff_noise());
    if (u->refusals < 64)
        u->refusals++;
    schedule(u, wait);
}

/* ---- registration ---------------------------------------------------------------------------*/

static bool version_accepted(struct nm_updater *u, const char *rm_version)
{
    const char *min = u->nm->conf.rm_minimum_version;
    int a[3] = { 0 }, b[3] = { 0 };

    if (sv_streq(min, "NONE"))
        return true;
    if (sv_streq(min, "EqualToNM"))
        min = NM_HADOOP_VERSION;
    if (!rm_version || sscanf(rm_version, "%d.%d.%d", &a[0], &a[1], &a[2]) < 2 ||
        sscanf(min, "%d.%d.%d", &b[0], &b[1], &b[2]) < 1)
        return false;
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return true;
}

static void shut_down(struct nm_updater *u, const char *why, const char *from_rm)
{
    char text[512], shown[256];

    sv_escape(shown, sizeof(shown), from_rm ? from_rm : "");
    snprintf(text, sizeof(text), "%s Message from ResourceManager: %s", why, shown);
    u->ended = true;
    u->nm->decommissioned = true;
    nm_stop(u->nm, text, EXIT_FAILURE);
}

static void on_registered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_updater *u = userdata;
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *m = (const void *)r->response;

    u->call = 0;
    if (u->ended)
        return;
    if (r->status < 0) {
        if (r->status != -ECANCELED)
            went_away(u, "registration", r, err->text);
        return;
    }
    if (m->has_nodeaction && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN) {
        shut_down(u,
                  "Received SHUTDOWN signal from Resourcemanager, Registration of NodeManager "
                  "failed,",
                  m->diagnostics_message);
        return;
    }
    if (!version_accepted(u, m->rm_version)) {
        shut_down(u, "Shutting down the Node Manager on RM version error,", m->rm_version);
        return;
    }
    came_back(u);
    if ((m->container_token_master_key &&
         nm_secrets_set_container_key(u->nm->secrets, m->container_token_master_key) < 0) ||
        (m->nm_token_master_key &&
         nm_secrets_set_nm_key(u->nm->secrets, m->nm_token_master_key) < 0)) {
        went_away(u, "registration", NULL, "master keys are malformed or cannot be recorded");
        return;
    }
    if (m->resource) {
        struct yarn_resource total;

        if (yarn_resource_from(m->resource, &total) == 0) {
            total.gpus = u->nm->conf.resource.gpus; /* those that are in the machine */
            u->nm->conf.resource = total;
            nm_limits_node_changed(u->nm);
        }
    }
    u->rm_identifier = m->rm_identifier;
    u->registered = true;
    u->response_id = 0;
    for (struct nm_container *c = u->nm->containers; c; c = c->hh.next)
        if (c->in_flight)
            c->reported_ms = sv_now_ms();
    sv_log_info("Registered with ResourceManager as %s with total resource of <memory:%lld, "
                "vCores:%d>",
                u->nm->node_id_text, (long long)u->nm->conf.resource.memory_mb,
                u->nm->conf.resource.vcores);
    nm_registered(u->nm);
    u->again = false;
    send_heartbeat(u);
}

static int add_recovered(struct nm_updater *u, struct sv_arena *a,
                         Hadoop__Yarn__RegisterNodeManagerRequestProto *m)
{
    struct nm *nm = u->nm;

    m->container_statuses =
        sv_newn(a, Hadoop__Yarn__NMContainerStatusProto *, HASH_COUNT(nm->containers) + 1);
    m->runningapplications =
        sv_newn(a, Hadoop__Yarn__ApplicationIdProto *, HASH_COUNT(nm->apps) + 1);
    if (!m->container_statuses || !m->runningapplications)
        return -ENOMEM;
    for (struct nm_container *c = nm->containers; c; c = c->hh.next) {
        Hadoop__Yarn__NMContainerStatusProto *s = nm_container_nm_status(c, a);

        if (!s)
            return -ENOMEM;
        m->container_statuses[m->n_container_statuses++] = s;
        c->in_flight = nm_container_is_done(c);
    }
    for (struct nm_app *app = nm->apps; app; app = app->hh.next) {
        Hadoop__Yarn__ApplicationIdProto *id;

        if (app->state == NM_APP_FINISHED)
            continue;
        id = yarn_app_id_to(a, app->id);
        if (!id)
            return -ENOMEM;
        m->runningapplications[m->n_runningapplications++] = id;
    }
    return 0;
}

static void send_register(struct nm_updater *u)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterNodeManagerRequestProto m;
    int r = -ENOMEM;

    hadoop__yarn__register_node_manager_request_proto__init(&m);
    if (a) {
        m.node_id = yarn_node_id_to(a, &u->nm->node_id);
        m.has_http_port = true;
        m.http_port = u->nm->http ? sv_http_port(u->nm->http) : 0;
        m.resource = yarn_resource_to(a, u->nm->conf.resource);
        m.nm_version = (char *)(uintptr_t)NM_HADOOP_VERSION;
        m.physicalresource = nm_monitor_physical(u->nm->monitor, a);
        m.nodestatus = node_status(u, a);
        if (m.nodestatus) /* they travel as container_statuses here */
            m.nodestatus->n_containersstatuses = 0;
        r = m.node_id && m.resource && m.nodestatus ? add_recovered(u, a, &m) : -ENOMEM;
    }
    if (r >= 0)
        r = ipc_proxy_call(u->rm, "registerNodeManager", &m.base,
                           &hadoop__yarn__register_node_manager_response_proto__descriptor, CALL_MS,
                           on_registered, u, &u->call);
    if (r < 0)
        went_away(u, "registration", NULL, strerror(-r));
}

/* ---- heartbeat ------------------------------------------------------------------------------*/

static void forget_container(struct nm *nm, struct nm_container *c)
{
    if (nm_store_container_remove(nm->store, c->text) < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: could not be taken out of the state store", c->text);
    nm_container_remove(c);
}

/* The heartbeat has arrived: what it said of ended containers is delivered. */
static void delivered(struct nm_updater *u)
{
    struct nm_container *c, *tmp;
    int64_t now = sv_now_ms();

    HASH_ITER (hh, u->nm->containers, c, tmp) {
        if (!c->in_flight)
            continue;
        c->in_flight = false;
        c->reported_ms = now;
        /* nobody is left who would acknowledge it */
        if (!c->app || c->app->state == NM_APP_FINISHED || c->acknowledged)
            forget_container(u->nm, c);
    }
}

static void acknowledged(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    for (size_t i = 0; i < m->n_containers_to_be_removed_from_nm; i++) {
        struct yarn_container_id id;
        struct nm_container *c;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_container_id_from(m->containers_to_be_removed_from_nm[i], &id) < 0)
            continue;
        c = nm_container_find(u->nm, yarn_container_id_text(id, text));
        if (!c)
            continue;
        if (nm_container_is_done(c))
            forget_container(u->nm, c);
        else
            c->acknowledged = true; /* when it is done, once delivered */
    }
}

static void clean_up_lists(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    char text[YARN_ID_TEXT_MAX];

    for (size_t i = 0; i < m->n_containers_to_cleanup; i++) {
        struct yarn_container_id id;
        struct nm_container *c;

        if (yarn_container_id_from(m->containers_to_cleanup[i], &id) < 0)
            continue;
        c = nm_container_find(u->nm, yarn_container_id_text(id, text));
        if (c && !nm_container_is_done(c))
            nm_container_kill(c, YARN_EXIT_KILLED_BY_RESOURCEMANAGER,
                              "Container Killed by ResourceManager");
        else if (!c)
            sv_log_debug("couldn't find container %s while processing FINISH_CONTAINERS event",
                         text);
    }
    for (size_t i = 0; i < m->n_applications_to_cleanup; i++) {
        struct yarn_app_id id;
        struct nm_app *app;

        if (yarn_app_id_from(m->applications_to_cleanup[i], &id) < 0)
            continue;
        app = nm_app_find(u->nm, yarn_app_id_text(id, text));
        if (app)
            nm_app_finish(app, "Application killed by ResourceManager");
    }
}

static void signals(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    for (size_t i = 0; i < m->n_containers_to_signal; i++) {
        const Hadoop__Yarn__SignalContainerRequestProto *q = m->containers_to_signal[i];
        struct yarn_container_id id;
        struct nm_container *c;
        char text[YARN_ID_TEXT_MAX];
        int r;

        if (yarn_container_id_from(q->container_id, &id) < 0)
            continue;
        c = nm_container_find(u->nm, yarn_container_id_text(id, text));
        if (!c)
            continue;
        r = nm_launch_signal(c, nm_signal_of_command((int)q->command));
        if (r < 0)
            sv_log(SV_LOG_WARNING, c->text, "%s: signal %d from the ResourceManager: %s", c->text,
                   (int)q->command, strerror(-r));
    }
}

static void on_heartbeat(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_updater *u = userdata;
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m = (const void *)r->response;

    u->call = 0;
    if (u->ended)
        return;
    if (r->status < 0) {
        if (r->status != -ECANCELED)
            went_away(u, "heartbeat", r, err->text);
        return;
    }
    came_back(u);
    u->heartbeat_wall_ms = sv_wall_ms();
    if (m->has_nodeaction && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN) {
        shut_down(u,
                  "Received SHUTDOWN signal from Resourcemanager as part of heartbeat, hence "
                  "shutting down.",
                  m->diagnostics_message);
        return;
    }
    if (m->has_nodeaction && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__RESYNC) {
        char shown[256];

        sv_escape(shown, sizeof(shown), m->diagnostics_message ? m->diagnostics_message : "");
        sv_log_warning("Node is out of sync with ResourceManager, hence resyncing. Message from "
                       "ResourceManager: %s",
                       shown);
        u->registered = false;
        send_register(u);
        return;
    }
    u->response_id = m->response_id;
    if (m->has_nextheartbeatinterval && m->nextheartbeatinterval > 0)
        u->interval_ms = SV_MIN(m->nextheartbeatinterval, 600000);
    if (m->has_tokensequenceno)
        u->token_sequence = m->tokensequenceno;
    if (m->container_token_master_key &&
        nm_secrets_set_container_key(u->nm->secrets, m->container_token_master_key) < 0)
        sv_log_err("new container token master key is malformed or cannot be recorded");
    if (m->nm_token_master_key && nm_secrets_set_nm_key(u->nm->secrets, m->nm_token_master_key) < 0)
        sv_log_err("new NMToken master key is malformed or cannot be recorded");
    delivered(u);
    nm_update_increased_delivered(u->nm);
    if (m->resource) {
        struct yarn_resource total;

        if (yarn_resource_from(m->resource, &total) == 0) {
            u->nm->conf.resource = total;
            nm_limits_node_changed(u->nm);
            sv_log_info("The ResourceManager has set this node to <memory:%lld, vCores:%d>",
                        (long long)total.memory_mb, total.vcores);
        }
    }
    acknowledged(u, m);
    clean_up_lists(u, m);
    nm_update_from_rm(u->nm, m->containers_to_decrease, m->n_containers_to_decrease);
    nm_update_from_rm(u->nm, m->containers_to_update, m->n_containers_to_update);
    signals(u, m);
    if (u->again)
        schedule(u, 0);
    else
        schedule(u, u->interval_ms);
}

static void send_heartbeat(struct nm_updater *u)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__NodeHeartbeatRequestProto m;
    int r = -ENOMEM;

    hadoop__yarn__node_heartbeat_request_proto__init(&m);
    u->again = false;
    if (a) {
        m.node_status = node_status(u, a);
        m.last_known_container_token_master_key =
            key_to(a, nm_secrets_container_key(u->nm->secrets));
        m.last_known_nm_token_master_key = key_to(a, nm_secrets_nm_key(u->nm->secrets));
        m.has_tokensequenceno = true;
        m.tokensequenceno = u->token_sequence;
        if (m.node_status)
            r = ipc_proxy_call(u->rm, "nodeHeartbeat", &m.base,
                               &hadoop__yarn__node_heartbeat_response_proto__descriptor, CALL_MS,
                               on_heartbeat, u, &u->call);
    }
    if (r < 0)
        went_away(u, "heartbeat", NULL, strerror(-r));
}

/* ---- when -----------------------------------------------------------------------------------*/

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct nm_updater *u = userdata;

    (void)s;
    (void)usec;
    if (u->ended && u->unregistered)            /* its time is over */
        (void)ipc_proxy_cancel(u->rm, u->call); /* it may just have been answered, ignoring */
    if (u->ended || u->call)
        return 0;
    if (u->registered)
        send_heartbeat(u);
    else
        send_register(u);
    return 0;
}

static void schedule(struct nm_updater *u, int64_t in_ms)
{
    int r = sd_event_source_set_time_relative(u->timer, (uint64_t)in_ms * 1000);

    if (r >= 0)
        r = sd_event_source_set_enabled(u->timer, SD_EVENT_ONESHOT);
    if (r < 0) /* without heartbeats the node is lost to the cluster: better restart */
        nm_stop(u->nm, "heartbeat timer failed", EXIT_FAILURE);
}

void nm_updater_container_done(struct nm_updater *u, struct nm_container *c)
{
    if (!u)
        return;
    nm_stopped_add(u->stopped, c->text);
    nm_finished_add(u->nm->finished, c);
    u->again = true;
    if (u->registered && !u->call && !u->away_since_ms)
        schedule(u, 0);
}

void nm_updater_app_finished(struct nm_updater *u, const struct nm_app *a)
{
    struct nm_container *c, *tmp;

    HASH_ITER (hh, u->nm->containers, c, tmp)
        if (c->app == a && nm_container_is_done(c) && c->reported_ms && !c->in_flight)
            forget_container(u->nm, c);
}

/* ---- life -----------------------------------------------------------------------------------*/

int nm_updater_new(struct nm *nm, struct nm_updater **ret, struct sv_error *err)
{
    struct nm_updater *u = calloc(1, sizeof(*u));
    struct ipc_proxy_config cfg = nm->conf.rm;
    int r;

    if (!u)
        return sv_error_errno(err, -ENOMEM, "node status updater");
    u->nm = nm;
    u->interval_ms = 1000;
    cfg.client.protocol = YARN_RESOURCE_TRACKER_PROTOCOL;
    cfg.notify = on_retry;
    cfg.userdata = u;
    u->stopped = nm_stopped_new(nm->conf.track_stopped_ms);
    r = u->stopped ? ipc_proxy_new(nm->event, &cfg, &u->rm, err)
                   : sv_error_errno(err, -ENOMEM, "node status updater");
    if (r >= 0) {
        r = sd_event_add_time_relative(nm->event, &u->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, u);
        if (r < 0)
            (void)sv_error_errno(err, r, "node status updater");
        else
            (void)sd_event_source_set_enabled(u->timer, SD_EVENT_OFF); /* ours, ignoring */
    }
    if (r < 0) {
        nm_updater_free(u);
        return r;
    }
    *ret = u;
    return 0;
}

struct nm_updater *nm_updater_free(struct nm_updater *u)
{
    if (!u)
        return NULL;
    u->ended = true;
    ipc_proxy_free(u->rm);
    sd_event_source_disable_unref(u->timer);
    nm_stopped_free(u->stopped);
    free(u);
    return NULL;
}

void nm_updater_start(struct nm_updater *u)
{
    send_register(u);
}

static void on_unregistered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_updater *u = userdata;

    u->call = 0;
    if (r->status < 0)
        sv_log_warning("Unregistration of the Node %s failed: %s", u->nm->node_id_text, err->text);
    else
        sv_log_info("Successfully Unregistered the Node %s with ResourceManager.",
                    u->nm->node_id_text);
    if (u->unregistered)
        u->unregistered(u->unregistered_data);
    u->unregistered = NULL;
}

void nm_updater_unregister(struct nm_updater *u, void (*done)(void *userdata), void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UnRegisterNodeManagerRequestProto m;

    hadoop__yarn__un_register_node_manager_request_proto__init(&m);
    u->unregistered = done;
    u->unregistered_data = userdata;
    if (a && u->registered && !u->ended) {
        u->ended = true;
        if (u->call)
            (void)ipc_proxy_cancel(u->rm, u->call); /* a heartbeat in its last moment, ignoring */
        m.node_id = yarn_node_id_to(a, &u->nm->node_id);
        if (m.node_id &&
            ipc_proxy_call(u->rm, "unRegisterNodeManager", &m.base,
                           &hadoop__yarn__un_register_node_manager_response_proto__descriptor,
                           UNREGISTER_MS, on_unregistered, u, &u->call) >= 0) {
            schedule(u, UNREGISTER_MS);
            return;
        }
    }
    u->ended = true;
    u->unregistered = NULL;
    done(userdata);
}

bool nm_updater_recently_stopped(struct nm_updater *u, const char *container)
{
    return nm_stopped_has(u->stopped, container);
}
bool nm_updater_registered(const struct nm_updater *u)
{
    return u->registered;
}
int64_t nm_updater_rm_identifier(const struct nm_updater *u)
{
    return u->rm_identifier;
}
int64_t nm_updater_last_heartbeat_ms(const struct nm_updater *u)
{
    return u->heartbeat_wall_ms;
}
