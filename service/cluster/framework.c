/* See framework.h. */
#include "service/cluster/framework.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "fs/resolve.h"
#include "service/cluster/internal.h"
#include "service/cluster/login.h"
#include "service/cluster/site.h"
#include "service/framework/link.h"

#define MASTER "selvedge-service-am"
#define DEFINITION "framework.json"

struct work { /* texts are the tree's, or the arena's */
    struct svc_cluster *c;
    const json_t *o;
    struct svc_store *store;
    struct sv_arena *a;
    struct sv_error *err;
    char dir[64]; /* the framework's, among the user's services */
    struct cli_resource resources[3];
    struct cli_env env[10];
    struct cli_submission s;
};

static const char *text(const struct work *w, const char *key)
{
    return json_string_value(json_object_get(w->o, key));
}

static int64_t number(const struct work *w, const char *key)
{
    return json_integer_value(json_object_get(w->o, key));
}

/* Names of frameworks are longer than names of services, and have other letters. */
static int find_dir(struct work *w, const char *framework)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    size_t at = 0;

    if (EVP_Digest(framework, strlen(framework), digest, &n, EVP_sha256(), NULL) != 1)
        return sv_error_set(w->err, -EIO, "SHA-256");
    at = (size_t)snprintf(w->dir, sizeof(w->dir), "fw-");
    for (unsigned i = 0; i < 16; i++)
        at += (size_t)snprintf(w->dir + at, sizeof(w->dir) - at, "%02x", digest[i]);
    return 0;
}

/* ---- Submission ---- */

static void add_env(struct work *w, const char *name, const char *value)
{
    if (value && w->s.launch.n_env < SV_ARRAY_LEN(w->env))
        w->env[w->s.launch.n_env++] = (struct cli_env){ name, value };
}

static int add_file(struct work *w, const char *name, const char *content, const char *from)
{
    struct svc_store_file f;
    int r = svc_store_put(w->store, w->dir, name, content, from, &f, w->err);
    const char *url = r < 0 ? NULL : sv_arena_strdup(w->a, f.url);

    if (r < 0)
        return r;
    w->resources[w->s.launch.n_resources++] = (struct cli_resource){
        .name = name,
        .url = url,
        .size = f.size,
        .timestamp = f.mtime_ms,
        .type = CLI_FILE,
        .visibility = CLI_APPLICATION,
    };
    return url ? 0 : sv_error_errno(w->err, -ENOMEM, "submission");
}

/* The directory is made with the definition; files of the same names are replaced. */
static int add_files(struct work *w)
{
    _cleanup_free_ char *site = NULL, *definition = NULL;
    json_t *o = json_pack("{s:s, s:s, s:O}", "frameworkName", text(w, "framework"), "applicationId",
                          text(w, "app"), "descriptor", json_object_get(w->o, "descriptor"));
    int r = svc_store_create(w->store, w->dir, NULL, "{}\n", w->err);

    definition = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    if (r == -EEXIST)
        r = 0;
    if (r == 0 && !definition)
        r = sv_error_errno(w->err, -ENOMEM, "submission");
    if (r == 0)
        r = svc_site_text(w->c->cfg.conf, &site, w->err);
    if (r == 0)
        r = add_file(w, MASTER, NULL, w->c->cfg.program);
    if (r == 0)
        r = add_file(w, "yarn-site.xml", site, NULL);
    return r < 0 ? r : add_file(w, DEFINITION, definition, NULL);
}

static int add_launch(struct work *w)
{
    const char *url = w->resources[2].url;

    if (strchr(url, '\''))
        return sv_error_set(w->err, -EINVAL, "%s: a path without quotes is needed", url);
    add_env(w, "LANG", "en_US.UTF-8");
    add_env(w, "LC_ALL", "en_US.UTF-8");
    add_env(w, "HADOOP_USER_NAME", w->c->cfg.user);
    add_env(w, "HADOOP_CONF_DIR", "{{PWD}}");
    add_env(w, SVC_FW_ENV_LINK, text(w, "link"));
    add_env(w, SVC_FW_ENV_TOKEN, text(w, "token"));
    add_env(w, "FRAMEWORK_NAME", text(w, "framework"));
    add_env(w, "FRAMEWORK_VERSION", sv_arena_printf(w->a, "%" PRId64, number(w, "version")));
    w->s.launch.command = sv_arena_printf(w->a,
                                          "exec ./" MASTER " -framework '%s' "
                                          "1><LOG_DIR>/stdout 2><LOG_DIR>/stderr",
                                          url);
    return w->s.launch.command ? 0 : sv_error_errno(w->err, -ENOMEM, "submission");
}

static void on_submitted(int status, const struct sv_error *err, void *userdata)
{
    svc_wait_end(userdata, status, err);
}

/* Without it the master runs, too, and asks for no lists. */
static void get_rm_token(struct work *w)
{
    struct sv_error why = { 0 };

    if (svc_login_rm_token(w->c, &why) < 0)
        sv_log_warning("%s: its master cannot ask for containers and nodes: %s",
                       text(w, "framework"), why.text);
}

static int submit(struct work *w)
{
    struct svc_wait wait = { .err = w->err };
    const char *app = text(w, "app");
    int r = app && yarn_app_id_parse(app, &w->s.app) == 0 ? svc_cluster_rm(w->c, w->err) : -EBADMSG;

    if (r == 0)
        r = svc_cluster_store(w->c, &w->store, w->err);
    if (r == 0)
        r = add_files(w);
    if (r == 0)
        r = add_launch(w);
    if (r < 0)
        return r;
    get_rm_token(w);
    w->s.name = text(w, "name");
    w->s.type = "LAUNCHER";
    w->s.queue = text(w, "queue");
    w->s.am_label = text(w, "label");
    w->s.resource = (struct yarn_resource){ .memory_mb = number(w, "memory"),
                                            .vcores = (int32_t)number(w, "cpus"),
                                            .gpus = (int32_t)number(w, "gpus") };
    w->s.priority = (int32_t)number(w, "priority");
    w->s.keep_containers = true;
    w->s.max_attempts = (int32_t)number(w, "attempts");
    w->s.failure_validity_ms = number(w, "validity") * 1000;
    w->s.launch.resources = w->resources;
    w->s.launch.env = w->env;
    svc_login_tokens(w->c, &w->s.launch.tokens, &w->s.launch.tokens_len);
    r = svc_cluster_rm_end(w->c, cli_rm_submit(w->c->rm, &w->s, on_submitted, &wait), &wait);
    if (r == 0)
        svc_login_handed(w->c);
    return r;
}

/* ---- End ---- */

/* One that is unknown, or has ended, is killed well enough. */
static int end(struct work *w, bool remove)
{
    struct yarn_app_id app;
    const char *id = text(w, "app");
    int r = id && *id && yarn_app_id_parse(id, &app) == 0
                ? svc_rm_kill(w->c, app, "The framework is stopped.", w->err)
                : 0;

    if (r == -ENOENT)
        r = 0;
    if (r < 0 || !remove)
        return r;
    r = svc_cluster_store(w->c, &w->store, w->err);
    return r < 0 ? r : svc_store_remove(w->store, w->dir, w->err);
}

static void answer(struct svc_answer *ret, int r, const struct sv_error *err)
{
    bool refused = r == -EREMOTEIO || r == -EACCES || r == -EPERM || r == -ENOENT || r == -EINVAL ||
                   r == -EEXIST || r == -ENODEV;
    json_t *o = json_pack("{s:s}", "diagnostics", r < 0 ? err->text : "");

    ret->status = r >= 0 ? SVC_WORK_DONE : refused ? SVC_WORK_REFUSED : SVC_WORK_AWAY;
    if (!o) /* a text that is not UTF-8 */
        o = json_pack("{s:s}", "diagnostics", strerror(-r));
    ret->body = o ? json_dumps(o, JSON_COMPACT) : NULL;
    ret->body_len = ret->body ? strlen(ret->body) : 0;
    json_decref(o);
}

void svc_framework_work(struct svc_cluster *c, const struct svc_request *q, struct svc_answer *ret)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct work w = { .c = c, .a = a, .err = &err };
    json_t *o = json_loadb(q->body, q->body_len, 0, NULL);
    int r = a && o ? 0 : sv_error_errno(&err, -ENOMEM, "framework");

    w.o = o;
    if (r == 0 && text(&w, "framework"))
        r = find_dir(&w, text(&w, "framework"));
    if (r == 0)
        r = strcmp(q->uri, "/submit") == 0 ? submit(&w) : end(&w, text(&w, "framework") != NULL);
    answer(ret, r, &err);
    json_decref(o);
}
