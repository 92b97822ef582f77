/* See ldap-library.h. Packages suggest the library by name (packaging/packages). */
#include "common/ldap/ldap-library.h"

#include "common/late-library.h"

/* OpenLDAP has one number for 2.6 and later; 2.5 was another. */
#if LDAP_VENDOR_VERSION >= 20600
#define SONAME "libldap.so.2"
#else
#define SONAME "libldap-2.5.so.0"
#endif

int sv_ldap_library(const struct sv_ldap_library **ret, struct sv_error *err)
{
#define SYMBOL(name) { "ldap_" #name, &ldap.name },
    static struct sv_ldap_library ldap;
    static const struct sv_late_symbol symbols[] = { SV_LDAP_FUNCTIONS(SYMBOL) };
    static struct sv_late_library library = {
        .soname = SONAME,
        .missing = "groups of LDAP need OpenLDAP's library, install libldap (openldap)",
        .product = "OpenLDAP"
    };
    int r = sv_late_load(&library, symbols, SV_ARRAY_LEN(symbols), err);

    if (r == 0)
        *ret = &ldap;
    return r;
}
