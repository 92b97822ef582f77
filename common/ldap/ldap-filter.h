/* Filters of LDAP searches with the values of users in them, escaped by RFC 4515: no name that a
 * client chooses says more than itself. Pure. Trusted: the pattern. Hostile: the values. */
#ifndef SELVEDGE_COMMON_LDAP_LDAP_FILTER_H
#define SELVEDGE_COMMON_LDAP_LDAP_FILTER_H

#include "common/base.h"
#include "common/buf.h"

#define SV_LDAP_FILTER_MAX 65536u /* bytes of one filter */

/* Appends the pattern, in which {0} stands for the value. -EMSGSIZE, -ENOMEM. */
int sv_ldap_filter_put(struct sv_buf *b, const char *pattern, const char *value) _must_use_;
/* Appends "(ATTRIBUTE=VALUE)". */
int sv_ldap_filter_equals(struct sv_buf *b, const char *attribute, const char *value) _must_use_;
/* Whether the pattern has its parentheses in pairs, and {0}. */
bool sv_ldap_filter_valid(const char *pattern, bool with_value);

#endif
