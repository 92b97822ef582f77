/* The functions of libldap (OpenLDAP 2.5 or later) as a table: it is loaded when groups are asked
 * for there (docs/adr/0082-groups-from-ldap.md). */
#ifndef SELVEDGE_COMMON_LDAP_LDAP_LIBRARY_H
#define SELVEDGE_COMMON_LDAP_LDAP_LIBRARY_H

#include <ldap.h>

#include "common/base.h"
#include "common/error.h"

#define SV_LDAP_FUNCTIONS(F)                                                                       \
    F(initialize)                                                                                  \
    F(set_option)                                                                                  \
    F(sasl_bind_s)                                                                                 \
    F(unbind_ext_s)                                                                                \
    F(search_ext_s)                                                                                \
    F(first_entry)                                                                                 \
    F(next_entry)                                                                                  \
    F(get_dn)                                                                                      \
    F(get_values_len)                                                                              \
    F(value_free_len)                                                                              \
    F(msgfree)                                                                                     \
    F(memfree)                                                                                     \
    F(str2dn)                                                                                      \
    F(dnfree)                                                                                      \
    F(err2string)

/* A member is the function ldap_MEMBER with its own type. */
struct sv_ldap_library {
#define SV_LDAP_MEMBER(name) __typeof__(ldap_##name) *name;
    SV_LDAP_FUNCTIONS(SV_LDAP_MEMBER)
#undef SV_LDAP_MEMBER
};

/* Loads the library at the first call, from the loop's thread, and keeps it. -ELIBACC: there is
 * none. */
int sv_ldap_library(const struct sv_ldap_library **ret, struct sv_error *err) _must_use_;

#endif
