/* Several launchers with one store in ZooKeeper, of which one is active. Below the root, beside the
 * nodes of nodes.h:
 *
 *     Active   ephemeral: who is active: an id of this life of a session, a space, its URL
 *     Fence    the id of the last one that was active, a space, a number
 *
 * The server that makes Active then sets Fence, which ends all writing of the one before, and reads
 * everything.
 * Each of its requests sets Fence from the version that it knows (writer.h). It acts for as long as
 * its session is certain to live: for two thirds of the timeout after the last question for Active
 * that was answered. On the loop: nothing waits. */
#ifndef SELVEDGE_SERVICE_HA_HA_H
#define SELVEDGE_SERVICE_HA_HA_H

#include <systemd/sd-event.h>

#include "common/zookeeper/zk-conf.h"
#include "service/launcher/store.h"

#define SVC_HA_ROOT_MAX 256 /* bytes of the root */
#define SVC_HA_URL_MAX 512  /* bytes of a server's URL */

struct svc_ha;

struct svc_ha_config { /* texts are copied */
    sd_event *event;
    const struct sv_zk_settings *settings; /* with servers; outlives it */
    const char *root;                      /* "/a/b" */
    const char *url;                       /* of this server */
    /* It is active: the store, which has everything, is the callee's. */
    void (*active)(struct svc_lr_store *store, void *userdata);
    /* It no longer is, and the store fails: it is to be closed, now or soon. */
    void (*lost)(void *userdata);
    void (*kept)(void *userdata); /* the store keeps more */
    void *userdata;
};

/* Connects, and is active when it can be. -EINVAL: no root, or the URL is too long; -ELIBACC: the
 * library is missing; -ENOMEM. */
int svc_ha_new(const struct svc_ha_config *cfg, struct svc_ha **ret, struct sv_error *err)
    _must_use_;
struct svc_ha *svc_ha_free(struct svc_ha *h); /* the store first; at the program's end */
/* It is active, but cannot be: another one may try. `why` is logged. Not from
 * svc_ha_config.active. */
void svc_ha_resign(struct svc_ha *h, const char *why);
/* The URL of the server that is active, as far as this one knows, valid until the loop runs; NULL:
 * of none, or itself. */
const char *svc_ha_other(const struct svc_ha *h);
/* -EINVAL: not a root. */
int svc_ha_check_root(const char *root) _must_use_;

/* ---- For store.c ---- */
struct svc_ha_writer;
struct svc_ha_texts;
/* How a store is made: it writes by `w`, has the nodes in `texts`, which are taken, and may act
 * until the monotonic time *until_ms. That outlives it, as `w` does, or svc_ha_store_end() comes
 * first. */
struct svc_ha_store_config {
    const char *root;
    struct svc_ha_writer *w;
    struct svc_ha_texts *texts;
    const int64_t *until_ms;
    void (*breathe)(void *userdata); /* now and then while it is read; it may end the store */
    void (*closed)(void *userdata);  /* the launcher has closed it */
    void *userdata;
};
/* NULL: no memory. */
struct svc_lr_store *svc_ha_store_new(const struct svc_ha_store_config *cfg);
/* Its writer is gone: each commit fails, and says why. */
void svc_ha_store_end(struct svc_lr_store *s, const char *why);

#endif
