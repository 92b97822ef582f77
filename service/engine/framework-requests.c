/* Requests of tasks: one each, with a priority that no other has, for a time; tasks that wait for
 * theirs, lowest index first, or rest since there was no place. */
#include "service/engine/ends.h"
#include "service/engine/framework-task.h"
#include "service/engine/requests.h"

#define OWN_IDS ((int64_t)1 << 32) /* of requests; one behind it has priority 0 */

static int64_t random_between(struct svc_engine *e, int64_t min, int64_t max)
{
    return min + (int64_t)(svc_random(e) % (uint64_t)(SV_MAX(max - min, 0) + 1));
}

static void stop_waiting(struct svc_inst *i)
{
    struct svc_comp *c = i->comp;
    struct svc_task *t = i->task;

    if (t->wait == SVC_TASK_WAITS)
        svc_timer_disarm(&c->engine->fw->roles[c->index].waiting, &t->place);
    if (t->wait == SVC_TASK_RESTS) {
        svc_timer_disarm(&c->engine->timers, &t->place);
        c->held--;
    }
    t->wait = SVC_TASK_NO_WAIT;
}

void svc_task_wait(struct svc_inst *i)
{
    struct svc_comp *c = i->comp;

    stop_waiting(i);
    i->task->wait = SVC_TASK_WAITS;
    svc_timer_arm(&c->engine->fw->roles[c->index].waiting, &i->task->place, 0, i->number);
    svc_dirty(c);
}

static void rest(struct svc_inst *i, int64_t ms)
{
    struct svc_comp *c = i->comp;

    stop_waiting(i);
    i->task->wait = SVC_TASK_RESTS;
    c->held++;
    svc_timer_arm(&c->engine->timers, &i->task->place, SVC_TIMER_REST, c->engine->now + ms);
    svc_task_tell(i);
    svc_dirty(c);
}

static void ask_for(struct svc_inst *i)
{
    struct svc_comp *c = i->comp;
    struct svc_engine *e = c->engine;
    const struct svc_fw_times *times = &e->fw->times;
    struct svc_request *r = svc_request_new(c, 0);

    stop_waiting(i);
    r->inst = i;
    r->priority = (int32_t)((r->id - OWN_IDS - 1) & INT32_MAX);
    i->request = r;
    svc_task_tell(i);
    svc_request_set(r, 1);
    svc_timer_arm(&e->timers, &r->escalate, SVC_TIMER_ESCALATE,
                  e->now + random_between(e, times->request_min, times->request_max));
}

void svc_fw_ask(struct svc_comp *c, int64_t n)
{
    struct svc_engine *e = c->engine;
    struct svc_timers *waiting = &c->engine->fw->roles[c->index].waiting;
    struct svc_timer *t;

    e->fw->blocked = svc_fw_strangers(e);
    if (e->fw->blocked)
        return;
    for (; n > 0 && e->budget && (t = svc_timer_take(waiting, INT64_MAX)); n--) {
        struct svc_task *task = SVC_TIMER_OWNER(t, struct svc_task, place);

        task->wait = SVC_TASK_NO_WAIT;
        ask_for(task->inst);
        e->budget--;
    }
}

static void take_back(struct svc_inst *i)
{
    struct svc_request *r = i->request;

    svc_request_set(r, 0);
    svc_request_free(r);
}

/* Nobody answered: another one, with another priority, may be placed elsewhere. */
void svc_fw_escalate(struct svc_request *r)
{
    struct svc_inst *i = r->inst;

    take_back(i);
    svc_task_tell(i);
    svc_task_wait(i);
}

struct svc_request *svc_fw_match(const struct svc_engine *e, const struct svc_allocated *a)
{
    return svc_request_find(e, OWN_IDS + 1 + a->priority);
}

/* A refused one is asked for again at once, then after 1 s, 2 s, …: the ResourceManager may give
 * the same host each time. */
void svc_fw_hold(struct svc_comp *c, struct svc_inst *i, int64_t count, enum svc_hold why)
{
    struct svc_engine *e = c->engine;
    const struct svc_fw_times *times = &e->fw->times;
    uint32_t refusals = i->task->refusals;
    int64_t wait = SV_MAX(e->limits.retry_min_ms, 1);

    (void)count;
    if (why == SVC_HOLD_REJECTED) {
        rest(i, random_between(e, times->retry_min, times->retry_max));
        return;
    }
    i->task->refusals += refusals < UINT32_MAX;
    svc_task_tell(i);
    if (!refusals) {
        svc_task_wait(i);
        return;
    }
    while (--refusals && wait < e->limits.retry_max_ms)
        wait *= 2;
    rest(i, SV_MIN(wait, SV_MAX(e->limits.retry_max_ms, 1)));
}

void svc_task_rested(struct svc_task *t)
{
    t->wait = SVC_TASK_NO_WAIT;
    t->inst->comp->held--;
    svc_task_wait(t->inst);
}

void svc_task_unwait(struct svc_inst *i)
{
    stop_waiting(i);
    if (i->request)
        take_back(i);
}
