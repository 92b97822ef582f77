/* See secure.h. */
#include "nodemanager/secure.h"

#include <errno.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/str.h"
#include "gss/daemon-log.h"
#include "gss/daemon-start.h"
#include "nodemanager/core/context.h"
#include "nodemanager/rm/node-status-updater.h"

static void on_changed(void *userdata)
{
    struct nm_secure *s = userdata;

    sgss_log_changed(s->ctx->kerberos, &s->had_ticket);
    if (*s->updater)
        nm_updater_login_changed(*s->updater);
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
                                      .told = sgss_log_told,
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
