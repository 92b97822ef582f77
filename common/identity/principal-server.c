/* See principal.h: the check of a server's principal. Hostile: the name that the server offers. */
#include <errno.h>
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
