/* The composition root; see rm.h. */
#include "rm-lite/rm.h"
#include "federation/store/store.h"

#include <errno.h>

#include "common/own-user.h"
#include "common/str.h"
#include "rm-lite/conf/conf-unread.h"
#include "rm-lite/core/history.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/core/text.h"
#include "rm-lite/federation/member.h"
#include "rm-lite/fsm/am-launcher.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/nodes/node-auth.h"
#include "rm-lite/nodes/nodes-list.h"
#include "rm-lite/nodes/topology.h"
#include "rm-lite/periodic.h"
#include "rm-lite/requests/call-list.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/scheduler/record.h"
#include "rm-lite/secure.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/security/proxy-users.h"
#include "rm-lite/security/queue-access.h"
#include "rm-lite/security/service-access.h"
#include "rm-lite/security/token-renewer.h"
#include "rm-lite/services.h"
#include "rm-lite/store/store-history.h"
#include "rm-lite/store/store.h"
#include "rm-lite/web/rest/web-cluster.h"

static void free_dead(struct rm *rm)
{
    struct rm_container *c, *ctmp;
    struct rm_node *n, *ntmp;

    DL_FOREACH_SAFE2(rm->dead_containers, c, ctmp, n_next)
    rm_container_free(c);
    rm->dead_containers = NULL;
    HASH_ITER (hh, rm->dead_nodes, n, ntmp) {
        HASH_DEL(rm->dead_nodes, n);
        rm_node_free(n);
    }
}

/* The event queue is empty: no event refers to a dead object any more. */
static void on_idle(void *userdata)
{
    free_dead(userdata);
    rm_run_requested_pass(userdata);
}

static int dispatcher_new(struct rm *rm)
{
    rm->dispatcher = sv_dispatcher_new();
    if (!rm->dispatcher)
        return -ENOMEM;
    sv_dispatcher_register(rm->dispatcher, RM_M_APP, rm_app_handle, NULL);
    sv_dispatcher_register(rm->dispatcher, RM_M_ATTEMPT, rm_attempt_handle, NULL);
    sv_dispatcher_register(rm->dispatcher, RM_M_CONTAINER, rm_container_handle, NULL);
    sv_dispatcher_register(rm->dispatcher, RM_M_NODE, rm_node_handle, NULL);
    sv_dispatcher_on_idle(rm->dispatcher, on_idle, rm);
    return 0;
}

static int secrets_new(struct rm *rm)
{
    struct rm_secrets *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->hmac = rm->conf.hmac;
    s->key_len = (size_t)(rm->conf.key_bits / 8);
    s->roll_ms[RM_SECRET_CONTAINER] = rm->conf.container_key_roll_ms;
    s->roll_ms[RM_SECRET_NM] = rm->conf.nm_key_roll_ms;
    s->roll_ms[RM_SECRET_AMRM] = rm->conf.amrm_key_roll_ms;
    s->roll_ms[RM_SECRET_CLIENT_AM] = INT64_MAX;
    s->delay_ms[RM_SECRET_CONTAINER] = rm->conf.nm_expiry_ms + rm->conf.nm_expiry_ms / 2;
    s->delay_ms[RM_SECRET_NM] = s->delay_ms[RM_SECRET_CONTAINER];
    s->delay_ms[RM_SECRET_AMRM] = rm->conf.am_expiry_ms + rm->conf.am_expiry_ms / 2;
    rm->secrets = s;
    return 0;
}

/* Resumes unfinished applications. */
static void resume(struct rm *rm)
{
    SV_DISPATCH_BATCH(rm->dispatcher);
    struct sv_error err = { 0 };
    struct rm_app *app;
    size_t live = 0;

    DL_FOREACH (rm->app_list, app) {
        if (rm_app_is_final(app))
            continue;
        live++;
        if (rm_token_renewer_admit(app, &err) < 0)
            sv_log_warning("%s: its delegation tokens are not renewed: %s", app->id_str, err.text);
        rm_app_post(app, RM_APP_EV_RECOVER, NULL);
    }
    if (rm->app_list)
        sv_log_notice("state store: %u applications, %zu of them not ended",
                      (unsigned)HASH_COUNT(rm->apps), live);
    if (live > 0)
        rm->hold_until_ms = sv_now_ms() + rm->conf.recovery_wait_ms;
}

static int load_scheduler_conf(struct rm *rm, struct sv_error *err)
{
    return rm_conf_load_scheduler(rm->xml, sv_conf_dir(rm->xml), err);
}

static int record(struct rm *rm, struct sv_error *err)
{
    if (!*rm->conf.record)
        return 0;
    return rm_record_open(rm->conf.record, rm->conf.record_limit, rm->xml, rm->epoch, &rm->record,
                          err);
}

static int start(struct rm *rm, struct sv_error *err)
{
    int r;

    if ((r = rm_conf_check_refused(rm->xml, err)) < 0 || (r = load_scheduler_conf(rm, err)) < 0 ||
        (r = rm_conf_read(rm->xml, &rm->conf, err)) < 0 ||
        (r = rm_member_check(&rm->conf, err)) < 0 || (r = rm_nodes_list_read(rm, err)) < 0 ||
        (r = rm_topology_new(rm, err)) < 0 || (r = rm_node_auth_new(rm, err)) < 0 ||
        (r = dispatcher_new(rm)) < 0 || (r = secrets_new(rm)) < 0 ||
        (r = rm_store_open(rm, rm->conf.recovery ? rm->conf.state_dir : NULL, err)) < 0 ||
        (r = rm_store_start(rm->store, rm->conf.first_epoch, rm->conf.epoch_range, &rm->epoch,
                            rm->secrets, err)) < 0 ||
        (r = rm_secrets_init(rm->secrets, sv_now_ms(), err)) < 0 ||
        (r = rm_store_keys(rm->store, rm->secrets, err)) < 0 ||
        (r = rm_delegation_new(rm, err)) < 0 ||
        (r = rm_sched_new(rm->xml, rm->epoch, &rm->sched, err)) < 0 || (r = record(rm, err)) < 0)
        return r;
    rm_types_set(rm_sched_types(rm->sched)); /* before the first message is parsed */
    if ((r = rm_store_load(rm, err)) >= 0 && (r = rm_store_load_usage(rm, err)) >= 0 &&
        (r = rm_store_load_history(rm, err)) >= 0)
        r = rm_store_load_draining(rm, err);
    if (r >= 0)
        r = rm_store_load_node_count(rm, err);
    if (r < 0)
        return r;
    rm_conf_log_unread(rm->xml);
    rm_log_queue_keys(rm, rm->xml);
    if ((r = rm_secure_start(rm, err)) < 0)
        return r;
    resume(rm);
    if ((r = rm_viewers_start(rm, err)) < 0 || (r = rm_proxy_users_read(rm, rm->xml, err)) < 0 ||
        (r = rm_service_access_read(rm, err)) < 0)
        return r;
    if ((r = rm_services_start(rm, err)) < 0 || (r = rm_member_start(rm, rm_web_figures, err)) < 0)
        return r;
    return rm_periodic_start(rm, err);
}

int rm_check(struct sv_conf *conf, struct sv_error *err)
{
    struct rm_conf c = { 0 };
    int r = rm_conf_check_refused(conf, err);

    if (r >= 0)
        r = rm_conf_load_scheduler(conf, sv_conf_dir(conf), err);
    if (r >= 0)
        r = rm_conf_read(conf, &c, err);
    if (r >= 0)
        r = rm_member_check(&c, err);
    if (r >= 0 && c.federation)
        r = fed_store_check(conf, err);
    rm_conf_free(&c);
    return r;
}

int rm_new(sd_event *event, struct sv_conf *conf, struct rm **ret, struct sv_error *err)
{
    struct rm *rm = calloc(1, sizeof(*rm));
    const char *own = sv_own_user();
    int r;

    if (!rm)
        return -ENOMEM;
    rm->event = sd_event_ref(event);
    rm->node_pool = RM_POOL_INIT(struct rm_node);
    rm->node_ids.pool = &rm->node_pool;
    rm->xml = conf;
    rm->started_ms = sv_wall_ms();
    rm->history = rm_history_new();
    if (!rm->history) {
        rm_free(rm);
        return -ENOMEM;
    }
    rm->login_user = rm_strdup(own ? own : "");
    r = start(rm, err);
    if (r < 0) {
        rm_free(rm);
        return r;
    }
    *ret = rm;
    return 0;
}

struct rm *rm_free(struct rm *rm)
{
    struct rm_container *c, *ctmp;
    struct rm_app *app, *atmp;
    struct rm_node *n, *ntmp;

    if (!rm)
        return NULL;
    rm_member_stop(rm);
    rm_viewers_stop(rm);
    rm_services_stop(rm);
    rm_service_access_free(rm);
    rm_call_lists_stop(rm);
    sd_event_source_disable_unref(rm->pass_source);
    rm_launcher_free(rm);
    rm->store = rm_store_close(rm->store);
    rm_token_renewer_free(rm);
    rm_secure_stop(rm);
    rm_delegation_free(rm);
    rm->dispatcher = sv_dispatcher_free(rm->dispatcher);
    free_dead(rm);
    HASH_ITER (hh, rm->containers, c, ctmp) {
        HASH_DEL(rm->containers, c);
        rm_container_free(c);
    }
    HASH_ITER (hh, rm->apps, app, atmp)
        rm_app_free(app);
    free_dead(rm);
    HASH_ITER (hh, rm->nodes, n, ntmp) {
        rm_node_leave(rm, n);
        rm_node_free(n);
    }
    HASH_ITER (hh, rm->inactive_nodes, n, ntmp) {
        HASH_DEL(rm->inactive_nodes, n);
        rm_node_free(n);
    }
    rm_id_clear(&rm->node_ids);
    rm_pool_free(&rm->node_pool);
    rm_set_clear(&rm->include);
    rm_set_clear(&rm->exclude);
    rm_set_clear(&rm->draining);
    rm_set_clear(&rm->submitters);
    rm->sched = rm_sched_free(rm->sched);
    rm->record = rm_record_free(rm->record);
    free(rm->secrets);
    rm_node_auth_free(rm);
    rm_conf_free(&rm->conf);
    free(rm->admin_acl);
    free(rm->login_user);
    rm_queue_counters_free(rm);
    rm_history_free(rm->history);
    sd_event_source_disable_unref(rm->tick);
    sd_event_unref(rm->event);
    free(rm);
    return NULL;
}
