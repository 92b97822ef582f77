/* Bodies of calls that may be long, as values: reading a MiB takes 10 ms and more, so that it is
 * done on a thread. Nothing here knows the launcher. Hostile: bodies. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_BODY_H
#define SELVEDGE_SERVICE_LAUNCHER_BODY_H

#include <jansson.h>

#include "service/framework/descriptor.h"

enum svc_lr_body_kind {
    SVC_LR_BODY_SHORT, /* of any other call: it is refused where it is long */
    SVC_LR_BODY_FRAMEWORK,
    SVC_LR_BODY_CLUSTER,
    SVC_LR_BODY_ACL,
};
struct svc_lr_body {
    enum svc_lr_body_kind kind;
    int status; /* 0, -EINVAL, -EFBIG: too many bytes or values, -ENOMEM */
    char *bad;  /* -EINVAL: the violations, malloc'd */
    /* ---- SVC_LR_BODY_FRAMEWORK ---- */
    struct sv_arena *arena;
    struct svc_fw_descriptor *d;
    char *text; /* its JSON, with defaults, malloc'd; NULL: no memory */
    /* ---- The others ---- */
    json_t *value; /* owned */
};

/* The kind by a request's method and path. */
enum svc_lr_body_kind svc_lr_body_kind(const char *method, const char *uri);
/* Reads `len` bytes; `ret` is to be freed whatever its status is. `gpus`: the cluster has GPUs,
 * else a framework that asks for some is refused. Of SVC_LR_BODY_SHORT nothing is read. */
void svc_lr_body_read(enum svc_lr_body_kind kind, const char *json, size_t len, bool gpus,
                      struct svc_lr_body *ret);
void svc_lr_body_free(struct svc_lr_body *b);
/* The framework, which was read well, becomes a user's, who needs no escapes in JSON. -ENOMEM: it
 * is of no use any more. */
int svc_lr_body_set_user(struct svc_lr_body *b, const char *user) _must_use_;

#endif
