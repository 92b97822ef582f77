/* See log-places.h. */
#include "client/logs/log-places.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "fs/resolve.h"

#define REMOTE "yarn.nodemanager.remote-app-log-dir"
#define OWN "yarn.log-aggregation.%s.remote-app-log-dir"

struct finder {
    struct sv_conf *conf;
    const char *user, *suffix, *remote;
    char app[YARN_ID_TEXT_MAX], bucket[16];
    struct cli_places places;
};

int cli_aggregation_enabled(struct sv_conf *c, bool *ret, struct sv_error *err)
{
    static const struct sv_conf_key key = { "yarn.log-aggregation-enable", SV_CONF_BOOL, "false" };

    return sv_conf_bool(c, &key, ret, err);
}

void cli_places_free(struct cli_places *p)
{
    free(p->v);
    *p = (struct cli_places){ 0 };
}

static const char *value(struct finder *f, const char *fallback, const char *key)
{
    const char *v = sv_conf_raw(f->conf, key);

    return v && *v ? v : fallback;
}

static bool known(const struct cli_places *p, const struct cli_place *one)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].dir, one->dir) == 0 && strcmp(p->v[i].root.path, one->root.path) == 0 &&
            strcmp(p->v[i].root.host, one->root.host) == 0)
            return true;
    return false;
}

/* Adds {user}/{prefix}{suffix}/[{bucket}/]{application}. */
static int add(struct finder *f, const char *remote, const char *suffix, bool bucket,
               struct sv_error *err)
{
    struct cli_places *p = &f->places;
    struct cli_place *one = &p->v[p->n];
    int n, r = p->n < CLI_PLACES_MAX ? fs_resolve_url(f->conf, remote, &one->root, err)
                                     : sv_error_set(err, -E2BIG, "too many formats of logs");

    if (r < 0)
        return sv_error_wrap(err, "%s=%s", REMOTE, remote);
    n = bucket ? snprintf(one->dir, sizeof(one->dir), "%s/bucket-%s/%s/%s", f->user, suffix,
                          f->bucket, f->app)
               : snprintf(one->dir, sizeof(one->dir), "%s/%s/%s", f->user, suffix, f->app);
    if (n >= (int)sizeof(one->dir))
        return sv_error_set(err, -EINVAL, "%s-suffix: \"%.100s\" is too long", REMOTE, suffix);
    if (!known(p, one))
        p->n++;
    return 0;
}

static int add_format(struct finder *f, const char *name, struct sv_error *err)
{
    _cleanup_free_ char *suffix = NULL, *dir_key = NULL, *suffix_key = NULL;
    const char *remote, *own;
    int r = sv_asprintf(&dir_key, OWN, name);

    if (r >= 0)
        r = sv_asprintf(&suffix_key, OWN "-suffix", name);
    if (r < 0)
        return sv_error_errno(err, r, "configuration");
    remote = value(f, f->remote, dir_key);
    own = value(f, NULL, suffix_key);
    r = own ? sv_asprintf(&suffix, "%s", own) : sv_asprintf(&suffix, "%s-%s", f->suffix, name);

    if (r < 0)
        return sv_error_errno(err, r, "configuration");
    if (!own && strcasecmp(name, "IndexedFile") == 0) { /* Hadoop names its controller IFile */
        r = add_format(f, "IFile", err);
        if (r < 0)
            return r;
    }
    for (char *c = own ? suffix + strlen(suffix) : suffix + strlen(f->suffix); *c; c++)
        *c = (char)tolower((unsigned char)*c);
    r = add(f, remote, suffix, true, err);
    if (r == 0)
        r = add(f, remote, suffix, false, err);
    return r < 0 ? r : add(f, remote, f->suffix, false, err);
}

int cli_places(struct sv_conf *c, const char *user, struct yarn_app_id app, struct cli_places *ret,
               struct sv_error *err)
{
    static const struct sv_conf_key formats = { "yarn.log-aggregation.file-formats", SV_CONF_LIST,
                                                "TFile" };
    _cleanup_strv_ char **names = NULL;
    struct finder f = { .conf = c, .user = user };
    int r = sv_conf_list(c, &formats, &names, err);

    if (r < 0)
        return r;
    if (!*user || strchr(user, '/') || *user == '.')
        return sv_error_set(err, -EINVAL, "\"%s\" is not a user name", user);
    yarn_app_id_text(app, f.app);
    (void)snprintf(f.bucket, sizeof(f.bucket), "%04d", app.id % 10000);
    f.remote = value(&f, "/tmp/logs", REMOTE);
    f.suffix = value(&f, "logs", REMOTE "-suffix");
    f.places.v = calloc(CLI_PLACES_MAX + 1, sizeof(*f.places.v));
    r = f.places.v ? 0 : sv_error_errno(err, -ENOMEM, "places of logs");
    for (char **n = names; r == 0 && n && *n; n++)
        r = add_format(&f, *n, err);
    if (r == 0) /* for a cluster that now writes another format */
        r = add_format(&f, "TFile", err);
    if (r < 0) {
        cli_places_free(&f.places);
        return r;
    }
    *ret = f.places;
    return 0;
}
