/* See heartbeat.h. */
#include "nodemanager/rm/heartbeat.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/container-resize.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/set-limit.h"
#include "nodemanager/rm/earlier.h"
#include "nodemanager/rm/label-messages.h"
#include "nodemanager/rm/node-status.h"
#include "nodemanager/rm/registration.h"
#include "nodemanager/rm/rm-session.h"
#include "nodemanager/store/state-store.h"
#include "wire/ipc/methods.h"

#define ANSWER_TURN_MS 5 /* of a handler of the loop, for the lists of an answer */
#define REFUSED_SHOWN 4  /* refused updates of an answer in the log; their number follows */

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

void nm_rm_forget_container(struct nm_container *c)
{
    int r = nm_store_container_remove(c->ctx->store, c->text);

    nm_limit_forget(c);
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot remove from state store: %s", c->text,
               strerror(-r));
    nm_container_remove(c);
}

/* The heartbeat was answered: the ends of containers in it are delivered. */
static void note_delivered(struct nm_updater *u)
{
    struct nm_container *c, *tmp;
    int64_t now = sv_now_ms();

    HASH_ITER (hh, u->ctx->containers, c, tmp) {
        if (!c->report.in_flight)
            continue;
        c->report.in_flight = false;
        c->report.delivered_ms = now;
        /* no acknowledgement will follow */
        if (!c->app || c->app->state == NM_APP_FINISHED || c->report.acknowledged)
            nm_rm_forget_container(c);
    }
}

/* ---- Lists of an answer: one entry ---- */

static void forget_acknowledged(struct nm_updater *u,
                                const Hadoop__Yarn__NodeHeartbeatResponseProto *m, size_t i)
{
    struct yarn_container_id id;
    struct nm_container *c;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_container_id_from(m->containers_to_be_removed_from_nm[i], &id) < 0)
        return;
    c = nm_container_find(u->ctx, yarn_container_id_text(id, text));
    if (!c)
        return;
    if (nm_container_is_done(c))
        nm_rm_forget_container(c);
    else
        c->report.acknowledged = true; /* removed when it is done and delivered */
}

static void end_container(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m,
                          size_t i)
{
    struct yarn_container_id id;
    struct nm_container *c;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_container_id_from(m->containers_to_cleanup[i], &id) < 0)
        return;
    c = nm_container_find(u->ctx, yarn_container_id_text(id, text));
    if (c && !nm_container_is_done(c))
        nm_container_kill(c, YARN_EXIT_KILLED_BY_RESOURCEMANAGER,
                          "Container Killed by ResourceManager");
    else if (!c)
        sv_log_debug("couldn't find container %s while processing FINISH_CONTAINERS event", text);
}

static void end_app(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m,
                    size_t i)
{
    struct yarn_app_id id;
    struct nm_app *app;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_app_id_from(m->applications_to_cleanup[i], &id) < 0)
        return;
    app = nm_app_find(u->ctx, yarn_app_id_text(id, text));
    nm_aggregation_app_ends(u->config.aggregation, text);
    if (app)
        nm_app_finish(app, "Application killed by ResourceManager");
}

static void send_signal(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m,
                        size_t i)
{
    const Hadoop__Yarn__SignalContainerRequestProto *q = m->containers_to_signal[i];
    struct yarn_container_id id;
    struct nm_container *c;
    char text[YARN_ID_TEXT_MAX];
    int r;

    if (yarn_container_id_from(q->container_id, &id) < 0)
        return;
    c = nm_container_find(u->ctx, yarn_container_id_text(id, text));
    if (!c)
        return;
    r = nm_cleanup_signal(c, nm_cleanup_signal_number((int)q->command));
    if (r < 0)
        sv_log(SV_LOG_WARNING, c->text, "%s: signal %d from the ResourceManager: %s", c->text,
               (int)q->command, strerror(-r));
}

/* Few of the updates that are refused are logged. */
static void update_container(struct nm_updater *u, const Hadoop__Yarn__ContainerProto *container)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Common__TokenProto *m = container->container_token;
    struct yarn_container_token t = { 0 };
    struct sv_error err = { 0 };
    struct yarn_token token;
    int r = -EBADMSG;

    if (!a || !m || yarn_token_from(m, a, &token) < 0 || token.id_len == 0)
        (void)sv_error_set(&err, r, "it has no token, ignoring");
    else
        r = nm_secrets_verify_container_token(u->ctx->secrets, &token, &t, &err);
    if (r >= 0)
        r = nm_resize_container(u->ctx, u->config.scheduler, &t, token.id, token.id_len, &err);
    if (r < 0 && u->answer.refused++ < REFUSED_SHOWN)
        sv_log_warning("ResourceManager: update of a container: %s", err.text);
}

static void decrease(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m,
                     size_t i)
{
    update_container(u, m->containers_to_decrease[i]);
}

static void update(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m,
                   size_t i)
{
    update_container(u, m->containers_to_update[i]);
}

/* ---- All lists, in turns ---- */

#define LIST(field, entry)                                                                         \
    {                                                                                              \
        offsetof(Hadoop__Yarn__NodeHeartbeatResponseProto, n_##field), entry                       \
    }
static const struct {
    size_t count; /* offset of the number of entries */
    void (*entry)(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m,
                  size_t i);
} lists[] = {
    LIST(containers_to_be_removed_from_nm, forget_acknowledged),
    LIST(containers_to_cleanup, end_container),
    LIST(applications_to_cleanup, end_app),
    LIST(containers_to_decrease, decrease),
    LIST(containers_to_update, update),
    LIST(containers_to_signal, send_signal),
};

static void end_answer(struct nm_updater *u)
{
    if (u->answer.refused > REFUSED_SHOWN)
        sv_log_warning("ResourceManager: %zu more updates of containers in this answer are refused",
                       u->answer.refused - REFUSED_SHOWN);
    nm_rm_drop_answer(u);
    nm_rm_schedule(u, u->again ? 0 : u->interval_ms);
}

/* The next heartbeat waits for the end of the lists. */
static void take_turn(struct nm_updater *u)
{
    struct nm_answer *answer = &u->answer;
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m = answer->m;

    for (; answer->list < SV_ARRAY_LEN(lists); answer->list++, answer->at = 0) {
        const size_t *n = (const void *)((const char *)m + lists[answer->list].count);

        while (answer->at < *n) {
            if (sv_loop_spent_ms() >= ANSWER_TURN_MS) {
                (void)sd_event_source_set_enabled(answer->turn, SD_EVENT_ON); /* ours, ignoring */
                return;
            }
            lists[answer->list].entry(u, m, answer->at++);
        }
    }
    end_answer(u);
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_updater *u = userdata;

    (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* ours, ignoring */
    if (u->ended)
        nm_rm_drop_answer(u);
    else if (u->answer.m)
        take_turn(u);
    return 0;
}

static void begin_answer(struct nm_updater *u, const struct ipc_result *r)
{
    struct nm_answer *answer = &u->answer;

    nm_rm_drop_answer(u);
    answer->m = (const void *)r->response;
    answer->arena = SV_TAKE(*r->arena);
    if (!answer->turn &&
        sd_event_add_defer(u->ctx->event, &answer->turn, on_turn, u) < 0) { /* no memory */
        nm_rm_shut_down(u, NM_END_FAILED, "cannot handle a heartbeat's answer: out of memory.", "");
        return;
    }
    (void)sd_event_source_set_enabled(answer->turn, SD_EVENT_OFF); /* ours, ignoring */
    take_turn(u);
}

/* Applies new keys, interval and size of the node. */
static void apply_settings(struct nm_updater *u, const Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    struct nm_secrets *secrets = u->ctx->secrets;

    u->response_id = m->response_id;
    if (m->has_nextheartbeatinterval && m->nextheartbeatinterval > 0)
        u->interval_ms = SV_MIN(m->nextheartbeatinterval, 600000);
    if (nm_credentials_replace(u->ctx->credentials, m->system_credentials_for_apps,
                               m->n_system_credentials_for_apps) == -ENOMEM)
        sv_log_warning("ResourceManager: renewed credentials are asked for again");
    else if (m->has_tokensequenceno)
        u->token_sequence = m->tokensequenceno;
    if (m->container_token_master_key &&
        nm_secrets_set_container_key(secrets, m->container_token_master_key) < 0)
        sv_log_err("new container token master key is malformed or cannot be recorded");
    if (m->nm_token_master_key && nm_secrets_set_nm_key(secrets, m->nm_token_master_key) < 0)
        sv_log_err("new NMToken master key is malformed or cannot be recorded");
    if (m->resource) {
        nm_rm_set_total(u, m->resource);
        sv_log_info("The ResourceManager has set this node to <memory:%lld, vCores:%d>",
                    (long long)u->ctx->total.memory_mb, u->ctx->total.vcores);
    }
    if (m->container_queuing_limit && m->container_queuing_limit->has_max_queue_length)
        nm_scheduler_shed(u->config.scheduler, m->container_queuing_limit->max_queue_length);
}

/* The ResourceManager has restarted without its state: ends all containers. */
static void end_all(struct nm_updater *u)
{
    const struct nm_conf *conf = u->ctx->conf;

    for (struct nm_container *c = u->ctx->containers; c; c = c->hh.next)
        if (!nm_container_is_done(c))
            nm_container_kill(c, YARN_EXIT_KILLED_BY_RESOURCEMANAGER,
                              "Container Killed by ResourceManager");
    u->drain_until_ms = sv_now_ms() + conf->sigkill_delay_ms + conf->kill_wait_ms + 1000;
}

static void resync(struct nm_updater *u, const char *from_rm)
{
    char shown[256];

    sv_escape(shown, sizeof(shown), from_rm ? from_rm : "");
    sv_log_warning("Node is out of sync with ResourceManager, hence resyncing. Message from "
                   "ResourceManager: %s",
                   shown);
    u->registered = false;
    if (!u->ctx->conf->work_preserving)
        end_all(u);
    u->send(u); /* a registration */
}

static void on_heartbeat(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_updater *u = userdata;
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m = (const void *)r->response;

    u->call = 0;
    if (u->ended)
        return;
    if (r->status < 0) {
        nm_rm_labels_unanswered(u);
        if (r->status != -ECANCELED)
            nm_rm_unavailable(u, "heartbeat", r, err->text);
        return;
    }
    nm_rm_recovered(u);
    sv_histogram_add_us(&u->ctx->counters.heartbeats, sv_now_us() - u->sent_us);
    u->heartbeat_wall_ms = sv_wall_ms();
    nm_context_changed(u->ctx);
    if (m->has_nodeaction && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN) {
        nm_rm_shut_down(u, NM_END_DECOMMISSIONED,
                        "Received SHUTDOWN signal from Resourcemanager as part of heartbeat, hence "
                        "shutting down.",
                        m->diagnostics_message);
        return;
    }
    if (m->has_nodeaction && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__RESYNC) {
        resync(u, m->diagnostics_message);
        return;
    }
    apply_settings(u, m);
    nm_rm_labels_answered(u, m->has_arenodelabelsacceptedbyrm && m->arenodelabelsacceptedbyrm,
                          m->has_arenodeattributesacceptedbyrm && m->arenodeattributesacceptedbyrm,
                          m->diagnostics_message);
    nm_rm_earlier_delivered(u);
    note_delivered(u);
    nm_aggregation_reports_delivered(u->config.aggregation);
    nm_resize_increased_delivered(u->ctx);
    begin_answer(u, r);
}

void nm_rm_send_heartbeat(struct nm_updater *u)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__NodeHeartbeatRequestProto m;
    int r = -ENOMEM;

    hadoop__yarn__node_heartbeat_request_proto__init(&m);
    u->again = false;
    u->sent_us = sv_now_us();
    if (a) {
        m.node_status = nm_rm_node_status(u, a);
        m.last_known_container_token_master_key =
            key_to(a, nm_secrets_container_key(u->ctx->secrets));
        m.last_known_nm_token_master_key = key_to(a, nm_secrets_nm_key(u->ctx->secrets));
        m.has_tokensequenceno = true;
        m.tokensequenceno = u->token_sequence;
        m.log_aggregation_reports_for_apps =
            nm_aggregation_reports(u->config.aggregation, a, &m.n_log_aggregation_reports_for_apps);
        m.selvedge_earlier_containers = nm_rm_earlier(u, a, &m.n_selvedge_earlier_containers);
        if (m.node_status && m.log_aggregation_reports_for_apps && m.selvedge_earlier_containers)
            r = nm_rm_labels(u, a, false, &m.nodelabels, &m.nodeattributes);
        if (r >= 0)
            r = ipc_proxy_call(u->rm, "nodeHeartbeat", &m.base,
                               &hadoop__yarn__node_heartbeat_response_proto__descriptor,
                               NM_RM_CALL_MS, on_heartbeat, u, &u->call);
    }
    if (r < 0)
        nm_rm_unavailable(u, "heartbeat", NULL, strerror(-r));
}
