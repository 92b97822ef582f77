/* hadoop.security.auth_to_local: from a Kerberos principal to the account's name, by the rules that
 * Hadoop's KerberosName reads. Trusted: the rules, an operator's. Hostile: the principal.
 * krb5.conf's own auth_to_local is never read, under either mechanism. */
#ifndef SELVEDGE_COMMON_IDENTITY_AUTH_TO_LOCAL_H
#define SELVEDGE_COMMON_IDENTITY_AUTH_TO_LOCAL_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"

#define SV_AUTH_RULES_MAX 256        /* rules of a set */
#define SV_AUTH_RULES_TEXT_MAX 65536 /* bytes of a set */
#define SV_LOCAL_NAME_MAX 255        /* bytes of a result, without the NUL */

/* hadoop.security.auth_to_local.mechanism */
enum sv_auth_mechanism {
    SV_AUTH_HADOOP, /* a result has no / and no @; a principal without a rule is refused */
    SV_AUTH_MIT,    /* it may have them; a principal without a rule keeps its whole name */
};

struct sv_auth_to_local;

/* `rules`: "" is DEFAULT. `default_realm`: krb5.conf's; NULL: there is none, and DEFAULT applies to
 * nobody. -EINVAL: the error has the number of the rule and the byte of the set, both from 1. */
int sv_auth_to_local_new(const char *rules, enum sv_auth_mechanism mechanism,
                         const char *default_realm, struct sv_auth_to_local **ret,
                         struct sv_error *err) _must_use_;
struct sv_auth_to_local *sv_auth_to_local_free(struct sv_auth_to_local *a);
static inline void sv_auth_to_local_freep(struct sv_auth_to_local **a)
{
    *a = sv_auth_to_local_free(*a);
}
size_t sv_auth_to_local_count(const struct sv_auth_to_local *a); /* rules */

/* Rows of both keys, for the tables of a daemon's configuration. */
const struct sv_conf_key *sv_auth_to_local_keys(size_t *ret_n);
/* As sv_auth_to_local_new(), with the keys of `c`. */
int sv_auth_to_local_read(struct sv_conf *c, const char *default_realm,
                          struct sv_auth_to_local **ret, struct sv_error *err) _must_use_;

/* The account of `len` bytes of a principal. -EINVAL: no principal (principal.h); -EACCES: no rule
 * applies, or what a rule made of it is no name; -E2BIG: the rules take too much work for it. The
 * error names the principal, and the rule or the set. */
int sv_auth_to_local(struct sv_auth_to_local *a, const char *principal, size_t len,
                     char ret[SV_LOCAL_NAME_MAX + 1], struct sv_error *err) _must_use_;

/* The rule that decided, for people. */
struct sv_auth_decision {
    size_t number;    /* from 1; 0: none was needed: a name alone, or the mechanism mit */
    const char *text; /* as written, as long as the set; "" */
};
/* As sv_auth_to_local(), and says by which rule. */
int sv_auth_to_local_decide(struct sv_auth_to_local *a, const char *principal, size_t len,
                            char ret[SV_LOCAL_NAME_MAX + 1], struct sv_auth_decision *ret_by,
                            struct sv_error *err) _must_use_;

#endif
