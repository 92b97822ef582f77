/* A task: its containers one after the other, what each ended with, and whether there is another.
 */
#include "service/engine/framework-task.h"

#include <stdlib.h>

#include "service/engine/retry.h"
#include "service/engine/states.h"

static void forget_container(struct svc_task *t)
{
    t->node = NULL;
    t->launched_at = t->ended_at = t->completed_at = 0;
    t->exited = t->given_back = false;
    t->description = NULL;
    t->exit_code = 0;
    t->missing = 0;
}

static void make_task(struct svc_inst *i)
{
    i->task = calloc(1, sizeof(*i->task));
    if (!i->task)
        sv_out_of_memory();
    i->task->inst = i;
    i->task->told = i->comp->engine->ops.generation - 1;
    i->task->created_at = i->comp->engine->now;
}

/* It was removed while its container ends, and is wanted again: a new task. */
static void renew(struct svc_inst *i)
{
    struct svc_task *t = i->task;

    forget_container(t);
    t->retries = (struct svc_fw_retries){ 0 };
    t->refusals = 0;
    t->created_at = i->comp->engine->now;
    t->given_back = true;
}

static void took_container(struct svc_inst *i)
{
    struct svc_task *t = i->task;

    forget_container(t);
    t->refusals = 0;
    t->container = svc_container_id(&i->container);
    t->node = i->container.node;
    t->listed = i->comp->engine->fw->list;
}

void svc_task_decide(struct svc_inst *i, int32_t code, const char *why)
{
    struct svc_task *t = i->task;
    struct svc_fw_exit x;

    svc_fw_exit_of_code(i->comp->engine->fw->exits, code, &x);
    t->exited = true;
    t->exit_code = code;
    t->type = x.type;
    t->description = x.description;
    t->ended_at = i->comp->engine->now;
    svc_set_text(&i->decided, why);
}

/* Its container is to end. Unless the reason was given, it did not start: svc_start_failed(). */
static void ends_container(struct svc_inst *i)
{
    if (i->task->exited || i->task->given_back)
        return;
    svc_task_decide(i, SVC_FW_EXIT_NM_LAUNCH_FAILED, i->diagnostics);
}

static void left(struct svc_inst *i, int from)
{
    if (from == SVC_PENDING) {
        svc_task_unwait(i);
    }
    if (from == SVC_LIVE)
        svc_gang_forget(i);
}

void svc_task_moved(struct svc_inst *i, int from, int to)
{
    if (!i->task)
        make_task(i);
    left(i, from);
    switch (to) {
    case SVC_PENDING:
        svc_task_wait(i);
        break;
    case SVC_LIVE:
        took_container(i);
        break;
    case SVC_RESTARTING:
        if (from == SVC_RELEASING)
            renew(i);
        else
            ends_container(i);
        break;
    default:
        break;
    }
    svc_task_tell(i);
}

bool svc_task_may_launch(struct svc_inst *i)
{
    if (i->comp->engine->fw->descriptor->gang)
        return svc_gang_may_launch(i);
    i->task->launched_at = i->comp->engine->now;
    return true;
}

void svc_task_end(struct svc_inst *i, int32_t code, const char *why)
{
    svc_task_decide(i, code, why);
    (void)svc_instance_event(i, SVC_INSTANCE_EV_DESTROY, NULL);
}

/* ---- ends ------------------------------------------------------------------------------------*/

static void exit_of(struct svc_inst *i, int32_t exit_status)
{
    struct svc_task *t = i->task;
    struct svc_fw_exit x;

    if (t->exited) { /* decided before */
        svc_set_text(&i->diagnostics, i->decided);
        return;
    }
    svc_fw_exit_of_raw(i->comp->engine->fw->exits, exit_status, i->diagnostics, &x);
    t->exited = true;
    t->exit_code = x.code;
    t->type = x.type;
    t->description = x.description;
    t->ended_at = i->comp->engine->now;
}

bool svc_task_relaunch(struct svc_inst *i, int32_t exit_status, enum svc_outcome *outcome)
{
    struct svc_task *t = i->task;

    if (i->list == SVC_RELEASING)
        return false;
    if (t->given_back) {
        forget_container(t);
        return true;
    }
    exit_of(i, exit_status);
    *outcome = t->type == SVC_FW_SUCCEEDED ? SVC_OUT_SUCCESS : SVC_OUT_FAILED;
    if (svc_fw_decide(&svc_fw_role_of(i)->retry, t->type, &t->retries, &t->retries) == SVC_FW_END) {
        t->completed_at = i->comp->engine->now;
        return false;
    }
    forget_container(t);
    return true;
}

void svc_task_ended(struct svc_inst *i, struct svc_entry *n, bool short_lived)
{
    (void)n;
    (void)short_lived;
    svc_set_text(&i->decided, NULL);
    if (i->state == SVC_INSTANCE_SUCCEEDED || i->state == SVC_INSTANCE_FAILED)
        svc_completion_of_task(i);
}
