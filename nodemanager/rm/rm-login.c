/* See rm-login.h. Hostile: the words of whoever answers in the ResourceManager's place, and of the
 * helper. */
#include "nodemanager/rm/rm-login.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/context.h"
#include "nodemanager/rm/rm-session.h"
#include "wire/token/node-secret.h"

/* ---- Open ---- */

/* With the node's secret the node authenticates itself to selvedge-rm; Apache's ResourceManager
 * does not know one. */
static int open_with_secret(struct nm_updater *u, struct ipc_proxy_config *cfg,
                            const struct yarn_node_secret *secret, struct sv_error *err)
{
    struct yarn_node_token node;
    int r;

    if (secret->len > 0) {
        r = yarn_node_token_make(secret, u->ctx->node_id.host, &node);
        if (r < 0)
            return sv_error_errno(err, r, "node token for %s", u->ctx->node_id.host);
        cfg->client.token = &node.token;
        sv_log_info("ResourceManager: this node authenticates with the node secret %s", secret->id);
    }
    r = ipc_proxy_new(u->ctx->event, cfg, &u->rm, err);
    explicit_bzero(&node, sizeof(node));
    return r;
}

/* A _HOST that no server's address replaces would only be seen with the first connection. */
static int check_names(const struct nm_conf_kerberos *k, const struct ipc_proxy_config *cfg,
                       struct sv_error *err)
{
    char name[SV_PRINCIPAL_MAX + 1];

    for (size_t i = 0; !k->rm_pattern && i < cfg->n_servers; i++)
        if (sv_principal_for_host(k->rm_principal, cfg->servers[i].host, k->own.own_host, name,
                                  err) < 0) {
            (void)sv_error_wrap(err, NM_RM_PRINCIPAL);
            return -EINVAL;
        }
    return 0;
}

static int open_with_ticket(struct nm_updater *u, struct ipc_proxy_config *cfg,
                            struct sv_error *err)
{
    const struct nm_conf_kerberos *k = &u->ctx->conf->kerberos;
    int r = check_names(k, cfg, err);

    if (r < 0)
        return r;
    sgss_service_init(&u->login.service, u->ctx->kerberos, NM_RM_PRINCIPAL, k->rm_principal,
                      k->rm_pattern, k->own.own_host);
    cfg->client.kerberos = &u->login.service.ipc;
    return ipc_proxy_new(u->ctx->event, cfg, &u->rm, err);
}

int nm_rm_login_open(struct nm_updater *u, struct ipc_proxy_config *cfg, struct sv_error *err)
{
    struct yarn_node_secret secret;
    int r;

    if (u->ctx->kerberos)
        return open_with_ticket(u, cfg, err);
    if (u->ctx->conf->kerberos.own.on) /* never without the proof that was configured */
        return sv_error_set(err, -EINVAL, "ResourceManager: the Kerberos login is not started");
    r = yarn_node_secret_load(u->ctx->conf->conf, &secret, err);
    if (r < 0)
        return r;
    r = open_with_secret(u, cfg, &secret, err);
    yarn_node_secret_clear(&secret);
    return r;
}

/* ---- Hindrances ---- */

enum nm_rm_hindrance nm_rm_hindrance_of(bool has_ticket, int status, bool refused)
{
    /* Failures of gss/client.h, before anything was sent. */
    static const int own[] = { -EIO, -EAGAIN, -EBUSY, -ESTALE, -ESHUTDOWN };

    if (refused)
        return NM_RM_REFUSED;
    if (!has_ticket)
        return NM_RM_NO_TICKET;
    for (size_t i = 0; i < SV_ARRAY_LEN(own); i++)
        if (status == own[i])
            return NM_RM_NO_TICKET;
    return NM_RM_UNHINDERED;
}

static bool has_ticket(const struct nm_updater *u)
{
    return !u->ctx->kerberos || sgss_daemon_state(u->ctx->kerberos).until > 0;
}

static void tell(struct nm_updater *u, const char *text)
{
    char *told = u->login.told[ipc_proxy_position(u->rm)];

    u->login.hindered = true;
    if (sv_streq(told, text))
        return;
    snprintf(told, sizeof(u->login.told[0]), "%s", text);
    sv_log_warning("%s", text);
    (void)sd_notifyf(0, "STATUS=%s", text); /* no systemd, ignoring */
}

/* `why` counts where the ticket is there. */
static void tell_no_ticket(struct nm_updater *u, const char *why)
{
    struct sv_error text = { 0 };
    char rm[360], shown[520];

    if (!has_ticket(u))
        why = sgss_daemon_state(u->ctx->kerberos).words;
    sv_escape(shown, sizeof(shown), why); /* a new line of the status would be another field */
    (void)sv_error_set(&text, -EAGAIN,
                       "ResourceManager %s: Kerberos keeps this node from it: %s; trying again, "
                       "containers keep running",
                       ipc_proxy_server_text(ipc_proxy_current(u->rm), rm, sizeof(rm)), shown);
    tell(u, text.text);
}

/* Both names, and what to compare: that the peers do not know each other is a setting of one. */
static void tell_refused(struct nm_updater *u, const char *why)
{
    const struct nm_conf_kerberos *k = &u->ctx->conf->kerberos;
    const struct ipc_proxy_server *s = ipc_proxy_current(u->rm);
    char rm[360], wanted[SV_PRINCIPAL_MAX + 1], shown[320];
    struct sv_error text = { 0 };

    if (k->rm_pattern ||
        sv_principal_for_host(k->rm_principal, s->host, k->own.own_host, wanted, NULL) < 0)
        snprintf(wanted, sizeof(wanted), "%s", k->rm_pattern ?: k->rm_principal);
    sv_escape(shown, sizeof(shown), why);
    (void)sv_error_set(&text, -EACCES,
                       "ResourceManager %s: it and this node do not accept each other: %s. This "
                       "node is %s, by yarn.nodemanager.principal; the ResourceManager must be "
                       "%s, by " NM_RM_PRINCIPAL "%s: compare them with its configuration, where "
                       "hadoop.security.authentication is kerberos as well, and with its "
                       "hadoop-policy.xml; trying again, containers keep running",
                       ipc_proxy_server_text(s, rm, sizeof(rm)), shown, k->own.principal, wanted,
                       k->rm_pattern ? ".pattern" : "");
    tell(u, text.text);
}

bool nm_rm_login_hinders(struct nm_updater *u, int status, bool refused, const char *why)
{
    if (!u->ctx->kerberos)
        return false;
    switch (nm_rm_hindrance_of(has_ticket(u), status, refused)) {
    case NM_RM_UNHINDERED:
        return false;
    case NM_RM_NO_TICKET:
        u->login.waits = true;
        tell_no_ticket(u, why);
        break;
    case NM_RM_REFUSED:
        tell_refused(u, why);
        ipc_proxy_fail_over(u->rm); /* each proves by its own key who it is */
        break;
    }
    u->away_since_ms = 0;
    return true;
}

/* ---- Waiting ---- */

bool nm_rm_login_missing(struct nm_updater *u)
{
    if (has_ticket(u))
        return false;
    u->login.waits = true;
    if (sgss_daemon_state(u->ctx->kerberos).pending)
        (void)sd_notifyf(0, "STATUS=waiting for a Kerberos ticket"); /* no systemd, ignoring */
    else
        tell_no_ticket(u, "");
    return true;
}

bool nm_rm_login_waits(struct nm_updater *u)
{
    u->login.waits = u->login.waits && !has_ticket(u);
    return u->login.waits;
}

bool nm_rm_login_came(struct nm_updater *u)
{
    if (!u->login.waits)
        return false;
    if (!nm_rm_login_waits(u))
        return true;
    tell_no_ticket(u, ""); /* the reason may be another one */
    return false;
}

void nm_rm_login_recovered(struct nm_updater *u)
{
    char rm[360];

    u->login.waits = false;
    if (!u->login.hindered)
        return;
    u->login.hindered = false;
    for (size_t i = 0; i < SV_ARRAY_LEN(u->login.told); i++)
        u->login.told[i][0] = 0;
    sv_log_notice("ResourceManager %s: this node is logged in",
                  ipc_proxy_server_text(ipc_proxy_current(u->rm), rm, sizeof(rm)));
    (void)sd_notifyf(0, "STATUS=registered as %s", u->ctx->node_id_text); /* no systemd, ignoring */
}
