/* Where records are kept, behind one const struct of functions: a directory of a file system
 * (directory.h), ZooKeeper (zookeeper.h). No function blocks: each returns 0 and calls back once
 * from the loop, or returns -errno and does not. Paths are the registry's (path.h). */
#ifndef SELVEDGE_REGISTRY_BACKEND_H
#define SELVEDGE_REGISTRY_BACKEND_H

#include "common/base.h"

#define REG_NAMES_MAX 200000 /* names in one listing */

struct reg_backend;

/* `why`: a text where status < 0. Status: 0 or -errno; -ENOTCONN and all that are no other's: away,
 * to be tried again; -EACCES, -EINVAL, -E2BIG: it will not be better soon. */
typedef void (*reg_done)(int status, const char *why, void *userdata);
/* The names live until the callback returns. A folder that is not there has none. */
typedef void (*reg_listed)(int status, char *const *names, size_t n, const char *why,
                           void *userdata);
/* -ENOENT: there is none. */
typedef void (*reg_got)(int status, const void *bytes, size_t len, const char *why, void *userdata);

struct reg_backend_ops {
    const char *name;
    /* Creates or replaces it, with the folders above it. */
    int (*put)(struct reg_backend *b, const char *path, const void *text, size_t len, reg_done done,
               void *userdata);
    /* A missing one is success. With others below it: -ENOTEMPTY, or it alone is removed. */
    int (*remove)(struct reg_backend *b, const char *path, reg_done done, void *userdata);
    /* With all below it. */
    int (*remove_tree)(struct reg_backend *b, const char *path, reg_done done, void *userdata);
    int (*list)(struct reg_backend *b, const char *path, reg_listed done, void *userdata);
    int (*get)(struct reg_backend *b, const char *path, reg_got done, void *userdata);
    /* No callback runs afterwards; not from a callback. */
    void (*free)(struct reg_backend *b);
};
struct reg_backend { /* the first member of a back end's own struct */
    const struct reg_backend_ops *ops;
    const char *where;             /* for messages */
    void (*ready)(void *userdata); /* called when it is there again, if it can tell; may be NULL */
    void *userdata;
};

static inline struct reg_backend *reg_backend_free(struct reg_backend *b)
{
    if (b)
        b->ops->free(b);
    return NULL;
}

#endif
