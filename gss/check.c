/* See check.h. */
#include "gss/check.h"

#include <krb5.h>

#include "gss/check-conf.h"
#include "gss/check-kdc.h"
#include "gss/check-key-list.h"
#include "gss/findings.h"

void sgss_check(const struct sgss_check *c)
{
    krb5_context k;

    if (!sgss_check_conf(c->krb5_conf, &k))
        return; /* nothing works without it */
    for (size_t i = 0; i < c->keytabs->n; i++)
        sgss_check_key_list(c->keytabs, c->keytabs->paths[i], k);
    for (size_t i = 0; i < c->n; i++)
        sgss_check_kdc(c->keytabs, c->principals[i], k);
    krb5_free_context(k);
}
