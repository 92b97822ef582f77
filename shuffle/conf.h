/* Settings of the shuffle server: Hadoop's keys mapreduce.shuffle.*, as the NodeManager read them.
 */
#ifndef SELVEDGE_SHUFFLE_CONF_H
#define SELVEDGE_SHUFFLE_CONF_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"

struct shf_conf {
    uint16_t port; /* 0: any */
    int backlog;
    bool keep_alive;          /* for every request, not only for those that ask for it */
    unsigned keep_alive_s;    /* a kept connection without a request */
    unsigned max_connections; /* 0: as many as the limits allow */
    unsigned threads;         /* 0: two a processor */
    unsigned session_files;   /* files that one answer holds open */
    bool tls;
    bool sendfile;     /* else read and written; never with TLS */
    size_t buffer;     /* for that */
    bool manage_cache; /* what was sent leaves the page cache */
    size_t readahead;  /* 0: none */
};

/* -EINVAL: a bad value, or a key that must not be ignored. `ret_ignored` gets a line that names the
 * keys that are set and have no effect, "" if there are none. */
int shf_conf_load(struct sv_conf *c, struct shf_conf *ret, char *ret_ignored, size_t ignored_size,
                  struct sv_error *err) _must_use_;

#endif
