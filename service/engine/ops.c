/* See ops.h. */
#include "service/engine/ops.h"

#include "common/oom.h"

#define LIST_KEPT 4096 /* operations: a list that was longer is freed when it was read */

static struct sv_arena *texts(struct svc_ops *ops)
{
    if (!ops->texts)
        ops->texts = sv_arena_new(0);
    if (!ops->texts)
        sv_out_of_memory();
    return ops->texts;
}

struct svc_op *svc_op_add(struct svc_ops *ops, enum svc_op_type type)
{
    if (ops->n == ops->size) {
        ops->size = ops->size ? ops->size * 2 : 64;
        ops->list = reallocarray(ops->list, ops->size, sizeof(*ops->list));
        if (!ops->list)
            sv_out_of_memory();
    }
    ops->list[ops->n] = (struct svc_op){ .type = type, .host = "", .label = "", .text = "" };
    return &ops->list[ops->n++];
}

const char *svc_op_text(struct svc_ops *ops, const char *text)
{
    const char *copy = sv_arena_strdup(texts(ops), text);

    if (!copy)
        sv_out_of_memory();
    return copy;
}

const char **svc_op_hosts(struct svc_ops *ops, size_t n)
{
    const char **hosts = sv_newn(texts(ops), const char *, n);

    if (!hosts)
        sv_out_of_memory();
    return hosts;
}

void svc_ops_reset(struct svc_ops *ops)
{
    if (ops->size > LIST_KEPT) {
        free(ops->list);
        *ops = (struct svc_ops){ .texts = ops->texts, .generation = ops->generation };
    }
    ops->texts = sv_arena_free(ops->texts);
    ops->n = 0;
    ops->generation++;
    ops->read = false;
}

void svc_ops_free(struct svc_ops *ops)
{
    free(ops->list);
    ops->texts = sv_arena_free(ops->texts);
    *ops = (struct svc_ops){ 0 };
}
