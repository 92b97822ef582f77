/* Launches share a write of the journal, which comes before them in the worker's queue: the next
 * attempt knows every container that may run by its name. One journal is being written at a time,
 * and few launches are prepared at a time: what one turn of the loop does and holds does not grow
 * with the number of instances. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "service/am/master-internal.h"
#include "wire/exit-status.h"

static void queue(struct svc_master *m, struct svc_pending **list, const struct svc_pending *what)
{
    struct svc_pending *p = malloc(sizeof(*p));

    if (!p)
        sv_out_of_memory();
    *p = *what;
    DL_APPEND(*list, p);
    svc_master_turn(m);
}

/* The node has accepted a re-initialization, and ends the old process: SIGKILL comes 250 ms after
 * SIGTERM, if yarn.nodemanager.sleep-delay-before-sigkill.ms does not say more. */
#define OLD_PROCESS_MS 1000

/* For the journal: whether the container runs the version of the upgrade. Both are possible until
 * its node has answered. */
static void note_version(struct svc_master *m, struct svc_container *c,
                         const struct svc_component *component, bool turning)
{
    bool target = m->next && svc_plan_component(m->next, component);

    c->turning = turning;
    c->upgrade = target || turning ? m->upgrade.number : 0;
}

void svc_master_launch(struct svc_master *m, const struct svc_op *op, bool again)
{
    struct svc_container *c = svc_containers_find(&m->containers, op->container);
    const struct svc_pending p = { op->container, op->component, again, NULL, NULL };

    if (!c)
        return; /* it has ended in this turn */
    if (svc_container_name(c, op->instance) < 0)
        sv_out_of_memory();
    c->launching = true;
    note_version(m, c, op->component, again);
    svc_names_changed(m->names, c->instance);
    queue(m, &m->pending, &p);
}

static void start_failed(struct svc_master *m, struct yarn_container_id id, bool again,
                         const char *why)
{
    struct svc_container *c = svc_containers_find(&m->containers, id);

    if (!c)
        return;
    sv_log(SV_LOG_WARNING, c->key, "%s: %s not started: %s", c->instance ? c->instance : "", c->key,
           why);
    if (again)
        svc_engine_reinit_failed(m->engine, sv_now_ms(), id, why);
    else
        svc_engine_start_failed(m->engine, sv_now_ms(), id, why);
    m->operate(m);
}

static void turned(struct svc_master *m, struct svc_container *c)
{
    struct svc_instance_view v;

    c->started_ms = sv_wall_ms();
    if (svc_engine_find_container(m->engine, c->id, &v) == 0)
        note_version(m, c, v.component, false);
    svc_master_journal_changed(m);
}

static void on_reinitialized(struct cli_am *yarn, struct yarn_container_id id, int status,
                             const struct sv_error *err, void *userdata)
{
    struct svc_master *m = userdata;
    struct svc_container *c = svc_containers_find(&m->containers, id);

    (void)yarn;
    if (status < 0) {
        start_failed(m, id, true, err && err->code ? err->text : strerror(-status));
        return;
    }
    if (c)
        turned(m, c);
    svc_engine_reinitialized(m->engine, sv_now_ms(), id);
    svc_master_localized(m, id);
    m->operate(m);
    svc_checks_delay(m->checks, id, OLD_PROCESS_MS);
}

static void prepared(struct svc_master *m, struct yarn_container_id id, bool again, int status,
                     const struct cli_launch *launch, const struct sv_error *err)
{
    struct svc_container *c = svc_containers_find(&m->containers, id);

    m->jobs--;
    if (m->journaled)
        svc_master_turn(m);
    if (c && c->launching) {
        c->launching = false;
        if (status == 0)
            status = again ? cli_am_reinitialize(m->yarn, id, launch, true, on_reinitialized, m)
                           : cli_am_start(m->yarn, id, launch);
        if (status < 0)
            start_failed(m, id, again, err->code ? err->text : strerror(-status));
    }
    svc_master_free_dropped(m);
}

static void on_prepared(struct yarn_container_id id, int status, const struct cli_launch *launch,
                        const struct sv_error *err, void *userdata)
{
    prepared(userdata, id, false, status, launch, err);
}

static void on_prepared_again(struct yarn_container_id id, int status,
                              const struct cli_launch *launch, const struct sv_error *err,
                              void *userdata)
{
    prepared(userdata, id, true, status, launch, err);
}

static void prepare(struct svc_master *m, const struct svc_pending *p)
{
    struct svc_container *c = svc_containers_find(&m->containers, p->id);
    struct svc_component_plan *plan = svc_master_plan_of(m, p->component);
    struct svc_launch_request q = {
        .component = plan,
        .tokens = m->tokens,
        .user = m->options->user,
        .credentials = m->credentials,
        .credentials_len = m->credentials_len,
    };

    if (!c || !c->launching || !plan)
        return;
    q.peers = svc_names_peers(m->names, p->component, plan->all_hosts);
    if (!q.peers)
        sv_out_of_memory();
    q.instance = c->instance;
    q.container = c->key;
    if (svc_work_launch(m->work, p->id, &q, p->again ? on_prepared_again : on_prepared, m) < 0)
        sv_out_of_memory();
    m->jobs++;
    svc_peers_unref(q.peers);
}

static void end_released(struct svc_master *m)
{
    struct svc_pending *p;

    while ((p = m->released)) {
        DL_DELETE(m->released, p);
        svc_engine_completed(m->engine, sv_now_ms(), p->id, YARN_EXIT_ABORTED,
                             "Container released by application");
        free(p);
        m->operate(m);
    }
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_master *m = userdata;
    struct svc_pending *p;

    (void)s;
    end_released(m);
    if ((m->pending || m->journal_stale) && !m->storing_journal) {
        svc_master_store_journal(m);
        DL_CONCAT(m->journaled, m->pending);
        m->pending = NULL;
    }
    while ((p = m->journaled) && m->jobs < SVC_LAUNCHES_OPEN) {
        DL_DELETE(m->journaled, p);
        prepare(m, p);
        free(p);
    }
    svc_master_free_dropped(m);
    return 0;
}

void svc_master_end(struct svc_master *m, struct yarn_container_id id)
{
    queue(m, &m->released, &(struct svc_pending){ .id = id });
}

int svc_master_launching_new(struct svc_master *m)
{
    int r = sd_event_add_defer(m->event, &m->turn, on_turn, m);

    return r < 0 ? r : sd_event_source_set_enabled(m->turn, SD_EVENT_OFF);
}
