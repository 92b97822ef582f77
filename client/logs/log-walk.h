/* Walks through an application's aggregated logs: its places, the nodes' files in each, their
 * containers, and the files of these. Synchronous. Hostile: every byte and name of them. */
#ifndef SELVEDGE_CLIENT_LOGS_LOG_WALK_H
#define SELVEDGE_CLIENT_LOGS_LOG_WALK_H

#include "client/logs/log-places.h"

struct cli_log_visitor {
    /* Is the container, or this file of it, wanted? Then bytes() gets the file, without its first
     * *ret_from bytes (0 unless set), and end() is called. `node`: "host:port". */
    bool (*container)(void *userdata, const char *id);
    bool (*file)(void *userdata, const char *node, const char *id, const char *name,
                 uint64_t length, uint64_t *ret_from);
    void (*bytes)(void *userdata, const void *p, size_t n);
    void (*end)(void *userdata);
    /* NULL, or: true ends the walk before the next container. */
    bool (*enough)(const void *userdata);
    /* A place or a node's file cannot be read; the walk goes on. */
    void (*problem)(void *userdata, const char *text);
    void *userdata;
    int64_t since_ms; /* of nodes' files that were written before no file is asked for; 0: of all */
};

/* The number of nodes' files that were found, or -errno. `user`: who reads. */
int cli_log_walk(struct sv_conf *c, const char *user, const struct cli_places *places,
                 const struct cli_log_visitor *v, struct sv_error *err) _must_use_;

#endif
