/* hadoop-policy.xml: who may connect to which protocol of a daemon, from which machines, where
 * hadoop.security.authorization is true. Trusted: the file. Hostile: the caller's name. */
#ifndef SELVEDGE_COMMON_IDENTITY_SERVICE_POLICY_H
#define SELVEDGE_COMMON_IDENTITY_SERVICE_POLICY_H

#include <netinet/in.h>

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"
#include "common/user-groups.h"

#define SV_POLICY_FILE "hadoop-policy.xml"
#define SV_POLICY_ACL_MAX ((size_t)64 << 10) /* bytes of a list of users and groups */

/* A protocol of a daemon, and the middle of its keys: security.NAME.protocol.acl, .acl.blocked,
 * .hosts, .hosts.blocked. */
struct sv_service {
    const char *protocol; /* "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB" */
    const char *name;     /* "containermanagement" */
};
/* The protocols of Hadoop's daemons; the last row has none. */
extern const struct sv_service sv_services_nodemanager[];
extern const struct sv_service sv_services_resourcemanager[];

struct sv_policy;

/* Reads SV_POLICY_FILE of the directory `dir` behind its core-site.xml and yarn-site.xml, as Hadoop
 * does. Keys that are not set follow security.service.authorization.default.*, and these admit
 * everybody and block nobody. 1 in place of 0: there is no such file, so that those decide alone.
 * -EINVAL: a list that is none, with its file and line. */
int sv_policy_load(const struct sv_service *services, const char *dir, struct sv_policy **ret,
                   struct sv_error *err) _must_use_;
/* As above, from a configuration that has been read. */
int sv_policy_read(const struct sv_service *services, struct sv_conf *c, struct sv_policy **ret,
                   struct sv_error *err) _must_use_;
struct sv_policy *sv_policy_free(struct sv_policy *p);
static inline void sv_policy_freep(struct sv_policy **p)
{
    *p = sv_policy_free(*p);
}
/* False if the list of users of a protocol, by its class, leaves out or blocks anybody. */
bool sv_policy_admits_all(const struct sv_policy *p, const char *protocol);

struct sv_policy_caller {
    const char *user;          /* the account's name, that of the list */
    const char *method;        /* "TOKEN", "SIMPLE", "KERBEROS", for the answer */
    const char *real_user;     /* who acts for the user; NULL: nobody */
    const struct in6_addr *ip; /* IPv4 as mapped */
    struct sv_groups *groups;  /* NULL: the user has none, as an application attempt */
};
/* 0: the caller may use the protocol. -EACCES, with Hadoop's words: it may not, or the protocol is
 * not of the table. -EAGAIN: the user's groups are being looked up. A user whose groups nobody
 * knows does not pass a list that blocks groups. */
int sv_policy_check(const struct sv_policy *p, const char *protocol,
                    const struct sv_policy_caller *caller, struct sv_error *err) _must_use_;

#endif
