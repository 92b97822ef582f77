/* Frameworks on several servers: the launcher lives while this server is active; see frameworks.h
 * and service/ha/. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "service/server/frameworks-internal.h"

/* ---- Turns ---- */

static void stop(struct svc_frameworks *s)
{
    svc_frameworks_leave(s);
    svc_frameworks_drop_answers(s);
    s->l = svc_lr_free(s->l);
}

static int on_end(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_frameworks *s = userdata;
    const char *unfit = s->unfit;

    (void)source;
    s->unfit = NULL;
    if (unfit)
        svc_ha_resign(s->ha, unfit);
    stop(s);
    s->losing = false;
    return 0;
}

/* Not from below the launcher's functions, which call the store. */
static void end_soon(struct svc_frameworks *s)
{
    s->losing = true;
    (void)sd_event_source_set_enabled(s->end, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void on_active(struct svc_lr_store *store, void *userdata)
{
    struct svc_frameworks *s = userdata;
    struct sv_error err = { 0 };
    int r = s->begin(s, store, &err);

    if (r >= 0)
        return;
    sv_log_err("%s", err.text);
    s->unfit = "it cannot go on with what the store has";
    end_soon(s);
}

static void on_lost(void *userdata)
{
    end_soon(userdata);
}

static void on_kept(void *userdata)
{
    struct svc_frameworks *s = userdata;

    if (!s->l || s->losing)
        return;
    svc_frameworks_kept(s);
    svc_lr_tick(s->l);
}

/* Memory has what the store has not: it is read anew, here or elsewhere. */
void svc_frameworks_check(struct svc_frameworks *s)
{
    if (!s->l || s->losing || !s->l->broken)
        return;
    s->unfit = "a change could not be written";
    end_soon(s);
}

/* ---- Start ---- */

static bool is_url_of(const char *url, const char *host, uint16_t port)
{
    char want[300];
    const char *at = strstr(url, "://");
    size_t n;

    if (!at || !*host)
        return false;
    at += 3;
    (void)snprintf(want, sizeof(want), strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
    n = strlen(want);
    return strncasecmp(at, want, n) == 0 && (!at[n] || strcmp(at + n, "/") == 0);
}

/* The one of selvedge.framework.web-server-address that is this server's, into ret. */
static int find_url(const struct svc_frameworks *s, char ret[SVC_HA_URL_MAX + 1],
                    struct sv_error *err)
{
    char copy[SVC_LR_URLS_TEXT_MAX + 1], *rest = copy, *url;

    (void)snprintf(copy, sizeof(copy), "%s", s->cfg.settings->address);
    while ((url = strsep(&rest, ",")))
        if (is_url_of(url, s->host, s->cfg.port) || is_url_of(url, s->ip, s->cfg.port)) {
            (void)snprintf(ret, SVC_HA_URL_MAX + 1, "%.*s",
                           (int)(strlen(url) - (sv_has_suffix(url, "/") ? 1 : 0)), url);
            return 0;
        }
    return sv_error_set(err, -EINVAL,
                        "selvedge.framework.web-server-address=%s: none is this server's, "
                        "http://%s:%u: with selvedge.framework.store=zookeeper all servers are "
                        "named",
                        s->cfg.settings->address, s->host, s->cfg.port);
}

/* Frameworks run as whom the store names, and it has the secret of masters' tokens. */
static int check_acl(const struct svc_frameworks *s, struct sv_error *err)
{
    const struct sv_zk_settings *zk = &s->cfg.settings->zk;

    for (size_t i = 0; i < zk->n_acl; i++)
        if (strcmp(zk->acl[i].scheme, "world") == 0)
            return sv_error_set(err, -EPERM,
                                "hadoop.zk.acl lets everybody in, who could run frameworks as "
                                "anybody, or be any master, where "
                                "hadoop.http.authentication.type=kerberos says who calls: with "
                                "selvedge.framework.store=zookeeper name who may, as "
                                "ip:ADDRESS:rwcda of each server");
    return 0;
}

int svc_frameworks_share(struct svc_frameworks *s, svc_frameworks_begin_fn begin,
                         struct sv_error *err)
{
    char url[SVC_HA_URL_MAX + 1];
    const struct svc_lr_settings *set = s->cfg.settings;
    const struct svc_ha_config cfg = { .event = s->cfg.event,
                                       .settings = &set->zk,
                                       .root = set->zk_root,
                                       .url = url,
                                       .active = on_active,
                                       .lost = on_lost,
                                       .kept = on_kept,
                                       .userdata = s };
    int r = svc_ha_check_root(set->zk_root);

    s->begin = begin;
    if (r < 0)
        return sv_error_set(err, r,
                            "selvedge.framework.zk-root=%s: a path of ZooKeeper below \"/\", of at "
                            "most %d bytes and without a slash at its end",
                            set->zk_root, SVC_HA_ROOT_MAX);
    r = find_url(s, url, err);
    if (r == 0 && s->authenticated)
        r = check_acl(s, err);
    if (r == 0)
        r = sd_event_add_defer(s->cfg.event, &s->end, on_end, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->end, SD_EVENT_OFF);
    if (r < 0)
        return err->code ? r : sv_error_errno(err, r, "frameworks");
    r = svc_ha_new(&cfg, &s->ha, err);
    if (r >= 0)
        sv_log_notice("frameworks are in ZooKeeper, %s of %s, for the servers %s", set->zk_root,
                      set->zk.servers, set->address);
    return r;
}
