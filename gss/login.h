/* One login: a ticket of the KDC for a principal, by its key, in a new cache of memory. Blocks. */
#ifndef SELVEDGE_GSS_LOGIN_H
#define SELVEDGE_GSS_LOGIN_H

#include <gssapi/gssapi.h>

#include "common/base.h"
#include "common/error.h"
#include "gss/keytab-check.h"

struct sgss_login {
    char *cache;              /* "MEMORY:…" */
    gss_cred_id_t credential; /* for initiating, from that cache */
    int64_t begins, until;    /* seconds since 1970 */
};

int sgss_login(const struct sgss_keytabs *k, const char *principal, struct sgss_login *ret,
               struct sv_error *err) _must_use_;
/* Destroys the cache. */
void sgss_login_end(struct sgss_login *l);
/* "name@REALM", taken as it is: no name service is asked. */
int sgss_import_name(const char *principal, gss_name_t *ret, struct sv_error *err) _must_use_;

#endif
