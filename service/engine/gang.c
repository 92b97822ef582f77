/* Gangs: tasks are launched once all of them have a container. A round begins when the first task
 * is outstanding and ends when none is; one that lasts too long ends the application. A task whose
 * container still ends is outstanding: it may come back. Tasks that run are not touched by a later
 * round. */
#include <inttypes.h>
#include <stdio.h>

#include "service/engine/framework-task.h"

bool svc_gang_may_launch(struct svc_inst *i)
{
    struct svc_fw *f = i->comp->engine->fw;
    struct svc_task *t = i->task;

    t->gated = true;
    t->round = f->round;
    DL_APPEND2(f->gated, t, g_prev, g_next);
    return false;
}

void svc_gang_forget(struct svc_inst *i)
{
    struct svc_fw *f = i->comp->engine->fw;

    if (i->task->gated)
        DL_DELETE2(f->gated, i->task, g_prev, g_next);
    i->task->gated = false;
}

static void launch(struct svc_engine *e)
{
    struct svc_fw *f = e->fw;
    struct svc_task *t;

    while ((t = f->gated) && t->round < f->round) {
        struct svc_inst *i = t->inst;

        if (!e->budget) {
            svc_dirty(i->comp);
            return;
        }
        e->budget--;
        svc_gang_forget(i);
        t->launched_at = e->now;
        svc_task_tell(i);
        (void)svc_container_op(e, SVC_OP_LAUNCH, &i->container);
    }
}

void svc_gang_settle(struct svc_engine *e)
{
    struct svc_fw *f = e->fw;

    if (svc_fw_outstanding(e)) {
        if (!f->gang.place)
            svc_timer_arm(&e->timers, &f->gang, SVC_TIMER_GANG, e->now + f->times.gang);
    } else if (f->gang.place || f->gated) {
        svc_timer_disarm(&e->timers, &f->gang);
        f->round++;
    }
    launch(e);
}

void svc_gang_expired(struct svc_engine *e)
{
    char why[256];

    (void)snprintf(why, sizeof(why),
                   "%" PRId64 " tasks had no container after %" PRId64
                   " s: a gang starts with all its tasks or not at all",
                   svc_fw_outstanding(e), e->fw->times.gang / 1000);
    svc_application_end(e, SVC_FW_EXIT_GANG_TIMEOUT, NULL, why, NULL);
}
