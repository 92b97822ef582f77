/* See secure.h. */
#include "nodemanager/secure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "gss/daemon-start.h"
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

/* Directories of jobs, in which no keytab is trusted. */
static const char **job_dirs(const struct nm_conf *conf)
{
    const size_t n_local = sv_strv_len(conf->local_dirs), n_log = sv_strv_len(conf->log_dirs);
    const char **dirs = calloc(n_local + n_log + 1, sizeof(*dirs));

    for (size_t i = 0; dirs && i < n_local; i++)
        dirs[i] = conf->local_dirs[i];
    for (size_t i = 0; dirs && i < n_log; i++)
        dirs[n_local + i] = conf->log_dirs[i];
    return dirs;
}

int nm_secure_start(struct nm_secure *s, struct nm_context *ctx, struct nm_updater *const *updater,
                    struct sv_error *err)
{
    const struct sgss_conf *k = &ctx->conf->kerberos.own;
    _cleanup_free_ const char **dirs = k->on ? job_dirs(ctx->conf) : NULL;
    const struct sgss_start start = { .event = ctx->event,
                                      .conf = k,
                                      .keys = nm_conf_kerberos_own_keys(),
                                      .web = ctx->conf->web.tickets,
                                      .local_dirs = dirs,
                                      .changed = on_changed,
                                      .told = on_told,
                                      .userdata = s };
    int r;

    if (!k->on)
        return 0;
    if (!dirs)
        return sv_error_errno(err, -ENOMEM, "Kerberos");
    *s = (struct nm_secure){ .ctx = ctx, .updater = updater };
    r = sgss_start(&start, &ctx->kerberos, err);
    if (r < 0)
        return r;
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
