/* See secure.h. Hostile: what a server at a member's address says that it is. */
#include "router/secure.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/log.h"
#include "gss/daemon-acceptor.h"
#include "gss/daemon-log.h"
#include "gss/daemon-series.h"
#include "gss/daemon-start.h"

struct rtr_secure {
    struct sgss_daemon *daemon;
    struct sgss_acceptor acceptor;
    struct sgss_service members;
    bool had_ticket;
};

static void on_changed(void *userdata)
{
    struct rtr_secure *s = userdata;

    sgss_log_changed(s->daemon, &s->had_ticket);
}

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
    e = sgss_start(&(struct sgss_start){ .event = r->event,
                                         .conf = &k->own,
                                         .keys = rtr_conf_kerberos_own_keys(),
                                         .changed = on_changed,
                                         .told = sgss_log_told,
                                         .userdata = s },
                   &s->daemon, err);
    if (e < 0)
        return e;
    sgss_acceptor_init(&s->acceptor, s->daemon, &k->own);
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
    return r->secure ? &r->secure->acceptor.ipc : NULL;
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
