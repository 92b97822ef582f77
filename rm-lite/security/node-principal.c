/* See node-principal.h. */
#include "rm-lite/security/node-principal.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/identity/principal.h"
#include "common/str.h"

static bool parse(const char *text, struct sv_principal *ret)
{
    return sv_principal_parse(text, strlen(text), ret, NULL) >= 0 && *ret->host && *ret->realm;
}

int rm_node_principal_check(const char *configured, const char *principal, struct sv_error *err)
{
    struct sv_principal wanted, is;

    if (parse(configured, &wanted) && parse(principal, &is) && sv_streq(wanted.name, is.name) &&
        sv_streq(wanted.realm, is.realm) &&
        (sv_streq(wanted.host, SV_PRINCIPAL_HOST) || sv_streq(wanted.host, is.host)))
        return 0;
    return sv_error_set(err, -EACCES, "this service is only accessible by %s", configured);
}

bool rm_node_principal_is_host(const char *principal, const char *host)
{
    struct sv_principal is;

    return parse(principal, &is) && strcasecmp(is.host, host) == 0;
}
