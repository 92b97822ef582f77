/* Requests of clients, checked before they are accepted. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "service/am/master-internal.h"

static int alive(const struct svc_master *m, struct sv_error *err)
{
    if (!m->started)
        return sv_error_set(err, -EBUSY, "service %s: its master is starting", m->options->name);
    switch (svc_engine_state(m->engine)) {
    case SVC_STOPPED:
    case SVC_FAILED:
    case SVC_SUCCEEDED:
        return sv_error_set(err, -ESHUTDOWN, "service %s is being stopped", m->options->name);
    default:
        return 0;
    }
}

/* ---- Size ---- */

static int check_flex(const struct svc_master *m, const struct svc_flex *list, size_t n,
                      struct sv_error *err)
{
    int64_t total = 0;

    for (size_t i = 0; i < n; i++) {
        if (!svc_component_named(m->plan->resolved, list[i].component))
            return sv_error_set(err, -ENOENT, "Unknown component: %.100s", list[i].component);
        for (size_t j = 0; j < i; j++)
            if (strcmp(list[i].component, list[j].component) == 0)
                return sv_error_set(err, -EINVAL, "component %.100s is named twice",
                                    list[i].component);
        if (list[i].count < 0 || list[i].count > SVC_INSTANCES_MAX ||
            (total += list[i].count) > SVC_INSTANCES_MAX)
            return sv_error_set(err, -EINVAL, "component %.100s: %lld containers: 0 to %d in all",
                                list[i].component, (long long)list[i].count, SVC_INSTANCES_MAX);
    }
    return 0;
}

static int on_flex(void *master, const struct svc_flex *list, size_t n, bool store,
                   struct sv_error *err)
{
    struct svc_master *m = master;
    int r = alive(m, err);

    if (r == 0)
        r = check_flex(m, list, n, err);
    m->stored_by_caller = !store;
    for (size_t i = 0; r == 0 && i < n; i++) {
        sv_log_info("component %s: %lld containers are wanted", list[i].component,
                    (long long)list[i].count);
        r = svc_engine_flex(m->engine, sv_now_ms(), list[i].component, list[i].count, err);
        svc_master_operate(m);
    }
    m->stored_by_caller = false;
    return r;
}

static int on_decommission(void *master, char *const *names, size_t n, struct sv_error *err)
{
    struct svc_master *m = master;
    struct svc_instance_view v;
    int r = alive(m, err);

    for (size_t i = 0; r == 0 && i < n; i++)
        if (svc_engine_find(m->engine, names[i], &v) < 0)
            r = sv_error_set(err, -ENOENT, "Unknown component instance: %.100s", names[i]);
    m->stored_by_caller = true;
    for (size_t i = 0; r == 0 && i < n; i++) {
        sv_log_info("%s is decommissioned", names[i]);
        r = svc_engine_decommission(m->engine, sv_now_ms(), names[i], err);
        svc_master_operate(m);
    }
    m->stored_by_caller = false;
    svc_master_need(svc_status_definition(m->status, m->plan->stored)); /* it lists them */
    return r;
}

static int on_kill(void *master, struct yarn_container_id id, struct sv_error *err)
{
    struct svc_master *m = master;
    struct svc_instance_view v;
    char text[YARN_ID_TEXT_MAX];
    int r = alive(m, err);

    if (r < 0)
        return r;
    if (svc_engine_find_container(m->engine, id, &v) < 0)
        return sv_error_set(err, -ENOENT, "Unknown container: %s",
                            yarn_container_id_text(id, text));
    r = svc_engine_kill(m->engine, sv_now_ms(), v.name, err);
    svc_master_operate(m);
    return r;
}

/* ---- Life ---- */

static int on_stop(void *master, const char *diagnostics, struct sv_error *err)
{
    struct svc_master *m = master;
    int r = alive(m, err);

    if (r == -ESHUTDOWN)
        return 0; /* it happens already */
    if (r < 0)
        return r;
    svc_engine_stop(m->engine, sv_now_ms(), diagnostics);
    svc_master_operate(m);
    return 0;
}

/* ---- Upgrades ---- */

/* An upgrade that begins is answered when the journal has it. */
static void answer_upgrade(struct svc_master *m, int status, const struct sv_error *err)
{
    m->upgrade.reading = false;
    if (status < 0) {
        sv_log_warning("upgrade: %s", err->code ? err->text : strerror(-status));
        if (m->upgrade.call)
            svc_client_am_upgraded(SV_TAKE(m->upgrade.call), status, err);
        return;
    }
    svc_master_journal_changed(m);
}

static void on_plan(int status, struct svc_plan *plan, const struct sv_error *err, void *userdata)
{
    struct svc_master *m = userdata;
    struct sv_error own = *err;

    if (status == 0)
        status = alive(m, &own);
    m->upgrade.number++;
    if (status == 0)
        status = svc_engine_upgrade(m->engine, sv_now_ms(), plan->resolved, plan->options,
                                    m->upgrade.auto_finalize, m->upgrade.express, &own);
    if (status == 0)
        m->next = plan;
    else
        svc_plan_free(plan);
    svc_master_operate(m);
    answer_upgrade(m, status, &own);
}

static int on_upgrade(void *master, const char *version, bool auto_finalize, bool express,
                      struct ipc_call *call, struct sv_error *err)
{
    struct svc_master *m = master;
    int r = alive(m, err);

    if (r < 0)
        return r;
    if (m->upgrade.reading || m->upgrade.call || m->next)
        return sv_error_set(err, -EBUSY, "service %s is being upgraded", m->options->name);
    r = svc_work_plan(m->work, version, on_plan, m);
    if (r == -EINVAL)
        return sv_error_set(err, r, "\"%.100s\" is not the name of a version", version);
    if (r < 0)
        return r;
    sv_log_info("upgrade to version %s", version);
    m->upgrade = (struct svc_upgrade){ .reading = true,
                                       .auto_finalize = auto_finalize,
                                       .express = express,
                                       .number = m->upgrade.number,
                                       .call = call };
    return SVC_LATER;
}

static int on_upgrade_containers(void *master, char *const *ids, size_t n, struct sv_error *err)
{
    struct svc_master *m = master;
    struct yarn_container_id id;
    struct svc_instance_view v;
    int r = alive(m, err);

    for (size_t i = 0; r == 0 && i < n; i++) {
        if (yarn_container_id_parse(ids[i], &id) < 0 ||
            svc_engine_find_container(m->engine, id, &v) < 0)
            return sv_error_set(err, -ENOENT, "Unknown container: %.100s", ids[i]);
        r = svc_engine_upgrade_instance(m->engine, sv_now_ms(), v.name, err);
        svc_master_operate(m);
        if (r == -EALREADY)
            r = 0;
    }
    return r;
}

static int on_cancel_upgrade(void *master, struct sv_error *err)
{
    struct svc_master *m = master;
    int r = alive(m, err);

    if (r == 0)
        r = svc_engine_cancel_upgrade(m->engine, sv_now_ms(), err);
    svc_master_operate(m);
    return r;
}

static int on_finalize_upgrade(void *master, struct sv_error *err)
{
    struct svc_master *m = master;
    int r = alive(m, err);

    if (r == 0)
        r = svc_engine_finalize(m->engine, sv_now_ms(), err);
    svc_master_operate(m);
    return r;
}

static bool on_may(void *master, const char *user, enum svc_access access)
{
    struct svc_master *m = master;
    struct cli_am_access a = m->access;

    a.enabled |= access == SVC_MODIFY;
    return cli_am_may(m->yarn, &a, user, access == SVC_VIEW ? CLI_VIEW : CLI_MODIFY);
}

const struct svc_control_ops svc_master_control_ops = {
    .flex = on_flex,
    .stop = on_stop,
    .decommission = on_decommission,
    .kill = on_kill,
    .upgrade = on_upgrade,
    .upgrade_containers = on_upgrade_containers,
    .cancel_upgrade = on_cancel_upgrade,
    .finalize_upgrade = on_finalize_upgrade,
    .may = on_may,
};
