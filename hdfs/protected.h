/* How the bytes of a connection to a DataNode travel after a SASL handshake with integrity or
 * privacy: in a SASL layer (wrapped-bytes.h) or encrypted by AES (aes-bytes.h). */
#ifndef SELVEDGE_HDFS_PROTECTED_H
#define SELVEDGE_HDFS_PROTECTED_H

#include "common/base.h"
#include "common/error.h"

struct hdfs_protected;

struct hdfs_protected_functions {
    /* As hdfs_send() and hdfs_receive(), on the connection's socket. */
    int (*send)(struct hdfs_protected *p, int fd, const void *data, size_t n, struct sv_error *err);
    int (*receive)(struct hdfs_protected *p, int fd, void *data, size_t n, struct sv_error *err);
    /* True if bytes that have been taken from the socket wait for receive(). NULL: none ever do. */
    bool (*waiting)(const struct hdfs_protected *p);
    void (*free)(struct hdfs_protected *p);
};

/* The first member of each kind's own. */
struct hdfs_protected {
    const struct hdfs_protected_functions *f;
};

static inline struct hdfs_protected *hdfs_protected_free(struct hdfs_protected *p)
{
    if (p)
        p->f->free(p);
    return NULL;
}
static inline void hdfs_protected_freep(struct hdfs_protected **p)
{
    *p = hdfs_protected_free(*p);
}

#endif
