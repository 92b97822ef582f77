/* See container-env.h. Hostile: names and values of the application; the script writer of executor/
 * quotes them. Only whitelisted names of the daemon's own environment are passed on. */
#include "nodemanager/launch/container-env.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container-paths.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/launch/launcher.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/services/localization.h"

struct env_list {
    struct sv_arena *arena;
    struct exe_env *env;
    size_t n, cap;
    bool full; /* out of memory or of slots */
};

static void add(struct env_list *l, const char *name, const char *value, enum exe_env_kind kind)
{
    if (l->n == l->cap || !value) {
        l->full = true;
        return;
    }
    l->env[l->n++] = (struct exe_env){ name, value, kind };
}

static bool valid_name(const char *s)
{
    if (!s || !*s || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_'))
            return false;
    return true;
}

const char *nm_env_own_value(const struct nm_container *c, const char *name)
{
    for (size_t i = c->clc->n_environment; i-- > 0;)
        if (sv_streq(c->clc->environment[i]->key, name))
            return c->clc->environment[i]->value;
    return NULL;
}

/* A variable of the daemon's; what is about its Kerberos is no container's. */
static const char *inherited(const char *name)
{
    return sv_has_prefix(name, "KRB5") || sv_streq(name, "CREDENTIALS_DIRECTORY") ? NULL
                                                                                  : getenv(name);
}

const char *nm_env_value(const struct nm_container *c, const char *name)
{
    const char *v = nm_env_own_value(c, name);

    for (char **w = c->ctx->conf->env_whitelist; !v && w && *w; w++)
        if (!strcmp(*w, name))
            v = inherited(name);
    return v;
}

/* "a,b,c" with one path for each directory in the mask. */
static const char *join_dirs(struct sv_arena *a, const struct nm_container *c, bool log,
                             uint32_t mask, const char *tail)
{
    const struct nm_dirs *d = c->ctx->dirs;
    int n = log ? nm_dirs_n_log(d) : nm_dirs_n_local(d);
    char *s = NULL;

    for (int i = 0; i < n; i++) {
        if (!(mask & (1u << i)))
            continue;
        s = sv_arena_printf(a, "%s%s%s%s", s ? s : "", s ? "," : "",
                            log ? nm_dirs_log(d, i) : nm_dirs_local(d, i), tail);
        if (!s)
            return NULL;
    }
    return s ? s : "";
}

/* yarn.nodemanager.admin-env: "A=x,B=$C"; $NAME is the container's value, else the daemon's. Omits
 * empty values. */
static void add_admin_env(struct env_list *l, const struct nm_container *c)
{
    char *rest = sv_arena_strdup(l->arena, c->ctx->conf->admin_env), *p;

    while ((p = strsep(&rest, ","))) {
        char *eq = strchr(p, '=');
        const char *value;

        while (*p == ' ')
            p++;
        if (!eq)
            continue;
        *eq = 0;
        value = eq + 1;
        if (*value == '$') {
            const char *from = value + 1;

            value = nm_env_own_value(c, from);
            value = value ? value : inherited(from);
        }
        if (valid_name(p) && value && *value)
            add(l, p, value, EXE_ENV_LITERAL);
    }
}

static void add_standard(struct env_list *l, const struct nm_container *c)
{
    const struct nm_context *ctx = c->ctx;
    struct sv_arena *a = l->arena;
    uint32_t local = nm_dirs_local_usable(ctx->dirs) & c->app->local_dirs;
    uint32_t logs = nm_dirs_log_usable(ctx->dirs) & c->app->log_dirs;
    char work[PATH_MAX];
    char *path;

    if (nm_container_work_dir(c, work, sizeof(work)) < 0) {
        l->full = true;
        return;
    }
    add(l, "HADOOP_TOKEN_FILE_LOCATION", sv_arena_printf(a, "%s/container_tokens", work),
        EXE_ENV_LITERAL);
    add(l, "CONTAINER_ID", c->text, EXE_ENV_LITERAL);
    add(l, "NM_PORT", sv_arena_printf(a, "%d", ctx->node_id.port), EXE_ENV_LITERAL);
    add(l, "NM_HOST", ctx->node_id.host, EXE_ENV_LITERAL);
    add(l, "NM_HTTP_PORT", sv_arena_printf(a, "%u", ctx->http_port), EXE_ENV_LITERAL);
    path = sv_arena_printf(a, "/usercache/%s/appcache/%s", c->app->user, c->app->text);
    add(l, "LOCAL_DIRS", path ? join_dirs(a, c, false, local, path) : NULL, EXE_ENV_LITERAL);
    path = sv_arena_printf(a, "/usercache/%s/", c->app->user);
    add(l, "LOCAL_USER_DIRS", path ? join_dirs(a, c, false, local, path) : NULL, EXE_ENV_LITERAL);
    path = sv_arena_printf(a, "/%s/%s", c->app->text, c->text);
    add(l, "LOG_DIRS", path ? join_dirs(a, c, true, logs, path) : NULL, EXE_ENV_LITERAL);
    add(l, "USER", c->app->user, EXE_ENV_LITERAL);
    add(l, "LOGNAME", c->app->user, EXE_ENV_LITERAL);
    add(l, "HOME", ctx->conf->user_home, EXE_ENV_LITERAL);
    add(l, "PWD", sv_arena_strdup(a, work), EXE_ENV_LITERAL);
    add(l, "LOCALIZATION_COUNTERS", nm_resources_counters(c, a), EXE_ENV_LITERAL);
    add(l, "JVM_PID", "$$", EXE_ENV_EXPAND);
}

/* Metadata of the services' `ready`, in the form that Hadoop's AuxiliaryServiceHelper reads. */
static void add_aux_services(struct env_list *l, const struct nm_aux *aux)
{
    for (size_t i = 0; i < nm_aux_count(aux); i++) {
        _cleanup_free_ char *base64 = NULL;
        struct nm_aux_info info;

        nm_aux_info(aux, i, &info);
        if (!info.metadata)
            continue;
        if (sv_base64_encode(info.metadata, info.metadata_len, &base64) < 0)
            l->full = true;
        else
            add(l, sv_arena_printf(l->arena, "NM_AUX_SERVICE_%s", info.name),
                sv_arena_strdup(l->arena, base64), EXE_ENV_LITERAL);
    }
}

int nm_env_check(const Hadoop__Yarn__ContainerLaunchContextProto *clc, const char *container,
                 struct sv_error *err)
{
    size_t total = 0;

    if (clc->n_environment > EXE_ENV_MAX)
        return sv_error_set(err, -E2BIG,
                            "Container %s: %zu environment variables, at most %d are accepted",
                            container, clc->n_environment, EXE_ENV_MAX);
    for (size_t i = 0; i < clc->n_environment; i++) {
        const Hadoop__Yarn__StringStringMapProto *e = clc->environment[i];
        size_t n = (e->key ? strlen(e->key) : 0) + (e->value ? strlen(e->value) : 0);
        char shown[64];

        total += n;
        if (n + 2 <= EXE_ENV_VARIABLE_MAX)
            continue;
        sv_escape(shown, sizeof(shown), e->key ? e->key : "");
        return sv_error_set(err, -E2BIG,
                            "Container %s: environment variable \"%s\" has %zu bytes, at most "
                            "%d are accepted",
                            container, shown, n + 2, EXE_ENV_VARIABLE_MAX);
    }
    if (total > EXE_ENV_BYTES_MAX)
        return sv_error_set(err, -E2BIG,
                            "Container %s: %zu bytes of environment, at most %d are accepted",
                            container, total, EXE_ENV_BYTES_MAX);
    return 0;
}

int nm_env_build(const struct nm_container *c, const struct nm_aux *aux, struct sv_arena *a,
                 struct exe_env **ret, size_t *ret_n, struct sv_error *err)
{
    const struct nm_conf *conf = c->ctx->conf;
    size_t n_white = sv_strv_len(conf->env_whitelist), n_gpu = 0;
    struct env_list l = { .arena = a };
    struct nm_variable *gpu = NULL;
    int r =
        c->launch.launcher ? nm_assign_env(c->launch.launcher->assignments, c, a, &gpu, &n_gpu) : 0;

    l.cap = c->clc->n_environment + n_white + nm_aux_count(aux) + n_gpu + 64;
    l.env = sv_newn(a, struct exe_env, l.cap);
    if (r < 0 || !l.env)
        return sv_error_errno(err, -ENOMEM, "%s: environment", c->text);
    for (size_t i = 0; i < c->clc->n_environment; i++) {
        const Hadoop__Yarn__StringStringMapProto *e = c->clc->environment[i];

        if (!valid_name(e->key)) {
            char shown[64];

            sv_escape(shown, sizeof(shown), e->key ? e->key : "");
            return sv_error_set(err, -EINVAL,
                                "%s: environment variable \"%s\" has a name that "
                                "cannot be exported",
                                c->text, shown);
        }
        add(&l, e->key, e->value ? e->value : "", EXE_ENV_EXPAND);
    }
    for (size_t i = 0; i < n_white; i++) {
        const char *name = conf->env_whitelist[i], *value = inherited(name);

        if (value && valid_name(name) && !nm_env_own_value(c, name))
            add(&l, name, value, EXE_ENV_WHITELIST);
    }
    add_standard(&l, c);
    for (size_t i = 0; i < n_gpu; i++) /* a job's own name another card, or none */
        add(&l, gpu[i].name, gpu[i].value, EXE_ENV_LITERAL);
    add_aux_services(&l, aux);
    add_admin_env(&l, c);
    if (*conf->force_path) {
        const char *path = nm_env_value(c, "PATH");

        add(&l, "PATH", sv_arena_printf(a, "%s:%s", conf->force_path, path ? path : "$PATH"),
            EXE_ENV_EXPAND);
    }
    if (l.full)
        return sv_error_errno(err, -ENOMEM, "%s: environment", c->text);
    *ret = l.env;
    *ret_n = l.n;
    return 0;
}
