/* Containers that the ResourceManager lists, against those of tasks: neither side's word alone is
 * enough, a container that is missing, or that is no task's, is so in several lists.
 *
 * A container that is listed goes to the tail of its instance's list, so that those that are
 * missing are at the heads when the list has ended: nothing walks those that run. */
#include "service/engine/ends.h"
#include "service/engine/framework-task.h"
#include "service/engine/settle.h"
#include "wire/exit-status.h"

static const enum svc_list_kind kinds[] = { SVC_LIVE, SVC_RESTARTING, SVC_RELEASING };

static void to_tail(struct svc_inst *i, uint32_t list)
{
    struct svc_list *l = &i->comp->lists[i->list];

    i->task->listed = list;
    DL_DELETE(l->head, i);
    DL_APPEND(l->head, i);
}

/* ---- listed ----------------------------------------------------------------------------------*/

static void key_of(const struct yarn_container_id *id, int64_t *key)
{
    key[0] = id->attempt.app.cluster_ts;
    key[1] =
        (int64_t)((uint64_t)(uint32_t)id->attempt.app.id << 32 | (uint32_t)id->attempt.attempt);
    key[2] = id->id;
}

static void release(struct svc_engine *e, const struct yarn_container_id *id,
                    const struct svc_container *known)
{
    struct svc_op *op = svc_op_add(&e->ops, SVC_OP_RELEASE);

    op->container = *id;
    op->host = known ? known->node->host : "";
    op->port = known ? known->port : 0;
}

/* It is listed and no task's, or it is to end. */
static void exceeds(struct svc_engine *e, const struct yarn_container_id *id,
                    const struct svc_container *known)
{
    struct svc_fw *f = e->fw;
    struct svc_exceeded *x;
    int64_t key[3];

    key_of(id, key);
    HASH_FIND(hh, f->exceeded, key, sizeof(key), x);
    if (!x) {
        x = calloc(1, sizeof(*x));
        if (!x)
            sv_out_of_memory();
        key_of(id, x->key);
        HASH_ADD(hh, f->exceeded, key, sizeof(x->key), x);
    }
    x->list = f->list;
    if (++x->times <= f->descriptor->max_exceed)
        return;
    release(e, id, known);
    x->times = 0;
}

void svc_fw_listed(struct svc_engine *e, int64_t now, const struct yarn_container_id *ids, size_t n)
{
    struct svc_fw *f = e->fw;

    svc_begin(e, now);
    if (e->unregistered)
        return;
    if (!f->listing)
        f->list++;
    f->listing = true;
    for (size_t k = 0; k < n; k++) {
        const struct svc_container *c = svc_container_find(e, &ids[k]);

        if (c && c->inst) {
            to_tail(c->inst, f->list);
            if (c->inst->task->missing)
                svc_task_tell(c->inst);
            c->inst->task->missing = 0;
        }
        if (!c || !c->inst || c->inst->list != SVC_LIVE)
            exceeds(e, &ids[k], c);
    }
    svc_settle(e);
}

/* ---- missing ---------------------------------------------------------------------------------*/

static int64_t allowed(const struct svc_fw *f, const struct svc_inst *i)
{
    int32_t max = f->descriptor->max_lost;

    if (max == -1 && i->list == SVC_LIVE)
        return INT64_MAX;
    return max < 0 ? f->times.resync_rounds : max;
}

static void lose(struct svc_inst *i)
{
    static const char why[] = "the ResourceManager does not list the container any more";
    struct svc_engine *e = i->comp->engine;

    if (i->list == SVC_LIVE) {
        (void)svc_container_op(e, i->state == SVC_INSTANCE_LAUNCHING ? SVC_OP_RELEASE : SVC_OP_STOP,
                               &i->container);
        svc_task_decide(i, SVC_FW_EXIT_RM_RESYNC_LOST, why);
    }
    svc_container_ended(i, YARN_EXIT_ABORTED, NULL);
}

static void is_missing(struct svc_inst *i)
{
    struct svc_fw *f = i->comp->engine->fw;
    struct svc_task *t = i->task;

    to_tail(i, f->list);
    if (t->missing_in != f->epoch)
        t->missing = 0;
    t->missing_in = f->epoch;
    t->missing++;
    if (i->list == SVC_LIVE)
        svc_task_tell(i);
    if (t->missing > allowed(f, i))
        lose(i);
}

void svc_list_settle(struct svc_engine *e)
{
    struct svc_fw *f = e->fw;
    struct svc_inst *i;

    if (!f->sweeping)
        return;
    for (size_t c = 0; c < e->n_comps; c++)
        for (size_t k = 0; k < SV_ARRAY_LEN(kinds); k++)
            while ((i = e->comps[c]->lists[kinds[k]].head) && i->task->listed != f->list) {
                if (!e->budget) {
                    svc_dirty(e->comps[c]);
                    return;
                }
                e->budget--;
                is_missing(i);
                if (e->ending)
                    return;
            }
    f->sweeping = false;
}

static void end_strangers(struct svc_engine *e)
{
    struct svc_container *s, *s_next;
    struct svc_exceeded *x;

    DL_FOREACH_SAFE (e->surplus, s, s_next) {
        HASH_FIND(hh, e->fw->exceeded, s->key, sizeof(s->key), x);
        if (s->kept && (!x || x->list != e->fw->list))
            svc_container_remove(e, s);
    }
}

static void forget_gone(struct svc_fw *f)
{
    struct svc_exceeded *x, *next;

    HASH_ITER (hh, f->exceeded, x, next)
        if (x->list != f->list) {
            HASH_DEL(f->exceeded, x);
            free(x);
        }
}

void svc_fw_list_end(struct svc_engine *e, int64_t now, bool complete)
{
    struct svc_fw *f = e->fw;

    svc_begin(e, now);
    if (e->unregistered)
        return;
    if (!f->listing && complete)
        f->list++; /* an empty one */
    f->listing = false;
    if (complete) {
        end_strangers(e);
        forget_gone(f);
        f->sweeping = true;
    } else {
        f->epoch++;
    }
    svc_settle(e);
}

void svc_list_free(struct svc_fw *f)
{
    struct svc_exceeded *x, *next;

    HASH_ITER (hh, f->exceeded, x, next) {
        HASH_DEL(f->exceeded, x);
        free(x);
    }
}
