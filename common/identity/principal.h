/* Kerberos principals as Hadoop writes them: NAME, NAME/HOST, each with or without @REALM; and the
 * configured ones, whose host may be `_HOST`. Pure; no name is looked up. Hostile: a client's
 * principal, which another realm may have issued; a server's, before it is authenticated. */
#ifndef SELVEDGE_COMMON_IDENTITY_PRINCIPAL_H
#define SELVEDGE_COMMON_IDENTITY_PRINCIPAL_H

#include "common/base.h"
#include "common/error.h"

#define SV_PRINCIPAL_MAX 512 /* bytes of a principal without the NUL */
#define SV_PRINCIPAL_HOST "_HOST"

struct sv_principal {
    char name[SV_PRINCIPAL_MAX + 1];  /* first component */
    char host[SV_PRINCIPAL_MAX + 1];  /* second component; "": there is none */
    char realm[SV_PRINCIPAL_MAX + 1]; /* "": there is none */
};

/* Reads `len` bytes. -EINVAL: empty, too long, an empty or a third component, a second realm, a NUL
 * or another control character, a backslash (libkrb5 writes a component's own / and @ with one), no
 * UTF-8. Stricter than Hadoop, which takes "a/b/c" without a realm for one component. */
int sv_principal_parse(const char *text, size_t len, struct sv_principal *ret, struct sv_error *err)
    _must_use_;
void sv_principal_text(const struct sv_principal *p, char ret[SV_PRINCIPAL_MAX + 1]);

/* The principal that `configured` means for a service on `host`: of NAME/_HOST@REALM the host in
 * lower case, another text unchanged. `host` is the configured name; "", "0.0.0.0" and "::" mean
 * `own_host`. No address is turned into a name: -EINVAL names the remedy. */
int sv_principal_for_host(const char *configured, const char *host, const char *own_host,
                          char ret[SV_PRINCIPAL_MAX + 1], struct sv_error *err) _must_use_;

/* The principal that a server must have, by its key (`key`, for messages), the key's ".pattern" and
 * the configured name of its host. */
struct sv_server_name {
    const char *key;        /* "yarn.resourcemanager.principal" */
    const char *configured; /* NULL or "": not set */
    const char *pattern;    /* a glob for the whole principal, used alone; NULL or "": not set */
    const char *host, *own_host;
};
/* 0 if the server that offers itself as `offered` is the one that is meant; -EACCES if not;
 * -EINVAL: a name that nobody can have, or a configuration without one. */
int sv_principal_check_server(const struct sv_server_name *s, const char *offered,
                              struct sv_error *err) _must_use_;
/* The principal that a server on s->host must have, whatever it says; -EINVAL: none is configured,
 * or it is none. */
int sv_principal_of_server(const struct sv_server_name *s, char ret[SV_PRINCIPAL_MAX + 1])
    _must_use_;
/* The full principal of a server that says of itself "rm/host", hostile and without a realm: its
 * realm is that of the configured name, else that of the client, `own`. Errors as
 * sv_principal_check_server(). */
int sv_principal_recognize(const struct sv_server_name *s, const char *own, const char *offered,
                           char ret[SV_PRINCIPAL_MAX + 1], struct sv_error *err) _must_use_;

#endif
