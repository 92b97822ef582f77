/* See localization-source.h. Hostile: the url, which is checked already. */
#include "nodemanager/services/localization-source.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hdfs/conf.h"
#include "localizer/url.h"

static int name_nodes(struct sv_conf *conf, const struct loc_url *url, struct loc_fetch *f,
                      struct sv_error *err)
{
    struct hdfs_site site;
    int r = hdfs_conf_site(conf, url->host, url->port, &site, err);

    if (r < 0)
        return r;
    if (hdfs_servers_text(&site, f->servers) < 0)
        return sv_error_set(err, -E2BIG, "the addresses of its NameNodes are too long");
    f->io_timeout_ms = site.io_timeout_ms;
    f->options = site.use_hostname ? LOC_OPTION_HOSTNAMES : 0;
    return 0;
}

int nm_localization_source(struct sv_conf *conf, const struct loc_resource *r, const char *login,
                           struct loc_fetch *f, struct sv_error *err)
{
    struct loc_url url;
    int k = loc_url_parse(r->url, &url, err);

    if (k < 0)
        return k;
    if (strlen(login) > LOC_LOGIN_MAX)
        return sv_error_set(err, -ENAMETOOLONG, "Resource %s: the user's name is too long", r->url);
    if (url.scheme < LOC_SCHEME_HDFS)
        return 0; /* file: by the account's own rights; http: without a name */
    memcpy(f->login, login, strlen(login) + 1);
    if (url.scheme == LOC_SCHEME_HDFS && name_nodes(conf, &url, f, err) < 0)
        return sv_error_wrap(err, "Resource %s", r->url);
    return 0;
}

int nm_localization_login(char **ret, struct sv_error *err)
{
    struct passwd pw, *found = NULL;
    char buf[4096];

    if (getpwuid_r(geteuid(), &pw, buf, sizeof buf, &found) == 0 && found)
        *ret = strdup(found->pw_name);
    else {
        (void)snprintf(buf, sizeof buf, "%u", (unsigned)geteuid());
        *ret = strdup(buf);
    }
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "localization");
}
