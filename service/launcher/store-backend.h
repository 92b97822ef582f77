/* A place where the launcher's state is kept, for the files that are one; see store.h. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_STORE_BACKEND_H
#define SELVEDGE_SERVICE_LAUNCHER_STORE_BACKEND_H

#include "service/launcher/store.h"

enum svc_lr_row_kind {
    SVC_LR_ROW_REQUEST, /* name: framework; value; tasks */
    SVC_LR_ROW_STATUS,  /* name: framework; value */
    SVC_LR_ROW_REMOVE,  /* name: framework */
    SVC_LR_ROW_TASK,    /* tasks, role, index; value */
    SVC_LR_ROW_NO_TASK, /* tasks, role, index */
    SVC_LR_ROW_DROP,    /* tasks */
    SVC_LR_ROW_KILL,    /* name: application; value: user; more: framework or ""; owner */
    SVC_LR_ROW_KILLED,  /* name: application */
    SVC_LR_ROW_META,    /* name: key; value */
    SVC_LR_N_ROWS
};
struct svc_lr_row {
    enum svc_lr_row_kind kind;
    const char *name, *value, *more, *role;
    const char *owner; /* framework: what one transaction writes of it stays together */
    int64_t tasks;
    int32_t index;
};

struct svc_lr_store_backend {
    void (*begin)(struct svc_lr_store *s);
    int (*commit)(struct svc_lr_store *s); /* -EIO: nothing is written, and `why` says why */
    void (*rollback)(struct svc_lr_store *s);
    void (*write)(struct svc_lr_store *s, const struct svc_lr_row *row);
    bool (*has_dropped)(const struct svc_lr_store *s);
    void (*sweep)(struct svc_lr_store *s); /* between begin and commit */
    int (*load)(struct svc_lr_store *s, const struct svc_lr_rows *rows, void *userdata,
                struct sv_error *err);
    struct svc_lr_store *(*close)(struct svc_lr_store *s);
    /* ---- NULL where a commit is on disk when it returns ---- */
    uint64_t (*kept)(const struct svc_lr_store *s); /* the last commit that is safe */
    bool (*may_act)(const struct svc_lr_store *s);
    size_t value_max; /* 0: none */
};

struct svc_lr_store {
    const struct svc_lr_store_backend *backend;
    bool open;
    uint64_t commits, failures;
    char why[256];
};

#endif
