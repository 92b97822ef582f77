/* The services API's backend in a real cluster, as one user and until a deadline: definitions in
 * service/store/, the ResourceManager by client/lib/, masters by ClientAMProtocol. Blocking, on an
 * event loop of its own: for the process of one request.
 *
 * Hostile: masters, whose host, port and answers users choose. */
#ifndef SELVEDGE_SERVICE_CLUSTER_CLUSTER_H
#define SELVEDGE_SERVICE_CLUSTER_CLUSTER_H

#include "service/api/backend.h"

struct svc_cluster;
struct svc_kerberos_conf;

struct svc_cluster_config {
    struct sv_conf *conf; /* outlives it, as `user` */
    const char *user;
    int64_t deadline_ms; /* from now, for all calls together */
    const char *program; /* file of this machine: the master that nodes fetch */
    const struct svc_kerberos_conf *kerberos; /* outlives it; NULL: a cluster without Kerberos */
};

int svc_cluster_new(const struct svc_cluster_config *cfg, struct svc_cluster **ret,
                    struct sv_error *err) _must_use_;
struct svc_cluster *svc_cluster_free(struct svc_cluster *c);
/* Gets the ticket now, with Kerberos: else when it is first needed. */
int svc_cluster_log_in(struct svc_cluster *c, struct sv_error *err) _must_use_;
/* Lives as long as the cluster. */
const struct svc_backend *svc_cluster_backend(struct svc_cluster *c);

/* Rows of the keys that are read here, for printing. */
const struct sv_conf_key *svc_cluster_keys(size_t *ret_n);

#endif
