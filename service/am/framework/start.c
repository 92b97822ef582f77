/* Launches of tasks. A container that was given to a task waits until the launcher has that on its
 * disk: then the master's next attempt knows it, and no task ever has two. Few launches are
 * prepared at a time. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/oom.h"
#include "service/am/framework/master-internal.h"

#define LAUNCH_MAX ((size_t)8 << 20) /* of one launch in memory */

struct launch {
    struct svc_fwm *m; /* read by the loop alone */
    struct yarn_container_id id;
    struct sv_arena *arena;
    struct svc_fw_role role;
    struct svc_task_launch_request request;
    struct svc_shared_text *addresses;
    struct cli_launch launch;
    char ip[SVC_TASK_IP_MAX];
    int status;
    struct sv_error err;
};

static void free_launch(void *data)
{
    struct launch *l = data;

    svc_shared_text_unref(l->addresses);
    sv_arena_free(l->arena);
    free(l);
}

static void run_launch(struct svc_files *files, void *data)
{
    struct launch *l = data;

    l->status = svc_task_launch_prepare(files, &l->request, l->arena, &l->launch, l->ip, &l->err);
}

static const char *copy(struct launch *l, const char *text)
{
    char *t = sv_arena_strdup(l->arena, text);

    if (!t)
        sv_out_of_memory();
    return t;
}

static void copy_role(struct launch *l, const struct svc_fw_role *role)
{
    l->role = *role;
    l->role.name = copy(l, role->name);
    l->role.entry_point = copy(l, role->entry_point);
    l->role.sources = sv_newn(l->arena, const char *, role->n_sources + 1);
    if (!l->role.sources)
        sv_out_of_memory();
    for (size_t i = 0; i < role->n_sources; i++)
        l->role.sources[i] = copy(l, role->sources[i]);
}

static void on_launch(void *data, void *userdata)
{
    struct launch *l = data;
    struct svc_fwm *m = userdata;
    struct svc_fwm_container *c = svc_fwm_container(m, l->id);
    const char *why = l->err.text;
    char name[SVC_FWM_NAME];

    m->jobs--;
    (void)sd_event_source_set_enabled(m->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
    if (!c || !c->prepares)
        return;
    c->prepares = false;
    if (l->status == 0) {
        memcpy(c->ip, l->ip, sizeof(c->ip));
        svc_fwm_changed(m, c->instance);
        l->status = cli_am_start(m->yarn, l->id, &l->launch);
        why = strerror(-l->status);
    }
    if (l->status == 0)
        return;
    sv_log(SV_LOG_WARNING, c->key, "%s: %s not started: %s", svc_fwm_name(m, c->instance, name),
           c->key, why);
    svc_engine_start_failed(m->engine, sv_now_ms(), l->id, why);
    m->operate(m);
}

static void prepare(struct svc_fwm *m, struct svc_fwm_container *c, const struct svc_fw_view *v)
{
    struct launch *l = calloc(1, sizeof(*l));
    struct svc_any_job job = {
        .data = l, .userdata = m, .run = run_launch, .done = on_launch, .free = free_launch
    };
    struct svc_shared_text *addresses = m->spec->gang ? svc_fwm_addresses(m) : NULL;

    if (m->spec->gang && !addresses) {
        free(l);
        m->too_long = true;
        (void)sd_event_source_set_enabled(m->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
        return;
    }
    if (!l || !(l->arena = sv_arena_new(LAUNCH_MAX)))
        sv_out_of_memory();
    l->m = m;
    l->id = c->id;
    copy_role(l, &m->spec->roles[v->role]);
    l->addresses = addresses ? svc_shared_text_ref(addresses) : NULL;
    l->request = (struct svc_task_launch_request){
        .framework = m->options->name,
        .user = m->options->user,
        .launcher = m->launcher,
        .version = m->spec->version,
        .role = &l->role,
        .index = v->task.index,
        .application = m->application,
        .attempt = m->attempt,
        .host = copy(l, c->node.host),
        .ports = copy(l, c->ports),
        .addresses = l->addresses,
        .credentials = m->tokens.tasks.data,
        .credentials_len = m->tokens.tasks.len,
    };
    c->prepares = true;
    m->jobs++;
    if (svc_work_any(m->work, &job) < 0)
        sv_out_of_memory();
}

void svc_fwm_start(struct svc_fwm *m)
{
    struct svc_fwm_container *c, *next;
    struct svc_fw_view v;

    DL_FOREACH_SAFE (m->waiting, c, next) {
        if (m->jobs >= SVC_FWM_LAUNCHES_OPEN || m->ending || m->too_long)
            return;
        if (!svc_fwm_is_told(m, c->instance))
            continue;
        DL_DELETE(m->waiting, c);
        c->waits = false;
        if (svc_fw_view(m->engine, c->instance, &v) == 0 && v.has_container &&
            yarn_container_id_cmp(v.container, c->id) == 0)
            prepare(m, c, &v);
    }
}
