/* When a framework's application ends: a role's failed or succeeded tasks reach its limits, or all
 * tasks have ended. The launcher looks for the latter only when a task ends; here a framework also
 * ends when a smaller count leaves ended tasks alone, or no task at all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/engine/ends.h"
#include "service/engine/framework-task.h"
#include "service/engine/states.h"

#define MESSAGE_MAX 512

void svc_application_end(struct svc_engine *e, int32_t code, const struct svc_inst *task,
                         const char *diagnostics, const char *trigger)
{
    struct svc_fw *f = e->fw;
    struct svc_fw_exit x;
    int event;

    if (e->ending || e->unregistered)
        return;
    svc_fw_exit_of_code(f->exits, code, &x);
    if (task) { /* as it was told then, should the codes have other types now */
        x.type = task->task->type;
        x.description = task->task->description;
    }
    f->end = (struct svc_fw_end){ .ended = true,
                                  .code = code,
                                  .type = x.type,
                                  .description = x.description,
                                  .role = task ? svc_fw_role_of(task)->name : NULL,
                                  .task = task ? (int32_t)task->number : 0 };
    svc_set_text(&f->diagnostics, diagnostics);
    svc_set_text(&f->trigger, trigger);
    event = e->state == SVC_ACCEPTED     ? SVC_EV_STOP
            : x.type == SVC_FW_SUCCEEDED ? SVC_EV_SUCCEED
                                         : SVC_EV_FAIL;
    svc_end(e, event, diagnostics && *diagnostics ? diagnostics : trigger);
    e->success = x.type == SVC_FW_SUCCEEDED;
}

/* Counts of a role whose task ended. */
static bool reached(const struct svc_inst *i, char *message)
{
    const struct svc_fw_role *role = svc_fw_role_of(i);
    bool succeeded = i->state == SVC_INSTANCE_SUCCEEDED;
    int64_t n = succeeded ? i->comp->succeeded : i->comp->failed;
    int32_t limit = succeeded ? role->min_succeeded : role->min_failed;

    if (limit <= 0 || n < limit)
        return false;
    (void)snprintf(message, MESSAGE_MAX, "%s %" PRId64 " has reached %s %d in TaskRole [%s]",
                   succeeded ? "SucceededTaskCount" : "FailedTaskCount", n,
                   succeeded ? "MinSucceededTaskCount" : "MinFailedTaskCount", (int)limit,
                   role->name);
    return true;
}

void svc_completion_of_task(struct svc_inst *i)
{
    char message[MESSAGE_MAX];

    if (i->comp->engine->started && !i->comp->engine->ending && reached(i, message))
        svc_application_end(i->comp->engine, i->task->exit_code, i, i->diagnostics, message);
}

/* Tasks that ended in the attempt before, whose end may not have been acted on. */
static void look_again(struct svc_engine *e)
{
    e->fw->looked = true;
    for (size_t c = 0; c < e->n_comps; c++)
        for (size_t k = 0; k < e->comps[c]->n_slots; k++) {
            struct svc_inst *i = e->comps[c]->slots[k];

            if (i && (i->state == SVC_INSTANCE_SUCCEEDED || i->state == SVC_INSTANCE_FAILED))
                svc_completion_of_task(i);
        }
}

void svc_completion_of_all(struct svc_engine *e)
{
    int64_t total = 0, failed = 0;
    char message[MESSAGE_MAX];

    if (!e->fw->looked)
        look_again(e);
    for (size_t i = 0; i < e->n_comps; i++) {
        const struct svc_comp *c = e->comps[i];

        if (svc_wanted(c) != c->target || c->succeeded + c->failed != c->target)
            return;
        total += c->target;
        failed += c->failed;
    }
    (void)snprintf(
        message, sizeof(message),
        "All Tasks completed and no ApplicationCompletionPolicy has ever been triggered: "
        "TotalTaskCount: %" PRId64 ", FailedTaskCount: %" PRId64,
        total, failed);
    svc_application_end(e, SVC_FW_EXIT_SUCCEEDED, NULL, NULL, message);
}
