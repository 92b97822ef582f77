/* Tells the launcher of tasks, and does what it says. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/oom.h"
#include "service/am/framework/master-internal.h"

#define REQUEST_BYTES (SVC_FW_LINK_MAX * 3 / 4)
#define TASK_BYTES 1200 /* of names and numbers of one task */

/* ---- Telling ---- */

static json_t *list_of(json_t *roles, const char *role)
{
    json_t *list = json_object_get(roles, role);

    if (list)
        return list;
    list = json_array();
    if (!list || json_object_set_new(roles, role, list) < 0)
        sv_out_of_memory();
    return list;
}

static size_t length(const char *s)
{
    return s ? strlen(s) : 0;
}

/* Returns how long its text is at most: JSON can make six bytes of one. */
static size_t add(struct svc_fwm *m, json_t *roles, const struct svc_fwm_task *t,
                  struct sv_arena *a)
{
    struct svc_fw_task task = { .removed = true };
    size_t role = svc_fwm_role_of(t->instance);
    struct svc_fw_view v;
    json_t *o;

    if (svc_fw_view(m->engine, t->instance, &v) == 0)
        svc_fwm_view(m, &v, a, &task);
    else {
        task.index = (int32_t)strtol(strrchr(t->instance, '-') + 1, NULL, 10);
        svc_fwm_forget_ended(m, t->instance);
    }
    o = svc_fw_task_json(&task, m->spec->roles[role].name);
    if (!o || json_array_append_new(list_of(roles, m->spec->roles[role].name), o) < 0)
        sv_out_of_memory();
    return TASK_BYTES + length(task.ports) +
           6 * SV_MIN(length(task.exit_diagnostics), (size_t)SVC_FW_DIAGNOSTICS_TASK_MAX);
}

static void on_fill(json_t *roles, void *userdata)
{
    struct svc_fwm *m = userdata;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fwm_task *t, *next;
    size_t n = 0, bytes = 0;

    if (!a)
        sv_out_of_memory();
    DL_FOREACH_SAFE (m->changed, t, next) {
        if (n++ == SVC_FW_LINK_TASKS || bytes > REQUEST_BYTES)
            return;
        bytes += add(m, roles, t, a);
        DL_DELETE(m->changed, t);
        DL_APPEND(m->sent, t);
        t->sent = true;
        t->again = false;
    }
}

static void on_told(bool ok, void *userdata)
{
    struct svc_fwm *m = userdata;
    struct svc_fwm_task *t;

    while ((t = m->sent)) {
        DL_DELETE(m->sent, t);
        t->sent = false;
        if (!ok || t->again) {
            DL_APPEND(m->changed, t);
            continue;
        }
        HASH_DEL(m->tasks, t);
        free(t->instance);
        free(t);
    }
    if (!ok || !m->begun)
        return;
    svc_fwm_start(m);
    svc_fwm_maybe_finish(m);
}

static bool on_left(void *userdata)
{
    const struct svc_fwm *m = userdata;

    return m->changed != NULL;
}

static double on_progress(void *userdata)
{
    const struct svc_fwm *m = userdata;
    struct svc_fw_state state;

    if (m->progress >= 0)
        return m->progress;
    if (!m->engine)
        return 0;
    svc_fw_state(m->engine, &state);
    return state.progress;
}

/* ---- Answers ---- */

/* The answer's arena goes with it: the descriptor is read again into one of the master's. */
static int keep(const struct svc_fw_descriptor *d, struct sv_arena **ret_arena,
                struct svc_fw_descriptor **ret)
{
    struct sv_arena *a = sv_arena_new(0);
    _cleanup_free_ char *text = NULL, *violations = NULL;
    json_t *o = svc_fw_json(d);
    int r;

    text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    if (!a || !text)
        sv_out_of_memory();
    r = svc_fw_parse(text, strlen(text), true, a, ret, &violations);
    svc_fwm_need(r);
    if (r < 0)
        sv_arena_free(a);
    else
        *ret_arena = a;
    return r;
}

static void flex(struct svc_fwm *m, const struct svc_fw_role *role, size_t i)
{
    struct sv_error err = { 0 };
    char component[32];
    int r;

    (void)snprintf(component, sizeof(component), "role%zu", i);
    r = svc_engine_flex(m->engine, sv_now_ms(), component, role->tasks, &err);
    if (r < 0 && r != -EBUSY)
        sv_log_warning("task role %s: %s", role->name, err.text);
    svc_fwm_operate(m);
}

static void update(struct svc_fwm *m, const struct svc_fw_descriptor *told)
{
    struct sv_arena *arena, *old = m->spec_arena;
    struct svc_fw_descriptor *d;
    struct sv_error err = { 0 };

    if (keep(told, &arena, &d) < 0)
        return; /* it was read before */
    if (svc_fw_update(m->engine, sv_now_ms(), d, &err) < 0) {
        sv_log_warning("the changed framework is not taken: %s; give it another version", err.text);
        sv_arena_free(arena);
        return;
    }
    m->spec = d;
    m->spec_arena = arena;
    sv_arena_free(old);
    m->info_stale = true;
    svc_fwm_operate(m);
    for (size_t i = 0; i < d->n_roles; i++)
        flex(m, &d->roles[i], i);
}

static void migrate(struct svc_fwm *m, struct yarn_container_id id)
{
    struct sv_error err = { 0 };
    char text[YARN_ID_TEXT_MAX];

    if (svc_fw_migrate(m->engine, sv_now_ms(), id, &err) == 0)
        sv_log_info("%s: its task migrates", yarn_container_id_text(id, text));
    svc_fwm_operate(m);
}

static void begin(struct svc_fwm *m, const struct svc_answer *a)
{
    struct sv_error err = { 0 };
    struct sv_arena *arena;
    struct svc_fw_descriptor *d;

    if (a->descriptor && keep(a->descriptor, &arena, &d) == 0) {
        sv_arena_free(m->spec_arena);
        m->spec_arena = arena;
        m->spec = d;
    }
    if (svc_fwm_begin(m, a, &err) < 0) {
        sv_log_err("%s", err.text);
        svc_fwm_exit(m, 201);
    }
}

static void on_answered(const struct svc_answer *a, void *userdata)
{
    struct svc_fwm *m = userdata;

    m->progress = a->progress;
    if (a->cluster) {
        json_decref(m->cluster);
        m->cluster = json_incref((json_t *)(uintptr_t)a->cluster);
    }
    if (!m->begun) {
        begin(m, a);
        return;
    }
    if (m->ending)
        return;
    if (a->descriptor)
        update(m, a->descriptor);
    for (size_t i = 0; i < a->n_migrate; i++)
        migrate(m, a->migrate[i]);
}

static void on_gone(const char *why, void *userdata)
{
    struct svc_fwm *m = userdata;

    sv_log_err("%s", why);
    m->gone = true;
    if (!m->begun) {
        svc_fwm_exit(m, 202);
        return;
    }
    svc_fw_finish(m->engine, sv_now_ms(), SVC_FW_EXIT_AM_NON_TRANSIENT, why);
    svc_fwm_operate(m);
    svc_fwm_maybe_finish(m);
}

const struct svc_link_ops svc_fwm_link_ops = {
    .fill = on_fill,
    .told = on_told,
    .left = on_left,
    .progress = on_progress,
    .answered = on_answered,
    .gone = on_gone,
};
