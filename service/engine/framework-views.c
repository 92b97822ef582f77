/* Tasks and the application as a framework's master tells of them. */
#include <errno.h>

#include "service/engine/framework-task.h"

void svc_task_tell(struct svc_inst *i)
{
    struct svc_ops *ops = &i->comp->engine->ops;
    struct svc_op *op;

    if (i->task->told == ops->generation)
        return;
    i->task->told = ops->generation;
    op = svc_op_add(ops, SVC_OP_STATE);
    op->instance = i->name;
    op->component = svc_spec_of(i)->component;
}

static enum svc_fw_task_state state_of(const struct svc_inst *i)
{
    switch (i->state) {
    case SVC_INSTANCE_INIT:
        return i->request ? SVC_FW_CONTAINER_REQUESTED : SVC_FW_TASK_WAITING;
    case SVC_INSTANCE_LAUNCHING:
        return i->task->gated ? SVC_FW_CONTAINER_ALLOCATED : SVC_FW_CONTAINER_LAUNCHED;
    case SVC_INSTANCE_STOPPING:
        return i->task->given_back ? SVC_FW_TASK_WAITING : SVC_FW_CONTAINER_COMPLETED;
    case SVC_INSTANCE_SUCCEEDED:
    case SVC_INSTANCE_FAILED:
        return SVC_FW_TASK_COMPLETED;
    default:
        return SVC_FW_CONTAINER_RUNNING;
    }
}

static int64_t wall(const struct svc_fw *f, int64_t at)
{
    return at ? at + f->wall_ms : 0;
}

static void view_exit(const struct svc_inst *i, struct svc_fw_task *ret)
{
    const struct svc_fw *f = i->comp->engine->fw;
    const struct svc_task *t = i->task;

    ret->exited = true;
    ret->exit_code = t->exit_code;
    ret->exit_type = t->type;
    ret->exit_description = t->description;
    ret->exit_diagnostics = ret->state == SVC_FW_TASK_COMPLETED ? i->diagnostics : i->decided;
    ret->ended_ms = wall(f, t->ended_at);
    if (ret->state == SVC_FW_TASK_COMPLETED)
        ret->completed_ms = wall(f, t->completed_at);
}

static void view(const struct svc_inst *i, struct svc_fw_view *ret)
{
    const struct svc_fw *f = i->comp->engine->fw;
    const struct svc_task *t = i->task;

    *ret = (struct svc_fw_view){
        .role = i->comp->index,
        .task = { .index = (int32_t)i->number,
                  .state = state_of(i),
                  .retries = t->retries,
                  .created_ms = t->created_at + f->wall_ms,
                  .lost = -1 },
    };
    if (ret->task.state < SVC_FW_CONTAINER_ALLOCATED)
        return;
    if (t->node) {
        ret->has_container = true;
        ret->container = t->container;
        ret->task.container = yarn_container_id_text(t->container, ret->text);
        ret->task.host = t->node->host;
        ret->task.launched_ms = wall(f, t->launched_at);
        ret->task.lost = t->missing_in == f->epoch ? (int32_t)t->missing : 0;
    }
    if (ret->task.state >= SVC_FW_CONTAINER_COMPLETED)
        view_exit(i, &ret->task);
}

int svc_fw_view(const struct svc_engine *e, const char *instance, struct svc_fw_view *ret)
{
    const struct svc_inst *i = svc_inst_named(e, instance);

    if (!i || !svc_is_wanted(i))
        return -ENOENT;
    view(i, ret);
    return 0;
}

int svc_fw_name(const struct svc_engine *e, const char *instance, size_t *ret_role,
                int32_t *ret_index)
{
    uint32_t number;
    const struct svc_comp *c = svc_name_split(e, instance, &number);

    if (!c)
        return -ENOENT;
    *ret_role = c->index;
    *ret_index = (int32_t)number;
    return 0;
}

bool svc_fw_walk(const struct svc_engine *e, size_t role, size_t *cursor, struct svc_fw_view *ret)
{
    const struct svc_comp *c = e->comps[role];

    while (*cursor < c->n_slots) {
        const struct svc_inst *i = c->slots[(*cursor)++];

        if (i && svc_is_wanted(i)) {
            view(i, ret);
            return true;
        }
    }
    return false;
}

void svc_fw_end(const struct svc_engine *e, struct svc_fw_end *ret)
{
    const struct svc_fw *f = e->fw;
    struct svc_fw_exit x;

    *ret = f->end;
    ret->diagnostics = f->diagnostics ?: "";
    ret->trigger = f->trigger;
    if (ret->ended || !e->ending) {
        ret->description = ret->description ?: "";
        return;
    }
    svc_fw_exit_of_code(f->exits, SVC_FW_EXIT_STOP_REQUESTED, &x);
    ret->ended = true;
    ret->code = x.code;
    ret->type = x.type;
    ret->description = x.description;
    ret->diagnostics = e->diagnostics ?: "";
}

int64_t svc_fw_outstanding(const struct svc_engine *e)
{
    size_t n = 0;

    for (size_t i = 0; i < e->n_comps; i++) {
        const struct svc_list *lists = e->comps[i]->lists;

        n += lists[SVC_PENDING].n + lists[SVC_AWAITED].n + lists[SVC_RESTARTING].n;
    }
    return (int64_t)n;
}

void svc_fw_state(const struct svc_engine *e, struct svc_fw_state *ret)
{
    const struct svc_fw *f = e->fw;

    *ret = (struct svc_fw_state){ .outstanding = svc_fw_outstanding(e),
                                  .round = f->round,
                                  .gang_until = f->gang.place ? f->gang.at : 0 };
    for (size_t i = 0; i < e->n_comps; i++) {
        ret->total += e->comps[i]->target;
        ret->final += e->comps[i]->succeeded + e->comps[i]->failed;
    }
    ret->progress = ret->total ? (double)ret->final / (double)ret->total : 0;
}
