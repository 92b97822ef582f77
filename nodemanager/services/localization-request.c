/* See localization-request.h. */
#include "nodemanager/services/localization-request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "fs/resolve.h"

/* "scheme://user@host:port/file", or "/file" where the URL has no scheme. -EINVAL: malformed. */
static int url_text(const Hadoop__Yarn__URLProto *u, char ret[FS_URL_MAX + 1])
{
    const char *host = u->host ? u->host : "", *user = u->userinfo ? u->userinfo : "";
    bool has_port = u->has_port && u->port > 0;
    char port[16] = "";
    int n;

    if (!u->file || u->file[0] != '/')
        return -EINVAL;
    if (has_port)
        (void)snprintf(port, sizeof(port), ":%d", u->port);
    if (u->scheme && *u->scheme)
        n = snprintf(ret, FS_URL_MAX + 1, "%s://%s%s%s%s%s", u->scheme, user,
                     u->userinfo ? "@" : "", host, port, u->file);
    else
        n = *host ? -1 : snprintf(ret, FS_URL_MAX + 1, "%s", u->file);
    return n < 0 || n > FS_URL_MAX ? -EINVAL : 0;
}

/* Link names are relative paths of valid components: the script creates them below the work
 * directory. */
static bool link_name_ok(const char *s)
{
    size_t depth = 0;

    if (!s || !*s || *s == '/' || strlen(s) > 1024)
        return false;
    while (*s) {
        char part[FS_NAME_MAX + 1];
        size_t n = strcspn(s, "/");

        if (n == 0 || n > FS_NAME_MAX || ++depth > 16)
            return false;
        memcpy(part, s, n);
        part[n] = 0;
        if (!fs_name_valid(part))
            return false;
        s += n;
        if (*s == '/' && !*++s)
            return false;
    }
    return true;
}

int nm_localization_convert(const Hadoop__Yarn__StringLocalResourceMapProto *m,
                            struct sv_conf *conf, struct sv_arena *a, struct loc_resource *ret,
                            struct sv_error *err)
{
    char text[FS_URL_MAX + 1], url[FS_URL_MAX + 1];
    const Hadoop__Yarn__LocalResourceProto *v = m->value;
    const char *key = m->key ? m->key : "";
    char shown[128];

    sv_escape(shown, sizeof(shown), key);
    if (!v || !v->resource)
        return sv_error_set(err, -EINVAL, "Null resource URL for local resource %s", shown);
    if (!v->has_type)
        return sv_error_set(err, -EINVAL, "Null resource type for local resource %s", shown);
    if (!v->has_visibility)
        return sv_error_set(err, -EINVAL, "Null resource visibility for local resource %s", shown);
    if (!link_name_ok(key))
        return sv_error_set(err, -EINVAL,
                            "local resource \"%s\": not a name for a link below the "
                            "work directory",
                            shown);
    if (url_text(v->resource, text) < 0)
        return sv_error_set(err, -EINVAL, "local resource %s: malformed URL", shown);
    if (fs_resolve(conf, text, url, err) < 0)
        return sv_error_wrap(err, "local resource %s", shown);
    *ret = (struct loc_resource){
        .url = sv_arena_strdup(a, url),
        .timestamp = v->timestamp,
        .size = v->has_size ? v->size : -1,
        .type = (enum loc_type)v->type,
        .visibility = (enum loc_visibility)v->visibility,
        .pattern = v->type == HADOOP__YARN__LOCAL_RESOURCE_TYPE_PROTO__PATTERN ? v->pattern : NULL,
    };
    if (!ret->url)
        return sv_error_errno(err, -ENOMEM, "local resource %s", shown);
    if (loc_resource_check(ret, err) < 0)
        return sv_error_wrap(err, "local resource %s", shown);
    return 0;
}

int nm_localization_check(const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                          struct sv_conf *conf, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    struct loc_resource r;

    if (clc->n_localresources == 0)
        return 0;
    if (clc->n_localresources > LOC_RESOURCES_MAX)
        return sv_error_set(err, -E2BIG, "%zu local resources, at most %d are accepted",
                            clc->n_localresources, LOC_RESOURCES_MAX);
    a = sv_arena_new(0);
    if (!a)
        return sv_error_errno(err, -ENOMEM, "local resources");
    for (size_t i = 0; i < clc->n_localresources; i++) {
        int q = nm_localization_convert(clc->localresources[i], conf, a, &r, err);

        if (q < 0)
            return q;
    }
    return 0;
}
