/* See aux-events.h. */
#include "nodemanager/aux-services/aux-events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/conf.h"
#include "common/str.h"
#include "common/web/json-text.h"
#include "nodemanager/aux-services/aux-conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"

#define APPLICATION_MASTER 1 /* ContainerTypeProto */

static json_t *local_dirs(const struct nm_context *ctx)
{
    uint32_t readable = nm_dirs_local_mask(ctx->dirs);
    json_t *list = json_array();

    for (int i = 0; i < nm_dirs_n_local(ctx->dirs); i++)
        if (readable & (1u << i) &&
            json_array_append_new(list, sv_json_text(nm_dirs_local(ctx->dirs, i))) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *names_json(const char *const *names, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(list, json_string(names[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Created at the daemon's start; NULL without recovery. */
static json_t *state_dir(const struct nm_context *ctx, const char *service)
{
    char path[4096];

    if (!ctx->conf->recovery)
        return json_null();
    snprintf(path, sizeof(path), "%s/aux-services/%s", ctx->conf->recovery_dir, service);
    return sv_json_text(path);
}

char *nm_aux_init_text(const struct nm_context *ctx, const struct nm_aux_conf *conf,
                       const char *properties, const char *const *listen, size_t n_listen)
{
    const char *dir = sv_conf_dir(ctx->conf->conf);
    char http[300];
    json_t *j;
    char *text;

    snprintf(http, sizeof(http), "%s:%u", ctx->node_id.host, ctx->http_port);
    j = json_pack("{s:s, s:i, s:s, s:{s:s, s:s, s:s}, s:o, s:o, s:o, s:o, s:o}", "type", "init",
                  "protocol", 1, "service", conf->name, "node", "id", ctx->node_id_text, "host",
                  ctx->node_id.host, "httpAddress", http, "localDirs", local_dirs(ctx), "stateDir",
                  state_dir(ctx, conf->name), "confDir", dir ? sv_json_text(dir) : json_null(),
                  "properties", json_loads(properties, 0, NULL), "listenFds",
                  names_json(listen, n_listen));
    text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    return text;
}

/* Uid of the owner of the submitter's cache, which the helper has created for the account: avoids a
 * name look-up on the loop. */
static json_t *account_uid(const struct nm_app *a)
{
    const struct nm_dirs *d = a->ctx->dirs;
    uint32_t mask = nm_dirs_local_mask(d) & a->local_dirs;
    char path[4096];
    struct stat st;

    for (int i = 0; i < nm_dirs_n_local(d); i++) {
        if (!(mask & (1u << i)))
            continue;
        snprintf(path, sizeof(path), "%s/usercache/%s", nm_dirs_local(d, i), a->user);
        if (fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
            return json_integer(st.st_uid);
    }
    return json_null();
}

json_t *nm_aux_app_init(const struct nm_app *a, const uint8_t *data, size_t n, bool recovered)
{
    _cleanup_free_ char *base64 = NULL;
    char dir[YARN_ID_TEXT_MAX + 512];

    if (sv_base64_encode(data, n, &base64) < 0)
        return NULL;
    snprintf(dir, sizeof(dir), "usercache/%s/appcache/%s", a->user, a->text);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:b}", "type", "application-init",
                     "applicationId", a->text, "user", sv_json_text(a->user), "account",
                     sv_json_text(a->run_as), "uid", account_uid(a), "appDir", sv_json_text(dir),
                     "data", base64, "recovered", recovered);
}

json_t *nm_aux_app_stop_event(const struct nm_app *a)
{
    return json_pack("{s:s, s:s}", "type", "application-stop", "applicationId", a->text);
}

json_t *nm_aux_container_event(const struct nm_container *c, const char *type)
{
    char app[YARN_ID_TEXT_MAX];

    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:i, s:s}", "type", type, "containerId",
                     c->text, "applicationId", yarn_app_id_text(c->id.attempt.app, app), "user",
                     sv_json_text(c->app ? c->app->user : ""), "account",
                     sv_json_text(c->app ? c->app->run_as : ""), "memory",
                     (json_int_t)c->resource.memory_mb, "vcores", (int)c->resource.vcores,
                     "containerType",
                     c->container_type == APPLICATION_MASTER ? "APPLICATION_MASTER" : "TASK");
}

json_t *nm_aux_dirs_event(const struct nm_context *ctx)
{
    return json_pack("{s:s, s:o}", "type", "local-dirs", "localDirs", local_dirs(ctx));
}
