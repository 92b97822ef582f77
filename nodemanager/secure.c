/* See secure.h. */
#include "nodemanager/secure.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "gss/daemon.h"
#include "nodemanager/core/context.h"
#include "nodemanager/rm/node-status-updater.h"

static void on_changed(void *userdata)
{
    struct nm_secure *s = userdata;
    const struct sgss_daemon_state now = sgss_daemon_state(s->ctx->kerberos);

    if (now.until > 0 && *now.words)
        sv_log_warning("Kerberos: %s", now.words);
    else if (now.until > 0 && !s->had_ticket)
        sv_log_info("Kerberos: %s has a ticket for %" PRId64 " s",
                    sgss_daemon_principal(s->ctx->kerberos),
                    (int64_t)now.until - sv_wall_ms() / 1000);
    s->had_ticket = now.until > 0;
    if (*s->updater)
        nm_updater_login_changed(*s->updater);
}

static void on_told(const char *text, void *userdata)
{
    (void)userdata;
    sv_log_warning("Kerberos: %s", text);
}

/* One that is missing would be seen with the first login, and waited for. */
static int check_keytab(const char *key, const char *path, struct sv_error *err)
{
    if (access(path, R_OK) == 0)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "%s: %s cannot be read: %s; it is the NodeManager's account's, of mode "
                        "0400, or selvedge.nodemanager.kerberos.socket is set",
                        key, path, strerror(errno));
}

/* A helper of systemd's has its keytab from its unit instead. */
static int start_helper(struct sgss_daemon_config *cfg, const struct nm_conf *conf,
                        struct sgss_daemon **ret, struct sv_error *err)
{
    const struct nm_conf_kerberos *k = &conf->kerberos;
    const size_t n_local = sv_strv_len(conf->local_dirs), n_log = sv_strv_len(conf->log_dirs);
    _cleanup_free_ const char **dirs = calloc(n_local + n_log + 1, sizeof(*dirs));
    const char *keytabs[] = { k->keytab, NULL, NULL };
    int r = dirs ? 0 : sv_error_errno(err, -ENOMEM, "Kerberos");

    if (r >= 0)
        r = check_keytab("yarn.nodemanager.keytab", k->keytab, err);
    if (r >= 0 && conf->web.tickets && k->web_keytab && !sv_streq(k->web_keytab, k->keytab)) {
        keytabs[1] = k->web_keytab;
        r = check_keytab("keytab of the web server", k->web_keytab, err);
    }
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_local; i++)
        dirs[i] = conf->local_dirs[i];
    for (size_t i = 0; i < n_log; i++)
        dirs[n_local + i] = conf->log_dirs[i];
    cfg->helper = k->helper;
    cfg->keytabs = keytabs;
    cfg->local_dirs = dirs;
    cfg->krb5_conf = k->krb5_conf;
    return sgss_daemon_new(cfg, ret, err);
}

int nm_secure_start(struct nm_secure *s, struct nm_context *ctx, struct nm_updater *const *updater,
                    struct sv_error *err)
{
    const struct nm_conf_kerberos *k = &ctx->conf->kerberos;
    struct sgss_daemon_config cfg = { .event = ctx->event,
                                      .principal = k->principal,
                                      .socket = k->socket,
                                      .changed = on_changed,
                                      .told = on_told,
                                      .userdata = s };
    int r;

    if (!k->on)
        return 0;
    *s = (struct nm_secure){ .ctx = ctx, .updater = updater };
    r = k->socket ? sgss_daemon_new(&cfg, &ctx->kerberos, err)
                  : start_helper(&cfg, ctx->conf, &ctx->kerberos, err);
    if (r < 0)
        return sv_error_wrap(err, "Kerberos");
    sv_log_info("Kerberos: this node is %s, of the realm %s; containers run as their submitters",
                k->principal, k->realm);
    if (!ctx->conf->policy)
        sv_log_notice("hadoop.security.authorization is false, Hadoop's default: with Apache's "
                      "ResourceManager every principal of the realm can then register a node, "
                      "and is given the keys of all containers' tokens");
    return 0;
}

void nm_secure_stop(struct nm_secure *s)
{
    if (s->ctx)
        s->ctx->kerberos = sgss_daemon_free(s->ctx->kerberos);
}
