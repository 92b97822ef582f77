/* The ordered list of operations, with the memory of their texts. */
#ifndef SELVEDGE_SERVICE_ENGINE_OPS_H
#define SELVEDGE_SERVICE_ENGINE_OPS_H

#include "service/engine/engine.h"

struct svc_ops {
    struct svc_op *list;
    size_t n, size;
    struct sv_arena *texts;
    uint32_t generation; /* of the list */
    bool read;           /* by the caller: the next input begins a new list */
};

/* Appends; all other fields are zero or none. The pointer lives until the next call. */
struct svc_op *svc_op_add(struct svc_ops *ops, enum svc_op_type type);
const char *svc_op_text(struct svc_ops *ops, const char *text);
const char **svc_op_hosts(struct svc_ops *ops, size_t n);
void svc_ops_reset(struct svc_ops *ops);
void svc_ops_free(struct svc_ops *ops);

#endif
