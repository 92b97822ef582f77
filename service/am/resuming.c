/* Goes on with the upgrade in the middle of which the attempt before ended. The journal names its
 * version, the containers that run it, and those that were being turned to it or back. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "service/am/master-internal.h"

static int read_target(struct svc_master *m, struct svc_files *files, struct sv_conf *conf,
                       struct sv_error *err)
{
    _cleanup_free_ char *json = NULL;
    char path[SVC_PATH_MAX];
    size_t len;
    int r = svc_files_version(files, m->past.version, path);

    if (r < 0)
        return sv_error_errno(err, r, "version");
    r = svc_files_read(files, path, SVC_JSON_MAX, &json, &len, err);
    return r < 0 ? r : svc_plan_new(json, len, conf, &m->next, err);
}

void svc_master_read_target(struct svc_master *m, struct svc_files *files, struct sv_conf *conf)
{
    const struct svc_journal_head *past = &m->past;
    struct sv_error err = { 0 };

    m->upgrade.number = SVC_RESUMED;
    if (past->upgrade == SVC_NO_UPGRADE || strcmp(past->version, m->plan->stored->version) == 0)
        return; /* or it had ended */
    if (read_target(m, files, conf, &err) < 0)
        sv_log_err("the upgrade to version %s cannot go on: %s", past->version, err.text);
    m->upgrade.express = past->upgrade == SVC_UPGRADE_EXPRESS;
    m->upgrade.auto_finalize = m->upgrade.express || past->upgrade == SVC_UPGRADE_AUTO_FINALIZE;
}

/* A container of which both is possible counts as what needs to be turned. */
bool svc_master_runs_target(const struct svc_master *m, const struct svc_container *c)
{
    bool back = m->past.upgrade == SVC_UPGRADE_CANCELLED;

    return m->next && c->upgrade == SVC_RESUMED && m->upgrade.number == SVC_RESUMED &&
           (!c->turning || back);
}

void svc_master_turn_recovered(struct svc_master *m, struct yarn_container_id id)
{
    const struct svc_container *c = svc_containers_find(&m->containers, id);

    if (!c || !c->instance || !m->started || !m->next || c->upgrade != m->upgrade.number ||
        !c->turning)
        return;
    /* it may have ended, ignoring */
    (void)!svc_engine_upgrade_instance(m->engine, sv_now_ms(), c->instance, NULL);
    svc_master_operate(m);
}

static int begin(struct svc_master *m, struct sv_error *err)
{
    int r = svc_engine_upgrade(m->engine, sv_now_ms(), m->next->resolved, m->next->options,
                               m->upgrade.auto_finalize, m->upgrade.express, err);

    if (r < 0)
        m->next = svc_plan_free(m->next);
    svc_master_operate(m);
    return r;
}

void svc_master_resume(struct svc_master *m)
{
    struct sv_error err = { 0 };

    if (!m->next)
        return;
    sv_log_info("upgrade to version %s is resumed", m->past.version);
    if (begin(m, &err) < 0) {
        sv_log_err("upgrade to version %s: %s", m->past.version, err.text);
        return;
    }
    for (struct svc_container *c = m->containers.table; m->next && c; c = c->hh.next) {
        if (c->instance && svc_master_runs_target(m, c))
            svc_engine_upgraded(m->engine, sv_now_ms(), c->instance);
        svc_master_operate(m);
        svc_master_turn_recovered(m, c->id);
    }
    if (m->past.upgrade == SVC_UPGRADE_CANCELLED &&
        svc_engine_cancel_upgrade(m->engine, sv_now_ms(), NULL) == 0)
        svc_master_operate(m);
    svc_master_journal_changed(m);
}
