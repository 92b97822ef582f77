/* Walks through an application's aggregated logs: its directories, the nodes' files in each, their
 * containers, and the files of these. Synchronous. Hostile: all bytes and names. */
#ifndef SELVEDGE_CLIENT_LOGS_LOG_WALK_H
#define SELVEDGE_CLIENT_LOGS_LOG_WALK_H

#include "client/logs/log-places.h"

struct fs_identity;

struct cli_log_visitor {
    /* Return true if the container, or this file of it, is wanted. Then bytes() receives the file,
     * without its first *ret_from bytes (0 unless set), and end() is called. `node`:
     * "host:port". */
    bool (*container)(void *userdata, const char *id);
    bool (*file)(void *userdata, const char *node, const char *id, const char *name,
                 uint64_t length, uint64_t *ret_from);
    void (*bytes)(void *userdata, const void *p, size_t n);
    void (*end)(void *userdata);
    /* NULL, or: true ends the walk before the next container. */
    bool (*enough)(const void *userdata);
    /* A directory or a node's file cannot be read; the walk continues. */
    void (*problem)(void *userdata, const char *text);
    void *userdata;
    int64_t since_ms; /* file() is not called for nodes' files last written before; 0: no limit */
};

/* Returns the number of nodes' files found, or -errno. `who`: the reader. */
int cli_log_walk(struct sv_conf *c, const struct fs_identity *who, const struct cli_places *places,
                 const struct cli_log_visitor *v, struct sv_error *err) _must_use_;

#endif
