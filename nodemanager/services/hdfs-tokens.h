/* Delegation tokens of HDFS that the daemon gets for itself, with its Kerberos login, for the
 * localizer of PUBLIC resources. Hadoop's NodeManager reads those files under its own login; here a
 * process of another account reads them, which gets a token and never the ticket (ADR 51).
 *
 * A token names this node's principal. Whoever has one may do at the NameNodes of one file system
 * what that principal may do there, until the token ends: a localizer of PUBLIC resources that was
 * taken over could read what the NodeManager's account may read, and rename or remove what belongs
 * to it; a remote log directory (mode 1777) should belong to another account. It gets no other
 * token with it, since a NameNode issues those to tickets alone, and nothing at other services.
 *
 * Asked are NameNodes alone that the configuration names (hdfs/conf-cluster.h): a job names others
 * in its urls, and these never see an authentication of this node. Asynchronous: nothing blocks.
 * Secrets: never logged. Hostile: what a NameNode answers. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_HDFS_TOKENS_H
#define SELVEDGE_NODEMANAGER_SERVICES_HDFS_TOKENS_H

#include <systemd/sd-event.h>

#include "common/buf.h"
#include "common/conf.h"
#include "common/error.h"

struct ipc_kerberos;
struct nm_hdfs_tokens;

/* For /metrics. */
struct nm_hdfs_tokens_counts {
    unsigned valid;            /* file systems with a token in use */
    unsigned failing;          /* those whose last request for one has failed */
    uint64_t received, failed; /* requests so far */
};

struct nm_hdfs_tokens_config {
    sd_event *event;
    struct sv_conf *conf;                /* kept by the caller */
    const struct ipc_kerberos *kerberos; /* kept by the caller; NULL: by name alone, for tests */
    const char *renewer;                 /* our own principal; kept by the caller */
    uint32_t qop_mask;                   /* hadoop.rpc.protection */
    int64_t wait_ms; /* for a NameNode that is away, in tests; 0: as long as readers do */
    /* A token that was asked for has come, or does not come. May call nm_hdfs_tokens_get(), but not
     * free the tokens. */
    void (*changed)(void *userdata);
    void *userdata;
};

/* -ENOMEM. */
int nm_hdfs_tokens_new(const struct nm_hdfs_tokens_config *cfg, struct nm_hdfs_tokens **ret)
    _must_use_;
/* changed() is not called any more. */
struct nm_hdfs_tokens *nm_hdfs_tokens_free(struct nm_hdfs_tokens *t);

/* Credentials ("HDTS…") with the token for the file system of "hdfs://host:port"
 * (hdfs_conf_site()), valid until the loop runs again. A token is replaced after three quarters of
 * its life. -EAGAIN: it has been asked for; -EACCES: a NameNode that the configuration does not
 * name; other -errno, with a text, also of a failure of the last seconds. */
int nm_hdfs_tokens_get(struct nm_hdfs_tokens *t, const char *host, uint16_t port,
                       const struct sv_buf **ret, struct sv_error *err) _must_use_;
/* The file system has refused its token. True: it is dropped, or is being replaced; false: it is
 * too young to be replaced. */
bool nm_hdfs_tokens_refused(struct nm_hdfs_tokens *t, const char *host, uint16_t port);

void nm_hdfs_tokens_counts(const struct nm_hdfs_tokens *t, struct nm_hdfs_tokens_counts *ret);

#endif
