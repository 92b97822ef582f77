/* See secure.h. Hostile: principals of clients, which another realm may have issued, and what a
 * server at a member's address says that it is. */
#include "router/secure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "gss/daemon-series.h"
#include "gss/daemon-start.h"
#include "wire/ipc/ipc-server.h"

struct rtr_secure {
    const struct router *router;
    struct sgss_daemon *daemon;
    struct ipc_acceptor acceptor;
    struct sgss_service members;
    bool had_ticket;
};

static void on_changed(void *userdata)
{
    struct rtr_secure *s = userdata;
    const struct sgss_daemon_state now = sgss_daemon_state(s->daemon);

    if (now.until > 0 && *now.words)
        sv_log_warning("Kerberos: %s", now.words);
    else if (now.until > 0 && !s->had_ticket)
        sv_log_info("Kerberos: %s has a ticket for %" PRId64 " s", sgss_daemon_principal(s->daemon),
                    (int64_t)now.until - sv_wall_ms() / 1000);
    s->had_ticket = now.until > 0;
}

static void on_told(const char *text, void *userdata)
{
    (void)userdata;
    sv_log_warning("Kerberos: %s", text);
}

/* ---- Callers ---- */

static int handshake(const struct ipc_acceptor *a, struct gssapi_handshake **ret)
{
    const struct rtr_secure *s = a->userdata;

    return sgss_client_acceptor(sgss_daemon_client(s->daemon), a->principal, ret);
}

static int local_name(const struct ipc_acceptor *a, const char *principal, char ret[SASL_USER_MAX],
                      struct sv_error *err)
{
    const struct rtr_secure *s = a->userdata;

    return sv_auth_to_local(s->router->conf.kerberos.own.rules, principal, strlen(principal), ret,
                            err);
}

/* ---- Life ---- */

static void tell(const struct rtr_conf *conf)
{
    const struct rtr_conf_kerberos *k = &conf->kerberos;

    sv_log_info("Kerberos: this Router is %s, of the realm %s and the account %s; members must be "
                "%s, and have hadoop.proxyuser.%s.*",
                k->own.principal, k->own.realm, k->account, k->members_pattern ?: k->members,
                k->account);
    if (conf->web_host)
        sv_log_info("/metrics is read by everybody: the Router's web port takes no tickets");
}

int rtr_secure_start(struct router *r, struct sv_error *err)
{
    const struct rtr_conf_kerberos *k = &r->conf.kerberos;
    struct rtr_secure *s;
    int e;

    if (!k->own.on)
        return 0;
    s = r->secure = calloc(1, sizeof(*s));
    if (!s)
        return sv_error_errno(err, -ENOMEM, "Kerberos");
    s->router = r;
    s->acceptor = (struct ipc_acceptor){ .principal = k->own.principal,
                                         .handshake = handshake,
                                         .local_name = local_name,
                                         .userdata = s };
    e = sgss_start(&(struct sgss_start){ .event = r->event,
                                         .conf = &k->own,
                                         .keys = rtr_conf_kerberos_own_keys(),
                                         .changed = on_changed,
                                         .told = on_told,
                                         .userdata = s },
                   &s->daemon, err);
    if (e < 0)
        return e;
    sgss_service_init(&s->members, s->daemon, RTR_RM_PRINCIPAL, k->members, k->members_pattern,
                      k->own_host);
    tell(&r->conf);
    return 0;
}

void rtr_secure_stop(struct router *r)
{
    if (!r->secure)
        return;
    r->secure->daemon = sgss_daemon_free(r->secure->daemon);
    free(r->secure);
    r->secure = NULL;
}

const struct ipc_acceptor *rtr_secure_acceptor(const struct router *r)
{
    return r->secure ? &r->secure->acceptor : NULL;
}

const struct ipc_kerberos *rtr_secure_members(const struct router *r)
{
    return r->secure ? &r->secure->members.ipc : NULL;
}

void rtr_secure_series(const struct router *r, struct sv_series *s)
{
    struct sgss_daemon_state state;

    if (!r->secure)
        return;
    state = sgss_daemon_state(r->secure->daemon);
    sgss_daemon_series(s, &state, sv_wall_ms() / 1000);
}
