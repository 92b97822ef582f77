/* See auth-conf.h. The files are the operator's. */
#include "wire/sasl/auth-conf.h"

#include <errno.h>
#include <strings.h>

static const struct sv_conf_key key = {
    "hadoop.security.authentication", SV_CONF_STRING, "simple",
    .help = "simple or kerberos. The NodeManager, selvedge-rm, selvedge and the services API know "
            "kerberos: with it no other program starts."
};

const struct sv_conf_key *yarn_auth_key(void)
{
    return &key;
}

/* `value` is for messages. */
static int read_method(struct sv_conf *conf, bool *ret, const char **ret_value,
                       struct sv_error *err)
{
    char at[SV_ERROR_TEXT_MAX / 2];
    int r = sv_conf_string(conf, &key, ret_value, err);
    if (r < 0)
        return r;
    *ret = strcasecmp(*ret_value, "kerberos") == 0; /* Hadoop ignores case */
    if (*ret || strcasecmp(*ret_value, "simple") == 0)
        return 0;
    sv_conf_origin(conf, &key, at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s is \"%.64s\": neither simple nor kerberos", at,
                        *ret_value);
}

int yarn_auth_kerberos(struct sv_conf *conf, bool *ret, struct sv_error *err)
{
    const char *value;
    bool kerberos;
    int r = read_method(conf, &kerberos, &value, err);
    if (r >= 0)
        *ret = kerberos;
    return r;
}

int yarn_auth_check(struct sv_conf *conf, struct sv_error *err)
{
    char at[SV_ERROR_TEXT_MAX / 2];
    const char *value;
    bool kerberos;
    int r = read_method(conf, &kerberos, &value, err);
    if (r < 0 || !kerberos)
        return r;
    sv_conf_origin(conf, &key, at, sizeof(at));
    return sv_error_set(err, -EOPNOTSUPP,
                        "%s is \"%.64s\": only simple is supported by this program, which has no "
                        "Kerberos",
                        at, value);
}
