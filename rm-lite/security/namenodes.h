/* The cluster's NameNodes, found by the service of a delegation token: "ha-hdfs:nameservice",
 * "host:port", or, as clients write it by default, "ip:port". Jobs bring tokens: the
 * ResourceManager logs in at NameNodes alone that its configuration names. */
#ifndef SELVEDGE_RM_LITE_SECURITY_NAMENODES_H
#define SELVEDGE_RM_LITE_SECURITY_NAMENODES_H

#include "common/conf.h"
#include "hdfs/namenode-proxy.h"

struct rm_namenodes;

/* Begins to look up the addresses of their names, again each five minutes. -ENOMEM. */
int rm_namenodes_new(struct sv_conf *conf, const struct hdfs_login *login,
                     struct rm_namenodes **ret) _must_use_;
/* Ends open calls with -ECANCELED. Accepts NULL, returns NULL. */
struct rm_namenodes *rm_namenodes_free(struct rm_namenodes *n);
/* The connection for a token's service, kept by `n`. -EACCES: a NameNode that the configuration
 * does not name; -EAGAIN: the addresses are not known yet; another with the reason. */
int rm_namenodes_find(struct rm_namenodes *n, const char *service, struct ipc_proxy **ret,
                      struct sv_error *err) _must_use_;

#endif
