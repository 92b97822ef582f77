/* Reads all nodes of the launcher's store, with many requests at once. */
#ifndef SELVEDGE_SERVICE_HA_READING_H
#define SELVEDGE_SERVICE_HA_READING_H

#include "common/zookeeper/zk.h"
#include "service/ha/tree.h"

#define SVC_HA_NODES_MAX 2000000
#define SVC_HA_BYTES_MAX ((size_t)1 << 30) /* of paths and values */

struct svc_ha_text {
    char *path; /* below the root */
    char *value;
    size_t len; /* a NUL follows */
};
struct svc_ha_texts {
    struct svc_ha_text *list;
    size_t n, max, bytes;
};
void svc_ha_texts_free(struct svc_ha_texts *t);

/* The first -errno, or 0: both hold what was found, which the callee may take. */
typedef void (*svc_ha_read_fn)(int status, struct svc_ha_texts *texts, struct svc_ha_tree *tree,
                               void *userdata);
struct svc_ha_reading;
/* -ENOTCONN, -ENOMEM: no callback runs. `root` is copied. */
int svc_ha_read(struct sv_zk *zk, const char *root, svc_ha_read_fn fn, void *userdata,
                struct svc_ha_reading **ret) _must_use_;
/* Gives it up, unless its callback runs or has run. */
void svc_ha_reading_give_up(struct svc_ha_reading *r);

#endif
