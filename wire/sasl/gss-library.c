/* See gss-library.h. The library's package is a dependency of the one that has selvedge-gss, which
 * is linked to it. */
#include "wire/sasl/gss-library.h"

#include "common/late-library.h"

#define LIBRARY                                                                                    \
    {                                                                                              \
        .soname = "libgssapi_krb5.so.2", .missing = "Kerberos needs libgssapi_krb5",               \
        .product = "MIT Kerberos"                                                                  \
    }

int ipc_gss_library(const struct gss_library **ret, struct sv_error *err)
{
#define SYMBOL(name) { "gss_" #name, &gss.name },
    static struct gss_library gss;
    static const struct sv_late_symbol symbols[] = { GSS_LIBRARY_FUNCTIONS(SYMBOL) };
    static struct sv_late_library library = LIBRARY;
    int r = sv_late_load(&library, symbols, SV_ARRAY_LEN(symbols), err);

    if (r == 0)
        *ret = &gss;
    return r;
}

int ipc_gss_ticket_library(const struct gss_ticket_library **ret, struct sv_error *err)
{
    static struct gss_ticket_library gss;
    static const struct sv_late_symbol symbols[] = { GSS_TICKET_FUNCTIONS(SYMBOL) };
    static struct sv_late_library library = LIBRARY;
    int r = sv_late_load(&library, symbols, SV_ARRAY_LEN(symbols), err);

    if (r == 0)
        *ret = &gss;
    return r;
}
