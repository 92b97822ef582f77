/* See localization-source.h. Hostile: the url, which has been checked before. */
#include "nodemanager/services/localization-source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/own-user.h"
#include "common/str.h"
#include "fs/url.h"
#include "hdfs/conf.h"
#include "nodemanager/conf/conf-s3.h"
#include "wire/token/token.h"

static int name_nodes(struct sv_conf *conf, const struct fs_url *url, struct loc_fetch *f,
                      struct sv_error *err)
{
    struct hdfs_site site;
    int r = hdfs_conf_site(conf, url->host, url->port, &site, err);

    if (r < 0)
        return r;
    if (hdfs_servers_text(&site, f->servers) < 0)
        return sv_error_set(err, -E2BIG, "the addresses of its NameNodes are too long");
    f->io_timeout_ms = site.io_timeout_ms;
    f->failovers = site.failover.attempts;
    f->failover_base_ms = site.failover.base_ms;
    f->failover_max_ms = site.failover.max_ms;
    f->options = site.use_hostname ? LOC_OPTION_HOSTNAMES : 0;
    f->protection = hdfs_site_protection(&site);
    return 0;
}

static const char *find_secret(void *userdata, const char *name, size_t *ret_len)
{
    const struct yarn_credentials *c = userdata;

    for (size_t i = 0; i < c->n_secrets; i++)
        if (sv_streq(c->secrets[i].alias, name)) {
            *ret_len = c->secrets[i].len;
            return (const char *)c->secrets[i].secret;
        }
    return NULL;
}

static int s3(struct sv_conf *conf, const struct fs_url *url, enum loc_visibility visibility,
              const struct nm_source_user *user, struct loc_fetch *f, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    struct yarn_credentials c;
    int r = nm_conf_s3_place(conf, url->host, f, err);

    if (r < 0)
        return r;
    if (visibility == LOC_PUBLIC)
        return nm_conf_s3_keys_of_cluster(conf, url->host, f, err);
    a = sv_arena_new(0);
    if (!a)
        return sv_error_errno(err, -ENOMEM, "credentials");
    r = yarn_credentials_parse(user->credentials, user->n_credentials, a, &c, err);
    return r < 0 ? r : nm_conf_s3_keys(url->host, find_secret, &c, f, err);
}

int nm_localization_source(struct sv_conf *conf, const struct loc_resource *r,
                           const struct nm_source_user *user, struct loc_fetch *f,
                           struct sv_error *err)
{
    struct fs_url url;
    int k = fs_url_parse(r->url, &url, err);

    if (k < 0)
        return k;
    if (strlen(user->login) > LOC_LOGIN_MAX)
        return sv_error_set(err, -ENAMETOOLONG, "Resource %s: the user's name is too long", r->url);
    if (url.scheme < FS_SCHEME_HDFS)
        return 0; /* file: with the account's own rights; http: without a user name */
    if (url.scheme == FS_SCHEME_S3)
        k = s3(conf, &url, r->visibility, user, f, err);
    else
        memcpy(f->login, user->login, strlen(user->login) + 1);
    if (url.scheme == FS_SCHEME_HDFS)
        k = name_nodes(conf, &url, f, err);
    return k < 0 ? sv_error_wrap(err, "Resource %s", r->url) : 0;
}

void nm_localization_config(const struct nm_conf *conf, struct loc_config *ret)
{
    loc_config_defaults(ret);
    ret->local_dirs = (const char *const *)conf->local_dirs;
    ret->target_size = conf->cache_target_bytes;
    ret->cleanup_interval_ms = conf->cache_cleanup_ms;
    ret->limits = conf->localizer.limits;
    ret->deadline_ms = (uint32_t)conf->localizer.timeout_ms;
    ret->verify_size = conf->localizer.verify_size;
    ret->parallel_public = (uint32_t)conf->fetch_threads;
    ret->parallel_private = conf->localizer.parallel;
    if (conf->network == EXE_NETWORK_NONE)
        ret->no_network =
            "selvedge.nodemanager.network is none on this node, for localization, too; "
            "only file: and cached resources can be used";
}

int nm_localization_login(char **ret, struct sv_error *err)
{
    const char *own = sv_own_user();
    char number[16];

    (void)snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
    *ret = strdup(own ? own : number);
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "localization");
}
