/* Inputs of a framework's master beside the engine's. A recorded task is the launcher's answer
 * about what the attempt before told; descriptors were checked. */
#include "service/engine/framework.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/engine/ends.h"
#include "service/engine/framework-task.h"
#include "service/engine/nodes.h"
#include "service/engine/settle.h"
#include "service/engine/states.h"

/* ---- the definition --------------------------------------------------------------------------*/

static const char *component_name(struct sv_arena *a, size_t i)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "role%zu", i);
    return sv_arena_strdup(a, name);
}

int svc_fw_definition(const struct svc_fw_descriptor *d, struct sv_arena *a,
                      struct svc_definition **ret, struct svc_options **ret_options,
                      struct sv_error *err)
{
    struct svc_definition *def = sv_new(a, struct svc_definition);
    struct svc_options *options = sv_newn(a, struct svc_options, d->n_roles + 1);
    struct svc_component *comps = sv_newn(a, struct svc_component, d->n_roles + 1);
    int64_t total = 0;

    for (size_t i = 0; i < d->n_roles; i++)
        total += d->roles[i].tasks;
    if (total > SVC_INSTANCES_MAX)
        return sv_error_set(err, -EINVAL,
                            "taskRoles: %" PRId64 " tasks of all roles together: %d are allowed",
                            total, SVC_INSTANCES_MAX);
    if (!def || !options || !comps)
        return sv_error_errno(err, -ENOMEM, "framework");
    *def = (struct svc_definition){ .name = "framework",
                                    .version = "",
                                    .description = "",
                                    .id = "",
                                    .queue = "",
                                    .artifact = { .id = "", .uri = "" },
                                    .lifetime_s = -1,
                                    .components = comps,
                                    .n_components = d->n_roles,
                                    .principal = "",
                                    .keytab = "",
                                    .saved_state = "" };
    for (size_t i = 0; i < d->n_roles; i++) {
        const struct svc_fw_role *r = &d->roles[i];

        comps[i] = (struct svc_component){
            .name = component_name(a, i),
            .artifact = { .id = "", .uri = "" },
            .launch_command = "", /* the master reads the descriptor's */
            .resource = { .memory_mb = r->resource.memory_mb,
                          .vcores = r->resource.cpus,
                          .gpus = r->resource.gpus },
            .count = r->tasks,
            .state = "",
        };
        options[i] = (struct svc_options)SVC_OPTIONS_DEFAULT;
        /* A copy: svc_fw_update() has another descriptor, and the label is asked with for ever. */
        options[i].label =
            sv_arena_strdup(a, r->label ?: d->label ?: d->master_label ?: SVC_LABEL_ANY);
        if (!comps[i].name || !options[i].label)
            return sv_error_errno(err, -ENOMEM, "framework");
    }
    *ret = def;
    *ret_options = options;
    return 0;
}

/* ---- tasks of the attempt before -------------------------------------------------------------*/

static int64_t engine_time(const struct svc_fw *f, int64_t wall)
{
    return wall ? wall - f->wall_ms : 0;
}

static void give_container(struct svc_inst *i, const struct svc_fw_task *t,
                           const struct yarn_container_id *id, const struct yarn_node_id *node)
{
    struct svc_engine *e = i->comp->engine;
    bool target = false;

    i->has_container = true;
    i->container.inst = i;
    svc_container_add(e, &i->container, id, svc_node_get(e, node ? node->host : t->host ?: ""),
                      node ? node->port : 0);
    (void)svc_instance_event(i, SVC_INSTANCE_EV_RECOVERED, &target);
    i->task->launched_at = engine_time(e->fw, t->launched_ms);
}

static void restore_exit(struct svc_inst *i, const struct svc_fw_task *t)
{
    struct svc_fw *f = i->comp->engine->fw;
    struct svc_task *task = i->task;
    struct svc_fw_exit x;

    svc_fw_exit_of_code(f->exits, t->exit_code, &x);
    task->exited = true;
    task->exit_code = t->exit_code;
    task->type = t->exit_type;
    task->description = x.description;
    task->launched_at = engine_time(f, t->launched_ms);
    task->ended_at = engine_time(f, t->ended_ms);
    task->completed_at = engine_time(f, t->completed_ms);
}

static void restore_completed(struct svc_inst *i, const struct svc_fw_task *t,
                              const struct yarn_container_id *id, bool has_container)
{
    struct svc_stop_step step = { .success = t->exit_type == SVC_FW_SUCCEEDED };

    (void)svc_instance_event(i, SVC_INSTANCE_EV_ENDED_BEFORE, &step);
    restore_exit(i, t);
    svc_set_text(&i->diagnostics, t->exit_diagnostics);
    if (has_container) {
        i->task->container = *id;
        i->task->node = svc_node_get(i->comp->engine, t->host ?: "");
    }
}

static void restore(struct svc_inst *i, const struct svc_fw_task *t,
                    const struct yarn_container_id *id, bool has_container,
                    const struct yarn_node_id *node)
{
    struct svc_task *task = i->task;

    task->restored = true;
    task->retries = t->retries;
    task->created_at = engine_time(i->comp->engine->fw, t->created_ms);
    if (t->state == SVC_FW_TASK_COMPLETED) {
        restore_completed(i, t, id, has_container);
        return;
    }
    if (!has_container)
        return;
    give_container(i, t, id, node);
    if (t->state == SVC_FW_CONTAINER_ALLOCATED)
        task->given_back = true;
    else if (t->state == SVC_FW_CONTAINER_COMPLETED)
        restore_exit(i, t);
    else
        return;
    svc_set_text(&i->decided, t->exit_diagnostics);
    (void)svc_instance_event(i, SVC_INSTANCE_EV_DESTROY, NULL);
}

static bool can_restore(const struct svc_inst *i)
{
    return i && i->list == SVC_PENDING && !i->task->restored;
}

int svc_fw_restore(struct svc_engine *e, int64_t now, size_t role, const struct svc_fw_task *t,
                   const struct yarn_node_id *node, struct sv_error *err)
{
    struct yarn_container_id id = { 0 };
    struct svc_inst *i;

    svc_begin(e, now);
    if (e->started || role >= e->n_comps || t->index < 0)
        return sv_error_set(err, -EINVAL, "task %d of role %zu: no such role, or too late",
                            (int)t->index, role);
    if (t->index >= e->comps[role]->target)
        return sv_error_set(err, -ERANGE, "task %d of role %zu: it was removed", (int)t->index,
                            role);
    if (t->container &&
        (yarn_container_id_parse(t->container, &id) < 0 || svc_container_find(e, &id)))
        return sv_error_set(err, -EINVAL, "task %d of role %zu: container \"%s\": no id, or known",
                            (int)t->index, role, t->container);
    i = svc_inst_at(e->comps[role], (uint32_t)t->index);
    if (!can_restore(i))
        return sv_error_set(err, -EINVAL, "task %d of role %zu: restored before", (int)t->index,
                            role);
    restore(i, t, &id, t->container, node);
    svc_settle(e);
    return 0;
}

/* ---- others ----------------------------------------------------------------------------------*/

int svc_fw_update(struct svc_engine *e, int64_t now, const struct svc_fw_descriptor *d,
                  struct sv_error *err)
{
    const struct svc_fw_descriptor *old = e->fw->descriptor;
    struct svc_node *n, *next;
    bool same = d->n_roles == old->n_roles;

    svc_begin(e, now);
    for (size_t i = 0; same && i < d->n_roles; i++)
        same = strcmp(d->roles[i].name, old->roles[i].name) == 0;
    if (!same)
        return sv_error_set(err, -EINVAL,
                            "taskRoles: other roles than before: that needs another version");
    e->fw->descriptor = d;
    for (size_t i = 0; i < d->n_roles; i++)
        if (e->fw->end.role == old->roles[i].name)
            e->fw->end.role = d->roles[i].name;
    HASH_ITER (hh, e->nodes, n, next)
        e->policy->populated(e, n); /* the roles' GPUs and anti-affinity count there */
    svc_settle(e);
    return 0;
}

int svc_fw_migrate(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                   struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    struct svc_container *c;

    svc_begin(e, now);
    c = e->unregistered ? NULL : svc_container_find(e, &id);
    if (!c || !c->inst || c->inst->list != SVC_LIVE)
        return sv_error_set(err, -ESRCH, "%s: no task has this container, or it ends already",
                            yarn_container_id_text(id, text));
    svc_task_end(c->inst, SVC_FW_EXIT_MIGRATE_REQUESTED, "its migration was requested");
    svc_settle(e);
    return 0;
}

void svc_fw_finish(struct svc_engine *e, int64_t now, int32_t code, const char *diagnostics)
{
    svc_begin(e, now);
    svc_application_end(e, code, NULL, diagnostics, NULL);
    svc_settle(e);
}
