/* SASL KERBEROS on a server: handshakes with clients, and the names of a client. Hostile: its
 * principal, which another realm may have issued, and the user for whom it says that it acts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity/principal.h"
#include "common/log.h"
#include "common/str.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/sasl/gssapi.h"

int ipc_kerberos_open(struct ipc_server *s, struct sv_error *err)
{
    const struct ipc_acceptor *a = s->cfg.kerberos;
    struct sv_principal p;
    int r;

    if (!a)
        return 0;
    r = sv_principal_parse(a->principal, strlen(a->principal), &p, err);
    if (r < 0)
        return r;
    if (!*p.host || !*p.realm || strlen(a->principal) >= SASL_USER_MAX)
        return sv_error_set(err, -EINVAL,
                            "principal \"%.256s\": a server needs NAME/HOST@REALM, of at most %d "
                            "bytes",
                            a->principal, SASL_USER_MAX - 1);
    s->service = strdup(p.name);
    s->service_host = strdup(p.host);
    return s->service && s->service_host ? 0 : sv_error_set(err, -ENOMEM, "out of memory");
}

int ipc_kerberos_begin(struct ipc_conn *c, sasl_ready ready)
{
    const struct ipc_acceptor *a = c->server->cfg.kerberos;
    struct gssapi_handshake *h;
    int r = a->handshake(a, &h);

    if (r < 0)
        return r;
    r = ipc_gssapi_server_new(h, c->server->cfg.qop_mask, ready, c, &c->sasl);
    if (r < 0)
        ipc_gssapi_handshake_free(h);
    return r;
}

/* Without an account nobody is served, under no other name either. */
static int account_of(const struct ipc_conn *c, const char *name, char **ret, struct sv_error *err)
{
    const struct ipc_acceptor *a = c->server->cfg.kerberos;
    char local[SASL_USER_MAX] = "", shown[4 * SASL_USER_MAX];
    struct sv_error why = { 0 };
    int r = a->local_name(a, name, local, &why);

    if (r < 0 || !*local) {
        sv_log_debug("ipc %s: %s", c->address, why.text);
        sv_escape(shown, sizeof(shown), name);
        return sv_error_set(
            err, -EACCES,
            "no rule of this server's hadoop.security.auth_to_local gives %.768s an "
            "account",
            shown);
    }
    *ret = strdup(local);
    return *ret ? 0 : -ENOMEM;
}

int ipc_kerberos_peer(struct ipc_conn *c, struct sv_error *err)
{
    const char *name = ipc_sasl_server_user(c->sasl);
    int r = account_of(c, name, &c->user, err);

    if (r < 0)
        return r;
    c->principal = strdup(name);
    if (!c->principal)
        return -ENOMEM;
    c->peer.user = c->user;
    c->peer.principal = c->peer.full_user = c->principal;
    return 0;
}

/* As Hadoop, this compares full names: whoever names another one, also the own account, acts for
 * somebody. Hadoop's clients never name a real user beside a ticket. */
int ipc_kerberos_users(struct ipc_conn *c, const char *effective, const char *real,
                       struct sv_error *err)
{
    char *user;
    int r;

    if (real && !sv_streq(real, c->principal))
        return sv_error_set(err, -EACCES,
                            "the connection context names a real user who is not the client");
    if (!effective || sv_streq(effective, c->principal))
        return 0;
    r = account_of(c, effective, &user, err);
    if (r < 0)
        return r;
    c->real_user = c->user;
    c->user = user;
    c->full_user = strdup(effective);
    if (!c->full_user)
        return -ENOMEM;
    c->peer.user = c->user;
    c->peer.real_user = c->real_user;
    c->peer.full_user = c->full_user;
    return 0;
}
