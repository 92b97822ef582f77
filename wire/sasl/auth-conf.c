/* Rejects the configuration of a secure cluster; see auth-conf.h. The files are the operator's. */
#include "wire/sasl/auth-conf.h"

#include <errno.h>
#include <strings.h>

static const struct sv_conf_key key = { "hadoop.security.authentication", SV_CONF_STRING, "simple",
                                        .help = "simple; kerberos is not supported by this "
                                                "version, and with it no program starts." };

const struct sv_conf_key *yarn_auth_key(void)
{
    return &key;
}

int yarn_auth_check(struct sv_conf *conf, struct sv_error *err)
{
    const char *method;
    char at[SV_ERROR_TEXT_MAX / 2];
    int r = sv_conf_string(conf, &key, &method, err);
    if (r < 0)
        return r;
    if (strcasecmp(method, "simple") == 0) /* Hadoop ignores case */
        return 0;
    sv_conf_origin(conf, &key, at, sizeof(at));
    return sv_error_set(err, -EOPNOTSUPP,
                        "%s is \"%.64s\": only simple is supported by this version; use the "
                        "configuration of a cluster without Kerberos",
                        at, method);
}
