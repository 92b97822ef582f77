/* Writes the changes of commits to ZooKeeper, in their order and several commits at once, a request
 * at a time. Each request sets the fencing node, too, from the version that the last one left: once
 * another server has set it, no request of this one is done. A request whose answer was lost is
 * sent again if that node says that it was not done. */
#ifndef SELVEDGE_SERVICE_HA_WRITER_H
#define SELVEDGE_SERVICE_HA_WRITER_H

#include "common/zookeeper/zk.h"
#include "service/ha/batch.h"
#include "service/ha/tree.h"

struct svc_ha_writer;

struct svc_ha_writer_config { /* texts are copied */
    struct sv_zk *zk;
    const char *fence;            /* the node */
    const char *id;               /* what this server writes there */
    int32_t version;              /* of that node */
    struct svc_ha_tree *tree;     /* the nodes that there are; taken */
    void (*kept)(void *userdata); /* svc_ha_writer_kept() has grown */
    /* It writes nothing more. -ESTALE: another server has the frameworks. */
    void (*failed)(int status, void *userdata);
    void *userdata;
};

/* -ENOMEM: the tree is still the caller's. */
int svc_ha_writer_new(const struct svc_ha_writer_config *cfg, struct svc_ha_writer **ret)
    _must_use_;
struct svc_ha_writer *svc_ha_writer_free(struct svc_ha_writer *w); /* not from its callbacks */
/* It writes nothing more, but for what has been sent. */
void svc_ha_writer_stop(struct svc_ha_writer *w);
/* Takes the changes, which are commit `ticket`. -ENOMEM; -EIO: it has failed. */
int svc_ha_writer_commit(struct svc_ha_writer *w, struct svc_ha_batch *changes, uint64_t ticket)
    _must_use_;
/* The session is connected again. */
void svc_ha_writer_go_on(struct svc_ha_writer *w);
uint64_t svc_ha_writer_kept(const struct svc_ha_writer *w); /* the last commit that is written */
/* The last commit that the tree shows. */
uint64_t svc_ha_writer_shown(const struct svc_ha_writer *w);
const struct svc_ha_tree *svc_ha_writer_tree(const struct svc_ha_writer *w);

#endif
