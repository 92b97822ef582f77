/* Records on their way to a back end: of each path the newest counts, and what is done is one
 * request a path. A back end that is away delays nobody: records wait, tried again at growing
 * intervals and as soon as it is back. Memory is bounded by the paths that are in use. */
#ifndef SELVEDGE_REGISTRY_REGISTRY_H
#define SELVEDGE_REGISTRY_REGISTRY_H

#include <systemd/sd-event.h>

#include "common/buf.h"
#include "common/error.h"
#include "registry/backend.h"

#define REG_ENTRIES_MAX 300000

struct reg_registry;

enum reg_news { REG_AWAY, REG_BACK, REG_REFUSED };

struct reg_config {
    struct reg_backend *backend;        /* taken */
    int64_t retry_min_ms, retry_max_ms; /* of the intervals */
    void (*idle)(void *userdata);       /* reg_idle() became true; may be NULL */
    /* For the log; `text` names the back end. May be NULL. */
    void (*say)(enum reg_news news, const char *text, void *userdata);
    void *userdata;
};
/* On failure the back end is freed, too. */
int reg_new(sd_event *event, const struct reg_config *cfg, struct reg_registry **ret) _must_use_;
/* Waiting records are dropped. Not from a callback. Accepts NULL, returns NULL. */
struct reg_registry *reg_free(struct reg_registry *r);

/* -ENOSPC: REG_ENTRIES_MAX paths are known, or there is no memory for one; -ENOMEM. Bytes are
 * copied. */
int reg_put(struct reg_registry *r, const char *path, const void *text, size_t len) _must_use_;
/* A record that was put here, or that is known to be there by reg_known(). Others: no effect. */
void reg_remove(struct reg_registry *r, const char *path);
/* It is there already, by an earlier process. */
int reg_known(struct reg_registry *r, const char *path) _must_use_;
/* Removes the path and all below it, and forgets what waited there. */
int reg_remove_tree(struct reg_registry *r, const char *path) _must_use_;
/* Removes what the folder has and nobody put or knew, once. */
void reg_sweep(struct reg_registry *r, const char *folder);

/* Nothing waits but for a back end that is away. */
bool reg_idle(const struct reg_registry *r);

struct reg_counts {
    size_t known, waiting;             /* records */
    uint64_t written, removed, failed; /* requests since the start */
    bool away;
};
struct reg_counts reg_counts(const struct reg_registry *r);

#endif
