/* See interceptors.h. */
#include "nodemanager/amrmproxy/interceptors.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

static const struct sv_conf_key key = {
    NM_AMRM_PIPELINE_KEY, SV_CONF_LIST,
    "org.apache.hadoop.yarn.server.nodemanager.amrmproxy.DefaultRequestInterceptor"
};

static const struct nm_amrm_interceptor *find(const struct nm_amrm_interceptor *const *all,
                                              const char *java_class)
{
    for (; *all; all++)
        if (sv_streq((*all)->java_class, java_class))
            return *all;
    return NULL;
}

static int refuse(struct sv_conf *c, const char *class, const char *why, struct sv_error *err)
{
    char at[512];

    sv_conf_origin(c, &key, at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s: \"%.128s\" %s", at, class, why);
}

/* Hadoop's two classes end a chain; which other one could stand before them is unknown here. */
static int choose(struct sv_conf *c, const struct nm_amrm_interceptor *const *all,
                  char *const *classes, const struct nm_amrm_interceptor **ret,
                  struct sv_error *err)
{
    if (!classes || !classes[0])
        return refuse(c, "", "names no class; unset it for DefaultRequestInterceptor", err);
    for (size_t i = 0; classes[i]; i++) {
        const struct nm_amrm_interceptor *found = find(all, classes[i]);

        if (!found)
            return refuse(c, classes[i],
                          "is no interceptor of this version, which has "
                          "DefaultRequestInterceptor and FederationInterceptor of "
                          "org.apache.hadoop.yarn.server.nodemanager.amrmproxy; remove it",
                          err);
        if (i > 0)
            return refuse(c, classes[i],
                          "stands behind a class that is the last of a chain; leave one of them",
                          err);
        *ret = found;
    }
    return 0;
}

static int check_federation(struct sv_conf *c, const struct nm_amrm_interceptor *found,
                            struct sv_error *err)
{
    static const struct sv_conf_key enabled = { "yarn.federation.enabled", SV_CONF_BOOL, "false" };
    bool on;
    int r = sv_conf_bool(c, &enabled, &on, err);

    if (r < 0 || on || !found->needs_federation)
        return r;
    return refuse(c, found->java_class,
                  "needs yarn.federation.enabled=true, and the keys of its state store", err);
}

int nm_amrm_interceptor_of(struct sv_conf *c, const struct nm_amrm_interceptor *const *all,
                           const struct nm_amrm_interceptor **ret, struct sv_error *err)
{
    _cleanup_strv_ char **classes = NULL;
    int r = sv_conf_list(c, &key, &classes, err);

    if (r >= 0)
        r = choose(c, all, classes, ret, err);
    if (r >= 0)
        r = check_federation(c, *ret, err);
    if (r >= 0 && (*ret)->check)
        r = (*ret)->check(c, err);
    return r;
}
