/* Submits the master of a service: ours, which nodes fetch with the keys it needs, or Hadoop's
 * ServiceMaster, which nodes have. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"
#include "fs/resolve.h"
#include "service/cluster/internal.h"
#include "service/cluster/login.h"
#include "service/cluster/site.h"
#include "service/definition/service-keys.h"

#define MASTER "selvedge-service-am"

enum { K_MASTER, K_JVM, K_CLASSPATH, K_FRAMEWORK, K_ZK_ROOT, K_ZK_QUORUM, K_COUNT };
static const struct sv_conf_key keys[] = {
    [K_MASTER] = { "selvedge.service.master", SV_CONF_STRING, "selvedge",
                   .help = "The master of services that choose none: selvedge, or hadoop's." },
    [K_JVM] = { "yarn.service.am.java.opts", SV_CONF_STRING, "",
                .help = "Options of the JVM of Hadoop's master; -Xmx768m where they set none." },
    [K_CLASSPATH] = { "yarn.service.classpath", SV_CONF_STRING, "",
                      .help = "Further class path of Hadoop's master, comma-separated." },
    [K_FRAMEWORK] = { "yarn.service.framework.path", SV_CONF_STRING, NULL,
                      .help = "Archive with the classes of Hadoop's master, which nodes fetch." },
    [K_ZK_ROOT] = { "hadoop.registry.zk.root", SV_CONF_STRING, "/registry",
                    .help = "Passed to Hadoop's master." },
    [K_ZK_QUORUM] = { "hadoop.registry.zk.quorum", SV_CONF_STRING, NULL,
                      .help = "Passed to Hadoop's master." },
};
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *svc_cluster_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* One submission; texts are the arena's. */
struct submission {
    struct svc_cluster *c;
    const struct svc_definition *d;
    struct svc_store *store;
    struct sv_arena *arena;
    struct sv_error *err;
    struct cli_resource resources[2];
    struct cli_env env[8];
    char definition[FS_URL_MAX + 1]; /* url */
    struct cli_submission s;
};

static int no_memory(struct submission *u)
{
    return sv_error_errno(u->err, -ENOMEM, "submission of %s", u->d->name);
}

static void add_env(struct submission *u, const char *name, const char *value)
{
    if (u->s.launch.n_env < SV_ARRAY_LEN(u->env))
        u->env[u->s.launch.n_env++] = (struct cli_env){ name, value };
}

/* ---- Files ---- */

static int add_file(struct submission *u, const char *name, const char *text, const char *from)
{
    struct svc_store_file f;
    int r = svc_store_put(u->store, u->d->name, name, text, from, &f, u->err);

    if (r < 0)
        return r;
    u->resources[u->s.launch.n_resources++] = (struct cli_resource){
        .name = name,
        .url = sv_arena_strdup(u->arena, f.url),
        .size = f.size,
        .timestamp = f.mtime_ms,
        .type = CLI_FILE,
        .visibility = CLI_APPLICATION,
    };
    return u->resources[u->s.launch.n_resources - 1].url ? 0 : no_memory(u);
}

static int our_master(struct submission *u)
{
    _cleanup_free_ char *site = NULL;
    int r = svc_site_text(u->c->cfg.conf, &site, u->err);

    if (r == 0)
        r = add_file(u, MASTER, NULL, u->c->cfg.program);
    if (r == 0)
        r = add_file(u, "yarn-site.xml", site, NULL);
    if (r < 0)
        return r;
    add_env(u, "HADOOP_CONF_DIR", "{{PWD}}");
    u->s.launch.command = sv_arena_printf(u->arena,
                                          "exec ./" MASTER " -yarnfile '%s' -service_name %s "
                                          "1><LOG_DIR>/stdout 2><LOG_DIR>/stderr",
                                          u->definition, u->d->name);
    return u->s.launch.command ? 0 : no_memory(u);
}

/* ---- Hadoop's master ---- */

static const char *key_text(struct submission *u, int k)
{
    const char *text = NULL;

    return sv_conf_string(u->c->cfg.conf, &keys[k], &text, u->err) < 0 ? NULL : text ? text : "";
}

/* The definition's value, else the cluster's. Goes into a shell's line. */
static int jvm_options(struct submission *u, const char **ret)
{
    const char *own = svc_map_get(&u->d->configuration.properties, keys[K_JVM].name);
    const char *text = own ? own : key_text(u, K_JVM);

    if (!text)
        return u->err->code;
    if (strpbrk(text, "!~#?@*&%${}()<>[]|\",`;'\\\n"))
        return sv_error_set(u->err, -EINVAL, "Invalid character in yarn.service.am.java.opts.");
    *ret = strstr(text, "-Xmx") ? text : sv_arena_printf(u->arena, "%s -Xmx768m", text);
    return *ret ? 0 : no_memory(u);
}

/* The archive of classes, if there is one, as Hadoop links it. */
static int add_framework(struct submission *u, bool *ret)
{
    const char *path = key_text(u, K_FRAMEWORK);
    char url[FS_URL_MAX + 1];
    struct svc_store_file f = { 0 };
    int credentials = -1, r;

    *ret = path && *path;
    if (!*ret)
        return path ? 0 : u->err->code;
    r = fs_resolve(u->c->cfg.conf, path, url, u->err);
    if (r >= 0)
        r = svc_login_credentials(u->c, &credentials, u->err);
    if (r >= 0)
        r = svc_store_stat(u->c->cfg.conf, u->c->cfg.user, credentials, url, &f, u->err);
    if (r < 0)
        return sv_error_wrap(u->err, "yarn.service.framework.path");
    u->resources[u->s.launch.n_resources++] = (struct cli_resource){
        .name = "service_dep",
        .url = sv_arena_strdup(u->arena, url),
        .size = f.size,
        .timestamp = f.mtime_ms,
        .type = CLI_ARCHIVE,
        .visibility = CLI_APPLICATION,
    };
    return u->resources[u->s.launch.n_resources - 1].url ? 0 : no_memory(u);
}

static int hadoop_master(struct submission *u)
{
    const char *jvm = NULL, *more = key_text(u, K_CLASSPATH), *root = key_text(u, K_ZK_ROOT),
               *quorum = key_text(u, K_ZK_QUORUM);
    bool archive = false;
    char *path;
    int r = more && root && quorum ? jvm_options(u, &jvm) : u->err->code;

    if (r < 0)
        return r;
    if (u->c->cfg.kerberos)
        return sv_error_set(u->err, -EINVAL,
                            "Hadoop's master logs in with a keytab of the definition's, which this "
                            "server does not hand out in a cluster with Kerberos: set "
                            "selvedge.service.master=selvedge");
    if (!*quorum)
        return sv_error_set(u->err, -EINVAL,
                            "hadoop.registry.zk.quorum is not set, and Hadoop's master needs it: "
                            "set it, or selvedge.service.master=selvedge");
    r = add_framework(u, &archive);
    if (r < 0)
        return r;
    path = sv_arena_printf(u->arena, "conf/:lib/*:%s{{CLASSPATH}}:{{HADOOP_CONF_DIR}}%s%s",
                           archive ? "service_dep/*:" : "", *more ? ":" : "", more);
    for (char *p = path; p && (p = strchr(p, ','));)
        *p = ':';
    if (!path)
        return no_memory(u);
    add_env(u, "CLASSPATH", path);
    u->s.launch.command = sv_arena_printf(
        u->arena,
        "{{JAVA_HOME}}/bin/java -Djava.net.preferIPv4Stack=true -Djava.awt.headless=true %s "
        "org.apache.hadoop.yarn.service.ServiceMaster -yarnfile '%s' -service_name %s "
        "-D hadoop.registry.zk.root=%s -D hadoop.registry.zk.quorum=%s "
        "1><LOG_DIR>/serviceam-out.txt 2><LOG_DIR>/serviceam-err.txt",
        jvm, u->definition, u->d->name, root, quorum);
    return u->s.launch.command ? 0 : no_memory(u);
}

static int add_master(struct submission *u)
{
    unsigned which = SVC_MASTER_SELVEDGE;
    int r = svc_key_choice(SVC_KEY_MASTER, u->d, NULL, u->c->cfg.conf, &which, u->err);

    if (r >= 0)
        r = svc_store_url(u->store, u->d->name, u->definition, u->err);
    if (r >= 0 && strchr(u->definition, '\''))
        r = sv_error_set(u->err, -EINVAL, "%s: a path without quotes is needed", u->definition);
    if (r < 0)
        return r;
    add_env(u, "LANG", "en_US.UTF-8");
    add_env(u, "LC_ALL", "en_US.UTF-8");
    add_env(u, "HADOOP_USER_NAME", u->c->cfg.user);
    return which == SVC_MASTER_SELVEDGE ? our_master(u) : hadoop_master(u);
}

/* ---- The submission ---- */

static int key_int(struct submission *u, enum svc_key k, int64_t *ret)
{
    return svc_key_int(k, u->d, NULL, u->c->cfg.conf, ret, u->err);
}

/* NULL: not set. */
static const char *key_pattern(struct submission *u, enum svc_key k)
{
    const char *text = svc_key_text(k, u->d, NULL, u->c->cfg.conf);

    return *text ? text : NULL;
}

static int set_limits(struct submission *u)
{
    int64_t attempts = 0, validity = 0, memory = 0;
    int r = key_int(u, SVC_KEY_AM_ATTEMPTS, &attempts);

    if (r == 0)
        r = key_int(u, SVC_KEY_AM_VALIDITY_MS, &validity);
    if (r == 0)
        r = key_int(u, SVC_KEY_AM_MEMORY_MB, &memory);
    if (r < 0)
        return r;
    u->s.max_attempts = (int32_t)SV_MIN(attempts, (int64_t)INT32_MAX);
    u->s.failure_validity_ms = SV_MAX(validity, (int64_t)0);
    u->s.resource = (struct yarn_resource){ .memory_mb = memory, .vcores = 1 };
    u->s.lifetime_s = SV_MAX(u->d->lifetime_s, (int64_t)0);
    u->s.queue = u->d->queue && *u->d->queue ? u->d->queue : key_pattern(u, SVC_KEY_QUEUE);
    u->s.log_include = key_pattern(u, SVC_KEY_LOG_INCLUDE);
    u->s.log_exclude = key_pattern(u, SVC_KEY_LOG_EXCLUDE);
    u->s.rolled_logs = key_pattern(u, SVC_KEY_ROLLING_INCLUDE);
    u->s.rolled_exclude = key_pattern(u, SVC_KEY_ROLLING_EXCLUDE);
    return 0;
}

struct new_app {
    struct yarn_app_id id;
    struct yarn_resource maximum;
};

static void on_new_app(int status, struct yarn_app_id app, struct yarn_resource maximum,
                       const struct sv_error *err, void *userdata)
{
    struct svc_wait *w = userdata;

    if (status == 0)
        *(struct new_app *)w->out = (struct new_app){ app, maximum };
    svc_wait_end(w, status, err);
}

/* Refuses a container that would wait for ever, as Hadoop does. */
static int check_sizes(struct submission *u, const struct yarn_resource *most)
{
    for (size_t i = 0; i < u->d->n_components; i++) {
        const struct svc_component *one = &u->d->components[i];

        if (one->resource.memory_mb > most->memory_mb)
            return sv_error_set(u->err, -EREMOTEIO,
                                "Component %s: specified memory size (%" PRId64
                                ") is larger than configured max container memory size (%" PRId64
                                ")",
                                one->name, one->resource.memory_mb, most->memory_mb);
        if (one->resource.vcores > most->vcores)
            return sv_error_set(u->err, -EREMOTEIO,
                                "Component %s: specified number of virtual core (%d) is larger "
                                "than configured max virtual core size (%d)",
                                one->name, one->resource.vcores, most->vcores);
    }
    return 0;
}

static int new_app(struct submission *u)
{
    struct new_app app = { 0 };
    struct svc_wait w = { .err = u->err, .out = &app };
    int r = svc_cluster_rm(u->c, u->err);

    if (r == 0)
        r = svc_cluster_rm_end(u->c, cli_rm_new_application(u->c->rm, on_new_app, &w), &w);
    if (r == 0)
        r = check_sizes(u, &app.maximum);
    u->s.app = app.id;
    return r;
}

static void on_submitted(int status, const struct sv_error *err, void *userdata)
{
    svc_wait_end(userdata, status, err);
}

static int submit(struct submission *u)
{
    struct svc_wait w = { .err = u->err };
    int r = svc_cluster_store(u->c, &u->store, u->err);

    if (r == 0)
        r = set_limits(u);
    if (r == 0)
        r = new_app(u);
    if (r == 0)
        r = add_master(u);
    svc_login_tokens(u->c, &u->s.launch.tokens, &u->s.launch.tokens_len);
    if (r == 0)
        r = svc_cluster_rm_end(u->c, cli_rm_submit(u->c->rm, &u->s, on_submitted, &w), &w);
    if (r == 0)
        svc_login_handed(u->c);
    return r;
}

int svc_submit(void *b, const struct svc_definition *d, struct yarn_app_id *ret,
               struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct submission u = { .c = b, .d = d, .arena = a, .err = err };
    char tag[80];
    const char *tags[] = { tag };
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "submission of %s", d->name);
    (void)snprintf(tag, sizeof(tag), "name: %.63s", d->name);
    u.s = (struct cli_submission){
        .name = d->name,
        .type = "yarn-service",
        .tags = tags,
        .n_tags = SV_ARRAY_LEN(tags),
        .keep_containers = true,
        .launch = { .resources = u.resources, .env = u.env },
    };
    r = submit(&u);
    if (r == 0)
        *ret = u.s.app;
    return r;
}
