/* Hadoop's keys of LdapGroupsMapping (hadoop.security.group.mapping.ldap.*): where the groups of
 * users are asked for. The files are the operator's. */
#ifndef SELVEDGE_COMMON_LDAP_LDAP_CONF_H
#define SELVEDGE_COMMON_LDAP_LDAP_CONF_H

#include "common/conf.h"

#define SV_LDAP_MAPPING "org.apache.hadoop.security.LdapGroupsMapping"
#define SV_LDAP_URLS_MAX 16
#define SV_LDAP_LEVELS_MAX 10
#define SV_LDAP_ATTEMPTS_MAX 20
#define SV_LDAP_PASSWORD_MAX 4096

struct sv_ldap_conf {
    bool on;         /* hadoop.security.group.mapping names it; else nothing else is set */
    char **urls;     /* "ldap://host:port", "ldaps://…"; 1 to SV_LDAP_URLS_MAX */
    char *bind_user; /* a DN; "": anonymous */
    char *password;  /* of its file; "" with an anonymous one */
    char *user_base, *group_base;
    char *user_filter, *group_filter;
    char *
        member_of; /* an attribute of users with the DNs of their groups; "": groups are searched */
    char *member, *group_name;
    char *posix_uid, *posix_gid;
    char *ca_file;                 /* PEM; "": libldap's */
    bool posix;                    /* groups are found by the numbers of users */
    int levels;                    /* groups of groups */
    int attempts, attempts_at_one; /* of one question, and of these at one server */
    int64_t connect_ms, read_ms, search_ms;
};

/* -EINVAL, -EOPNOTSUPP, or of the password's file, with the key and the remedy. */
int sv_ldap_conf_read(struct sv_conf *c, struct sv_ldap_conf *ret, struct sv_error *err) _must_use_;
void sv_ldap_conf_free(struct sv_ldap_conf *c); /* overwrites the password */
const struct sv_conf_key *sv_ldap_conf_keys(size_t *ret_n);

#endif
