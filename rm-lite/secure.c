/* See secure.h. */
#include "rm-lite/secure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "gss/daemon-start.h"
#include "hdfs/conf.h"
#include "rm-lite/security/token-renewer.h"
#include "wire/ipc/ipc-server.h"

struct rm_secure {
    struct rm *rm;
    struct sgss_daemon *daemon;
    struct ipc_acceptor acceptor;
    struct sgss_service namenode, web; /* which renew the tokens of jobs */
    char *web_principal;
    bool had_ticket;
};

static void on_changed(void *userdata)
{
    struct rm_secure *s = userdata;
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
    const struct rm_secure *s = a->userdata;

    return sgss_client_acceptor(sgss_daemon_client(s->daemon), a->principal, ret);
}

static int local_name(const struct ipc_acceptor *a, const char *principal, char ret[SASL_USER_MAX],
                      struct sv_error *err)
{
    const struct rm_secure *s = a->userdata;

    return sv_auth_to_local(s->rm->conf.kerberos.own.rules, principal, strlen(principal), ret, err);
}
_Static_assert(SASL_USER_MAX == SV_LOCAL_NAME_MAX + 1, "a name of the rules fits");

/* ---- Life ---- */

static void tell(const struct rm_conf *conf)
{
    sv_log_info("Kerberos: this ResourceManager is %s, of the realm %s; nodes must be %s",
                conf->kerberos.own.principal, conf->kerberos.own.realm, conf->kerberos.nodes);
    if (conf->web_server.tickets)
        sv_log_info("Kerberos: the web server is %s", conf->kerberos.own.web_principal);
    else if (sv_streq(conf->auth.auth_type, "simple"))
        sv_log_notice("web pages and REST are read alone, by everybody: "
                      "hadoop.http.authentication.type=simple takes no tickets, and names that "
                      "clients only claim change nothing; kerberos takes tickets");
    if (!conf->kerberos.namenode && !conf->kerberos.namenode_pattern)
        sv_log_notice(RM_NAMENODE_PRINCIPAL " is not set: no NameNode is logged in to, so that "
                                            "applications with tokens of HDFS are refused");
}

/* Logs in to the NameNodes and web servers that the files name alone. */
static int start_renewer(struct rm *rm, struct rm_secure *s, struct sv_error *err)
{
    struct rm_conf_kerberos *k = &rm->conf.kerberos;
    int r = hdfs_conf_load(rm->xml, err);

    if (r >= 0)
        r = rm_conf_kerberos_read_namenodes(rm->xml, k, err);
    if (r >= 0 && !k->web && sv_asprintf(&s->web_principal, "HTTP/_HOST@%s", k->own.realm) < 0)
        r = sv_error_errno(err, -ENOMEM, "Kerberos");
    if (r < 0)
        return r;
    sgss_service_init(&s->web, s->daemon, RM_WEB_PRINCIPAL, k->web ? k->web : s->web_principal,
                      NULL, k->own_host);
    sgss_service_init(&s->namenode, s->daemon, RM_NAMENODE_PRINCIPAL, k->namenode,
                      k->namenode_pattern, k->own_host);
    return rm_token_renewer_new(rm,
                                &(struct rm_token_renewer_config){ .namenode = &s->namenode.ipc,
                                                                   .web = &s->web.ipc,
                                                                   .qop_mask = k->own.qop_mask },
                                err);
}

int rm_secure_start(struct rm *rm, struct sv_error *err)
{
    const struct sgss_conf *k = &rm->conf.kerberos.own;
    struct rm_secure *s;
    int r;

    if (!k->on)
        return 0;
    s = rm->kerberos = calloc(1, sizeof(*s));
    if (!s)
        return sv_error_errno(err, -ENOMEM, "Kerberos");
    s->rm = rm;
    s->acceptor = (struct ipc_acceptor){
        .principal = k->principal, .handshake = handshake, .local_name = local_name, .userdata = s
    };
    r = sgss_start(&(struct sgss_start){ .event = rm->event,
                                         .conf = k,
                                         .keys = rm_conf_kerberos_own_keys(),
                                         .web = rm->conf.web_server.tickets,
                                         .changed = on_changed,
                                         .told = on_told,
                                         .userdata = s },
                   &s->daemon, err);
    if (r >= 0) {
        rm->login = s->daemon;
        r = start_renewer(rm, s, err);
    }
    if (r >= 0)
        tell(&rm->conf);
    return r;
}

void rm_secure_stop(struct rm *rm)
{
    if (!rm->kerberos)
        return;
    rm->login = NULL;
    rm->kerberos->daemon = sgss_daemon_free(rm->kerberos->daemon);
    free(rm->kerberos->web_principal);
    free(rm->kerberos);
    rm->kerberos = NULL;
}

const struct ipc_acceptor *rm_secure_acceptor(const struct rm *rm)
{
    return rm->kerberos ? &rm->kerberos->acceptor : NULL;
}

struct sgss_client *rm_secure_client(const struct rm *rm)
{
    return rm->kerberos ? sgss_daemon_client(rm->kerberos->daemon) : NULL;
}
