/* See caller-names.h. */
#include "service/am/serve/caller-names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/identity/auth-to-local.h"
#include "common/identity/krb5-conf.h"
#include "common/log.h"
#include "wire/sasl/auth-conf.h"

#define ALGORITHM "hadoop.security.secret-manager.key-generator.algorithm"

_Static_assert(SV_LOCAL_NAME_MAX < 256, "a name fits");

static int read_rules(struct sv_conf *conf, struct svc_caller_names *n, struct sv_error *err)
{
    char realm[SV_REALM_MAX + 1];
    struct sv_error why = { 0 };
    bool known = sv_krb5_default_realm(SV_KRB5_CONF, realm, &why) >= 0;

    if (!known)
        sv_log_warning("%s: no rule of hadoop.security.auth_to_local is for principals of the "
                       "default realm",
                       why.text);
    return sv_auth_to_local_read(conf, known ? realm : NULL, &n->rules, err);
}

int svc_caller_names_read(struct sv_conf *conf, struct svc_caller_names *ret, struct sv_error *err)
{
    const char *algorithm = sv_conf_raw(conf, ALGORITHM);
    struct svc_caller_names n = { .on = false };
    int r = yarn_auth_kerberos(conf, &n.on, err);

    if (r >= 0 && algorithm && *algorithm && (r = yarn_hmac_parse(algorithm, &n.hmac)) < 0)
        (void)sv_error_set(err, r, ALGORITHM "=%.40s: not one of HmacSHA1 … HmacSHA512", algorithm);
    if (r >= 0 && n.on)
        r = read_rules(conf, &n, err);
    if (r >= 0)
        *ret = n;
    return r < 0 ? r : 0;
}

void svc_caller_names_free(struct svc_caller_names *n)
{
    n->rules = sv_auth_to_local_free(n->rules);
}

int svc_caller_name(const struct svc_caller_names *n, const char *name, char ret[256],
                    struct sv_error *err)
{
    if (n->on)
        return sv_auth_to_local(n->rules, name, strlen(name), ret, err);
    return snprintf(ret, 256, "%s", name) < 256
               ? 0
               : sv_error_set(err, -EINVAL, "a client's name is too long");
}
