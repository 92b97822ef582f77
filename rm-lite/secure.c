/* See secure.h. */
#include "rm-lite/secure.h"

#include <errno.h>
#include <stdlib.h>

#include "common/str.h"
#include "gss/daemon-acceptor.h"
#include "gss/daemon-log.h"
#include "gss/daemon-start.h"
#include "hdfs/conf.h"
#include "rm-lite/security/token-renewer.h"

struct rm_secure {
    struct sgss_daemon *daemon;
    struct sgss_acceptor acceptor;
    struct sgss_service namenode, web; /* which renew the tokens of jobs */
    char *web_principal;
    bool had_ticket;
};

static void on_changed(void *userdata)
{
    struct rm_secure *s = userdata;

    sgss_log_changed(s->daemon, &s->had_ticket);
}

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
    r = sgss_start(&(struct sgss_start){ .event = rm->event,
                                         .conf = k,
                                         .keys = rm_conf_kerberos_own_keys(),
                                         .web = rm->conf.web_server.tickets,
                                         .changed = on_changed,
                                         .told = sgss_log_told,
                                         .userdata = s },
                   &s->daemon, err);
    if (r >= 0) {
        rm->login = s->daemon;
        sgss_acceptor_init(&s->acceptor, s->daemon, k);
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
    return rm->kerberos ? &rm->kerberos->acceptor.ipc : NULL;
}

struct sgss_client *rm_secure_client(const struct rm *rm)
{
    return rm->kerberos ? sgss_daemon_client(rm->kerberos->daemon) : NULL;
}
