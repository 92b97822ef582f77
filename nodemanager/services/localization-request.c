/* See localization-request.h. */
#include "nodemanager/services/localization-request.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

/* "scheme://user@host:port/file" in the arena; NULL: malformed. */
static const char *url_text(struct sv_arena *a, const Hadoop__Yarn__URLProto *u,
                            const char *default_fs)
{
    const char *scheme, *host;

    if (!u || !u->file || u->file[0] != '/')
        return NULL;
    host = u->host ? u->host : "";
    if (!u->scheme || !*u->scheme)
        return *host ? NULL : sv_arena_printf(a, "%s%s", default_fs, u->file);
    scheme = u->scheme;
    if (u->has_port && u->port > 0)
        return sv_arena_printf(a, "%s://%s%s%s:%d%s", scheme, u->userinfo ? u->userinfo : "",
                               u->userinfo ? "@" : "", host, u->port, u->file);
    return sv_arena_printf(a, "%s://%s%s%s%s", scheme, u->userinfo ? u->userinfo : "",
                           u->userinfo ? "@" : "", host, u->file);
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
                            const char *default_fs, struct sv_arena *a, struct loc_resource *ret,
                            struct sv_error *err)
{
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
    *ret = (struct loc_resource){
        .url = url_text(a, v->resource, default_fs),
        .timestamp = v->timestamp,
        .size = v->has_size ? v->size : -1,
        .type = (enum loc_type)v->type,
        .visibility = (enum loc_visibility)v->visibility,
        .pattern = v->type == HADOOP__YARN__LOCAL_RESOURCE_TYPE_PROTO__PATTERN ? v->pattern : NULL,
    };
    if (!ret->url)
        return sv_error_set(err, -EINVAL, "local resource %s: malformed URL", shown);
    if (loc_resource_check(ret, err) < 0)
        return sv_error_wrap(err, "local resource %s", shown);
    return 0;
}

int nm_localization_check(const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                          const char *default_fs, struct sv_error *err)
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
        int q = nm_localization_convert(clc->localresources[i], default_fs, a, &r, err);

        if (q < 0)
            return q;
    }
    return 0;
}
