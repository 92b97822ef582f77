/* Settings of the shuffle server: Hadoop's keys mapreduce.shuffle.*, as received from the
 * NodeManager. */
#ifndef SELVEDGE_SHUFFLE_CONF_H
#define SELVEDGE_SHUFFLE_CONF_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"

struct shf_conf {
    uint16_t port; /* 0: any */
    int backlog;
    bool keep_alive;          /* for every request, not only for those that request it */
    unsigned keep_alive_s;    /* idle timeout of a kept connection */
    unsigned max_connections; /* 0: as many as the limits allow */
    unsigned threads;         /* 0: two per processor */
    unsigned session_files;   /* limit of open files per answer */
    bool tls;
    bool sendfile;     /* false, or with TLS: read() and write() */
    bool tls_sendfile; /* sendfile() with TLS, where the kernel encrypts */
    size_t buffer;     /* size of the buffer for read() and write() */
    bool manage_cache; /* drop sent bytes from the page cache */
    size_t readahead;  /* 0: none */
};

/* -EINVAL: a bad value, or an unsupported key that must not be ignored. `ret_ignored` lists the
 * keys that are set without effect, "" if there are none. */
int shf_conf_load(struct sv_conf *c, struct shf_conf *ret, char *ret_ignored, size_t ignored_size,
                  struct sv_error *err) _must_use_;

#endif
