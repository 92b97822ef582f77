/* See launch.h. Names of links, variables and streams are those of Hadoop's master, on which
 * definitions rely. */
#include "service/am/launch/launch.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/render.h"

#define STREAMS " 1><LOG_DIR>/stdout.txt 2><LOG_DIR>/stderr.txt"
#define ARTIFACT_LINK "lib"
#define CONFIGURATION "conf/"
#define OWN_ENV 9 /* variables of ours */

struct building {
    struct svc_files *files;
    const struct svc_launch_request *q;
    struct svc_tokens *tokens;
    struct sv_arena *a;
    struct cli_resource *resources;
    size_t n_resources;
    struct cli_env *env;
    size_t n_env;
    struct sv_error *err;
};

/* ---- Tokens ---- */

static int set_lower(struct svc_tokens *t, const char *name, const char *value)
{
    char lower[SVC_TEXT_MAX < 256 ? SVC_TEXT_MAX : 256];
    size_t i;

    for (i = 0; value[i] && i < sizeof(lower) - 1; i++)
        lower[i] = (char)tolower((unsigned char)value[i]);
    lower[i] = '\0';
    return svc_tokens_set(t, name, lower);
}

static int set_if(struct svc_tokens *t, const char *name, const char *value)
{
    return value && *value ? svc_tokens_set(t, name, value) : 0;
}

/* Host of "scheme://host:port". */
static int set_host(struct svc_tokens *t, const char *url)
{
    const char *start = url ? strstr(url, "://") : NULL;
    char host[256];

    if (!start)
        return 0;
    start += 3;
    (void)snprintf(host, sizeof(host), "%.*s", (int)strcspn(start, ":/"), start);
    return set_if(t, SVC_TOKEN_CLUSTER_FS_HOST, host);
}

static int set_service_tokens(struct svc_tokens *t, const struct svc_definition *d,
                              struct sv_conf *conf, const char *user, const char *directory)
{
    const char *fs = sv_conf_raw(conf, "fs.defaultFS"), *zk;
    _cleanup_free_ char *path = NULL;
    int r = sv_asprintf(&path, "/services/yarn/users/%s/%s", user, d->name);

    zk = sv_conf_raw(conf, "hadoop.registry.zk.quorum");
    if (r >= 0)
        r = svc_tokens_set(t, SVC_TOKEN_SERVICE_NAME, d->name);
    if (r == 0)
        r = set_lower(t, SVC_TOKEN_SERVICE_NAME_LC, d->name);
    if (r == 0)
        r = svc_tokens_set(t, SVC_TOKEN_USER, user);
    if (r == 0)
        r = svc_tokens_set(t, SVC_TOKEN_SERVICE_ZK_PATH, path);
    if (r == 0)
        r = svc_tokens_set(t, SVC_TOKEN_SERVICE_HDFS_DIR, directory);
    if (r == 0)
        r = svc_tokens_set(t, SVC_TOKEN_CLUSTER_ZK_QUORUM, zk && *zk ? zk : "localhost:2181");
    if (r == 0)
        r = set_if(t, SVC_TOKEN_DOMAIN, sv_conf_raw(conf, "hadoop.registry.dns.domain-name"));
    if (r == 0)
        r = set_if(t, SVC_TOKEN_CLUSTER_FS_URI, fs);
    return r < 0 ? r : set_host(t, fs);
}

int svc_launch_tokens(const struct svc_definition *d, struct sv_conf *conf, const char *user,
                      const char *directory_url, struct svc_tokens **ret, struct sv_error *err)
{
    _cleanup_tokens_ struct svc_tokens *t = svc_tokens_new(NULL);
    int r = t ? set_service_tokens(t, d, conf, user, directory_url) : -ENOMEM;

    if (r < 0)
        return sv_error_errno(err, r, "tokens of the service");
    *ret = SV_TAKE(t);
    return 0;
}

static int set_instance_tokens(struct building *b)
{
    const struct svc_launch_request *q = b->q;
    const char *component = q->component->component->name, *number = strrchr(q->instance, '-');
    int r = svc_tokens_set(b->tokens, SVC_TOKEN_COMPONENT_NAME, component);

    if (r == 0)
        r = set_lower(b->tokens, SVC_TOKEN_COMPONENT_NAME_LC, component);
    if (r == 0)
        r = svc_tokens_set(b->tokens, SVC_TOKEN_COMPONENT_INSTANCE_NAME, q->instance);
    if (r == 0)
        r = svc_tokens_set(b->tokens, SVC_TOKEN_COMPONENT_ID, number ? number + 1 : "");
    if (r == 0)
        r = svc_tokens_set(b->tokens, SVC_TOKEN_CONTAINER_ID, q->container);
    return r < 0 ? sv_error_errno(b->err, r, "tokens") : 0;
}

/* ---- Environment ---- */

static int add_env(struct building *b, const char *name, const char *value)
{
    if (!name || !value)
        return sv_error_errno(b->err, -ENOMEM, "environment");
    b->env[b->n_env++] = (struct cli_env){ name, value };
    return 0;
}

static int replace(struct building *b, const char *text, const char *what, const char **ret)
{
    _cleanup_free_ char *replaced = NULL;
    int r = svc_tokens_text(b->tokens, text, SVC_COMMAND_MAX, &replaced);

    if (r == 0 && !(*ret = sv_arena_strdup(b->a, replaced)))
        r = -ENOMEM;
    return r < 0 ? sv_error_errno(b->err, r, "%s", what) : 0;
}

/* The definition's variables, which are tokens of what follows, then ours: the last three are for
 * the node (nodemanager/launch/tighter.h), and not there where they say nothing. */
static int environment(struct building *b)
{
    const struct svc_component_plan *c = b->q->component;
    const struct svc_map *m = &c->component->configuration.env;
    const struct cli_env own[OWN_ENV] = {
        { "WORK_DIR", "{{PWD}}" },
        { "LOG_DIR", "<LOG_DIR>" },
        { "HADOOP_USER_NAME", b->q->user },
        { "LANG", "en_US.UTF-8" },
        { "LC_ALL", "en_US.UTF-8" },
        { "LANGUAGE", "en_US.UTF-8" },
        { "SELVEDGE_CONTAINER_PROFILE", c->profile },
        { "SELVEDGE_CONTAINER_NETWORK", c->network },
        { "SELVEDGE_CONTAINER_PIDS", c->pids_max },
    };
    const char *value;
    int r = 0;

    b->env = sv_newn(b->a, struct cli_env, m->n + OWN_ENV);
    if (!b->env)
        return sv_error_errno(b->err, -ENOMEM, "environment");
    for (size_t i = 0; r == 0 && i < m->n; i++) {
        r = replace(b, m->pairs[i].value, m->pairs[i].name, &value);
        if (r == 0)
            r = add_env(b, sv_arena_strdup(b->a, m->pairs[i].name), value);
    }
    for (size_t i = 0; r == 0 && i < OWN_ENV; i++)
        if (*own[i].value && !svc_map_get(m, own[i].name))
            r = add_env(b, own[i].name, sv_arena_strdup(b->a, own[i].value));
    for (size_t i = 0; r == 0 && i < b->n_env; i++)
        if (svc_tokens_set(b->tokens, b->env[i].name, b->env[i].value) == -ENOMEM)
            r = sv_error_errno(b->err, -ENOMEM, "environment");
    return r;
}

/* ---- Files ---- */

static enum cli_visibility visibility(const struct svc_file *f)
{
    return f->visibility == SVC_PUBLIC    ? CLI_PUBLIC
           : f->visibility == SVC_PRIVATE ? CLI_PRIVATE
                                          : CLI_APPLICATION;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int as_it_is(struct building *b, const struct svc_file *f, const char *dest,
                    struct cli_resource *ret)
{
    int r = svc_files_resource(b->files, f->src, b->a, ret, b->err);

    if (r < 0)
        return r;
    ret->name = sv_arena_strdup(b->a, *dest ? base_name(dest) : base_name(f->src));
    ret->type = f->type == SVC_FILE_ARCHIVE ? CLI_ARCHIVE : CLI_FILE;
    return ret->name ? 0 : sv_error_errno(b->err, -ENOMEM, "%s", dest);
}

/* Reads the source of a file with the first container that has it. */
static int source(struct building *b, const struct svc_file *f, struct svc_source *s)
{
    if (s->bytes || !svc_file_needs_source(f))
        return 0;
    return svc_files_source(b->files, f->src, SVC_SOURCE_MAX, &s->bytes, &s->len, b->err);
}

static int rendered(struct building *b, const struct svc_file *f, struct svc_source *s,
                    const char *dest, struct cli_resource *ret)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(SVC_RENDERED_MAX);
    const char *component = b->q->component->component->name;
    int r = source(b, f, s);

    if (r == 0)
        r = svc_file_render(f, s->bytes, s->len, b->tokens, &out, b->err);
    if (r == 0)
        r = svc_files_store(b->files, component, base_name(dest),
                            out.data ? out.data : (uint8_t *)"", out.len, b->a, ret, b->err);
    if (r < 0)
        return r;
    ret->name = sv_arena_printf(b->a, CONFIGURATION "%s", base_name(dest));
    return ret->name ? 0 : sv_error_errno(b->err, -ENOMEM, "%s", dest);
}

static int add_file(struct building *b, const struct svc_file *f, struct svc_source *s)
{
    struct cli_resource *to = &b->resources[b->n_resources];
    const char *dest;
    int r = replace(b, f->dest, "dest_file", &dest);

    if (r == 0)
        r = svc_file_is_rendered(f) ? rendered(b, f, s, dest, to) : as_it_is(b, f, dest, to);
    if (r < 0)
        return sv_error_wrap(b->err, "file %s", f->dest);
    to->visibility = svc_file_is_rendered(f) ? CLI_APPLICATION : visibility(f);
    b->n_resources++;
    return 0;
}

/* A file of the definition with the name comes first. */
static int hosts(struct building *b)
{
    const char *text = b->q->peers ? svc_peers_hosts(b->q->peers) : NULL;
    struct cli_resource *to = &b->resources[b->n_resources];
    int r;

    for (size_t i = 0; text && i < b->n_resources; i++)
        if (strcmp(b->resources[i].name, SVC_HOSTS_FILE) == 0)
            text = NULL;
    if (!text)
        return 0;
    r = svc_files_store(b->files, b->q->component->component->name, base_name(SVC_HOSTS_FILE), text,
                        strlen(text), b->a, to, b->err);
    if (r < 0)
        return r;
    to->name = SVC_HOSTS_FILE;
    b->n_resources++;
    return 0;
}

static int files(struct building *b)
{
    const struct svc_component *c = b->q->component->component;
    int r = 0;

    b->resources = sv_newn(b->a, struct cli_resource, c->configuration.n_files + 2);
    if (!b->resources)
        return sv_error_errno(b->err, -ENOMEM, "files");
    if (c->artifact.type == SVC_ARTIFACT_TARBALL) {
        r = svc_files_resource(b->files, c->artifact.id, b->a, &b->resources[0], b->err);
        b->resources[0].name = ARTIFACT_LINK;
        b->resources[0].type = CLI_ARCHIVE;
        b->n_resources = 1;
    }
    for (size_t i = 0; r == 0 && i < c->configuration.n_files; i++)
        r = add_file(b, &c->configuration.files[i], &b->q->component->sources[i]);
    return r < 0 ? r : hosts(b);
}

/* ---- The whole ---- */

static int command(struct building *b, const char **ret)
{
    const char *text = NULL;
    int r = replace(b, b->q->component->component->launch_command, "launch_command", &text);

    if (r < 0)
        return r;
    *ret = sv_arena_printf(b->a, "%s" STREAMS, text);
    return *ret ? 0 : sv_error_errno(b->err, -ENOMEM, "launch_command");
}

int svc_launch_prepare(struct svc_files *f, const struct svc_launch_request *q, struct sv_arena *a,
                       struct cli_launch *ret, struct sv_error *err)
{
    _cleanup_tokens_ struct svc_tokens *t =
        svc_tokens_new(q->peers ? svc_peers_tokens(q->peers) : q->tokens);
    struct building b = { .files = f, .q = q, .tokens = t, .a = a, .err = err };
    const char *line = NULL;
    int r = t ? set_instance_tokens(&b) : sv_error_errno(err, -ENOMEM, "tokens");

    if (r == 0)
        r = environment(&b);
    if (r == 0)
        r = files(&b);
    if (r == 0)
        r = command(&b, &line);
    if (r < 0)
        return sv_error_wrap(err, "component %s", q->component->component->name);
    *ret = (struct cli_launch){
        .resources = b.resources,
        .n_resources = b.n_resources,
        .env = b.env,
        .n_env = b.n_env,
        .command = line,
        .tokens = q->credentials,
        .tokens_len = q->credentials_len,
        .retry = &q->component->retry,
    };
    return 0;
}
