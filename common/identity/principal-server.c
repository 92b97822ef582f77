/* See principal.h: the check of a server's principal. Hostile: the name that the server offers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/identity/glob.h"
#include "common/identity/principal.h"
#include "common/str.h"

static int check_pattern(const struct sv_server_name *s, const char *offered, struct sv_error *err)
{
    int r = sv_glob_match(s->pattern, offered, err);

    if (r < 0)
        return sv_error_wrap(err, "%s.pattern", s->key);
    if (r > 0)
        return 0;
    return sv_error_set(err, -EACCES,
                        "the server is %s, which is not among %s.pattern, \"%s\": it is not "
                        "trusted",
                        offered, s->key, s->pattern);
}

int sv_principal_check_server(const struct sv_server_name *s, const char *offered,
                              struct sv_error *err)
{
    char expected[SV_PRINCIPAL_MAX + 1];
    struct sv_principal p;
    int r = sv_principal_parse(offered, strlen(offered), &p, err);

    if (r < 0)
        return sv_error_wrap(err, "server");
    if (s->pattern && *s->pattern)
        return check_pattern(s, offered, err);
    if (!s->configured || !*s->configured)
        return sv_error_set(err, -EINVAL,
                            "%s is not set: the server, which says that it is %s, cannot be "
                            "recognized",
                            s->key, offered);
    r = sv_principal_for_host(s->configured, s->host, s->own_host, expected, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", s->key);
    r = sv_principal_parse(expected, strlen(expected), &p, err);
    if (r >= 0 && !*p.host)
        r = sv_error_set(err, -EINVAL, "%s, \"%s\", has no host: a server's is NAME/HOST@REALM",
                         s->key, expected);
    if (r < 0)
        return r;
    if (sv_streq(offered, expected))
        return 0;
    return sv_error_set(err, -EACCES,
                        "the server is %s, expected was %s by %s: it is not trusted; a server "
                        "with names of its own is admitted by %s.pattern",
                        offered, expected, s->key, s->key);
}

int sv_principal_of_server(const struct sv_server_name *s, char ret[SV_PRINCIPAL_MAX + 1])
{
    return s->configured ? sv_principal_for_host(s->configured, s->host, s->own_host, ret, NULL)
                         : -EINVAL;
}

static const char *realm_of(const char *principal)
{
    const char *at = principal ? strrchr(principal, '@') : NULL;

    return at ? at + 1 : NULL;
}

/* With the realm behind it, one of the server's own is a second @, which no principal has. */
int sv_principal_recognize(const struct sv_server_name *s, const char *own, const char *offered,
                           char ret[SV_PRINCIPAL_MAX + 1], struct sv_error *err)
{
    const char *realm = realm_of(s->configured);
    char full[SV_PRINCIPAL_MAX + 2]; /* one byte more: a longer name is cut to one too long */
    int r;

    realm = realm ? realm : realm_of(own);
    (void)snprintf(full, sizeof(full), "%s@%s", offered, realm ? realm : "");
    r = sv_principal_check_server(s, full, err);
    if (r == 0) /* no longer than SV_PRINCIPAL_MAX, or it had been refused */
        memcpy(ret, full, SV_PRINCIPAL_MAX + 1);
    return r;
}
