/* The cluster's NameNodes, found by the service of a delegation token: "ha-hdfs:nameservice",
 * "host:port", or, as clients write it by default, "ip:port". Jobs bring tokens: the
 * ResourceManager logs in at NameNodes alone that its configuration names. */
#ifndef SELVEDGE_RM_LITE_SECURITY_NAMENODES_H
#define SELVEDGE_RM_LITE_SECURITY_NAMENODES_H

#include "common/conf.h"
#include "hdfs/namenode-proxy.h"

#define RM_NAMENODES_OF_JOBS_MAX 64 /* nameservices that jobs' configurations have made */
#define RM_NAMENODE_SERVICE_MAX (HDFS_HOST_MAX + 16)

struct rm_namenode; /* a file system's */
struct rm_namenodes;

/* Begins to look up the addresses of their names, again each five minutes. -ENOMEM. */
int rm_namenodes_new(struct sv_conf *conf, const struct hdfs_login *login,
                     struct rm_namenodes **ret) _must_use_;
/* Ends open calls with -ECANCELED. Accepts NULL, returns NULL. */
struct rm_namenodes *rm_namenodes_free(struct rm_namenodes *n);
/* The connection for a token's service, which stays until rm_namenodes_release(). `job`: the
 * configuration that the job sent with the token (token-conf.h), which says which NameNodes a
 * nameservice has; NULL: none. -EACCES: a NameNode that the ResourceManager's files do not name;
 * -EAGAIN: the addresses are not known yet, or jobs have too many nameservices of their own;
 * another with the reason. */
int rm_namenodes_find(struct rm_namenodes *n, const char *service, struct sv_conf *job,
                      struct rm_namenode **ret, struct sv_error *err) _must_use_;
struct ipc_proxy *rm_namenode_proxy(const struct rm_namenode *s);
/* One that a job's configuration has made goes with its last token. */
void rm_namenodes_release(struct rm_namenodes *n, struct rm_namenode *s);
/* The NameNodes of fs.defaultFS and the service of their tokens, as Hadoop's clients write it.
 * -EAGAIN: the address is not known yet; -EHOSTUNREACH: there is none. */
int rm_namenodes_default(struct rm_namenodes *n, struct hdfs_site *ret,
                         char ret_service[RM_NAMENODE_SERVICE_MAX], struct sv_error *err)
    _must_use_;

#endif
