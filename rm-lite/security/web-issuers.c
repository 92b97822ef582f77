/* See web-issuers.h. */
#include "rm-lite/security/web-issuers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "hdfs/conf-cluster.h"

#define HTTP_PORT 9870 /* of a NameNode, Hadoop 3 */
#define HTTPS_PORT 9871
#define WEBHDFS_PATH "/webhdfs/v1/"
#define KMS_PATH_MAX (FS_KMS_PATH_MAX + 5)
#define NAMES_MAX 1024

struct rm_web_issuers {
    struct sv_conf *conf;
    struct rm_known_hosts *http, *https, *kms;
    struct fs_kms_uri key_server;
    bool has_kms;
    char kms_path[KMS_PATH_MAX + 1];
};

struct names {
    struct hdfs_server *v; /* [NAMES_MAX] */
    size_t n;
    const char *key; /* without what stands behind it */
    const struct hdfs_cluster *cluster;
};

bool rm_web_issuers_kind(const char *kind)
{
    return sv_streq(kind, RM_KIND_WEBHDFS) || sv_streq(kind, RM_KIND_SWEBHDFS) ||
           sv_streq(kind, RM_KIND_KMS);
}

/* ---- Services of the files ---- */

static void add_name(struct names *all, const char *host, uint16_t port)
{
    struct hdfs_server *s = &all->v[all->n];

    if (all->n >= NAMES_MAX)
        return;
    *s = (struct hdfs_server){ .port = port };
    memcpy(s->host, host, strlen(host) + 1);
    all->n++;
}

/* The port of each NameNode: the address says on which of its own the server listens. */
static void add_everywhere(struct names *all, uint16_t port)
{
    size_t n;
    const struct hdfs_server *v = hdfs_cluster_servers(all->cluster, &n);

    for (size_t i = 0; i < n; i++)
        add_name(all, v[i].host, port);
}

static int on_key(const char *name, const char *value, void *userdata)
{
    struct names *all = userdata;
    struct hdfs_server s;
    size_t len = strlen(all->key);

    if (strncmp(name, all->key, len) != 0 || (name[len] && name[len] != '.') ||
        !strchr(value, ':') || hdfs_server_parse(value, strlen(value), &s) < 0)
        return 0;
    if (sv_streq(s.host, "0.0.0.0") || sv_streq(s.host, "::"))
        add_everywhere(all, s.port);
    else
        add_name(all, s.host, s.port);
    return 0;
}

static int read_addresses(struct rm_web_issuers *w, sd_event *event, const char *key,
                          uint16_t default_port, struct names *all, struct rm_known_hosts **ret)
{
    int r;

    all->n = 0;
    all->key = key;
    r = sv_conf_each(w->conf, on_key, all);
    if (r >= 0 && all->n == 0)
        add_everywhere(all, default_port);
    return r < 0 ? r : rm_known_hosts_new(event, "web server", all->v, all->n, ret);
}

/* The cluster's key provider; one that is no KMS renews nothing. */
static int read_kms(struct rm_web_issuers *w, sd_event *event, struct names *all)
{
    static const char *const keys[] = { "hadoop.security.key.provider.path",
                                        "dfs.encryption.key.provider.uri" };

    all->n = 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(keys) && !w->has_kms; i++) {
        const char *uri = sv_conf_raw(w->conf, keys[i]);

        w->has_kms = uri && fs_kms_uri_parse(uri, &w->key_server, NULL) == 0;
    }
    for (unsigned i = 0; w->has_kms && i < w->key_server.n; i++)
        add_name(all, w->key_server.hosts[i], w->key_server.port);
    (void)snprintf(w->kms_path, sizeof(w->kms_path), "%s/v1/",
                   w->has_kms ? w->key_server.path : "");
    return rm_known_hosts_new(event, "key server", all->v, all->n, &w->kms);
}

int rm_web_issuers_new(sd_event *event, struct sv_conf *conf, struct rm_web_issuers **ret,
                       struct sv_error *err)
{
    struct rm_web_issuers *w = calloc(1, sizeof(*w));
    _cleanup_(hdfs_cluster_freep) struct hdfs_cluster *cluster = NULL;
    struct names all = { .v = calloc(NAMES_MAX, sizeof(*all.v)) };
    int r = w && all.v ? hdfs_cluster_new(conf, &cluster) : -ENOMEM;

    if (r >= 0) {
        w->conf = conf;
        all.cluster = cluster;
        r = read_addresses(w, event, "dfs.namenode.http-address", HTTP_PORT, &all, &w->http);
    }
    if (r >= 0)
        r = read_addresses(w, event, "dfs.namenode.https-address", HTTPS_PORT, &all, &w->https);
    if (r >= 0)
        r = read_kms(w, event, &all);
    free(all.v);
    if (r < 0) {
        rm_web_issuers_free(w);
        return sv_error_errno(err, r, "web servers that issue tokens");
    }
    *ret = w;
    return 0;
}

struct rm_web_issuers *rm_web_issuers_free(struct rm_web_issuers *w)
{
    if (!w)
        return NULL;
    rm_known_hosts_free(w->http);
    rm_known_hosts_free(w->https);
    rm_known_hosts_free(w->kms);
    free(w);
    return NULL;
}

/* ---- The service of a token ---- */

static int find_host(const struct rm_known_hosts *known, const char *service, const char *what,
                     struct hdfs_server *ret, struct sv_error *err)
{
    const struct hdfs_server *name;
    struct hdfs_server at;
    int r = strchr(service, ':') ? hdfs_server_parse(service, strlen(service), &at) : -EINVAL;

    if (r < 0)
        return sv_error_set(err, -EINVAL, "its service is no address of a %s", what);
    r = rm_known_hosts_find(known, &at, &name);
    if (r == -EAGAIN)
        return sv_error_set(err, r, "the %ss' names are being looked up", what);
    if (r < 0)
        return sv_error_set(err, -EACCES,
                            "the %s %s:%u is in neither core-site.xml nor hdfs-site.xml of the "
                            "ResourceManager: name it there, or submit with a token whose "
                            "renewer is empty",
                            what, at.host, at.port);
    *ret = *name;
    return 0;
}

/* The web addresses of a nameservice's NameNodes. */
static int find_nameservice(struct rm_web_issuers *w, const char *name, struct rm_web_issuer *ret,
                            struct sv_error *err)
{
    const char *what = ret->secure ? "https" : "http";
    _cleanup_free_ char *key = NULL;
    _cleanup_strv_ char **ids = NULL;
    int r = sv_asprintf(&key, "dfs.ha.namenodes.%.255s", name);
    const struct sv_conf_key row = { key, SV_CONF_LIST, NULL };

    if (r >= 0)
        r = sv_conf_list(w->conf, &row, &ids, err);
    if (r < 0)
        return r;
    for (char **id = ids; *id && ret->n < FS_KMS_HOSTS_MAX; id++) {
        _cleanup_free_ char *one = NULL;
        const char *value;

        if (sv_asprintf(&one, "dfs.namenode.%s-address.%.255s.%s", what, name, *id) < 0)
            return -ENOMEM;
        value = sv_conf_raw(w->conf, one);
        if (value && hdfs_server_parse(value, strlen(value), &ret->servers[ret->n]) == 0)
            ret->n++;
    }
    if (ret->n == 0)
        return sv_error_set(err, -EACCES,
                            "dfs.namenode.%s-address.%.255s.* is not in the ResourceManager's "
                            "hdfs-site.xml: name the nameservice there",
                            what, name);
    return 0;
}

static int find_webhdfs(struct rm_web_issuers *w, const char *service, struct rm_web_issuer *ret,
                        struct sv_error *err)
{
    const char *prefix = ret->secure ? "ha-swebhdfs:" : "ha-webhdfs:";

    ret->path = WEBHDFS_PATH;
    if (sv_has_prefix(service, prefix))
        return find_nameservice(w, service + strlen(prefix), ret, err);
    ret->n = 1;
    return find_host(ret->secure ? w->https : w->http, service, "web server", &ret->servers[0],
                     err);
}

static bool has_server(const struct fs_kms_uri *u, const char *host)
{
    for (unsigned i = 0; i < u->n; i++)
        if (strcasecmp(u->hosts[i], host) == 0)
            return true;
    return false;
}

/* A uri that names other servers than the cluster's is another service. */
static bool same_service(const struct fs_kms_uri *u, const struct fs_kms_uri *own)
{
    bool same = u->secure == own->secure && u->port == own->port && strcmp(u->path, own->path) == 0;

    for (unsigned i = 0; i < u->n; i++)
        same = same && has_server(own, u->hosts[i]);
    return same;
}

static int find_kms(struct rm_web_issuers *w, const char *service, struct rm_web_issuer *ret,
                    struct sv_error *err)
{
    struct fs_kms_uri uri;
    struct hdfs_server one;
    int r = 0;

    if (!sv_has_prefix(service, "kms://"))
        r = find_host(w->kms, service, "key server", &one, err);
    else if (fs_kms_uri_parse(service, &uri, err) < 0)
        return -EINVAL;
    else if (!w->has_kms || !same_service(&uri, &w->key_server))
        return sv_error_set(err, -EACCES,
                            "the key server %.300s is not the ResourceManager's "
                            "hadoop.security.key.provider.path: name it there, or submit with a "
                            "token whose renewer is empty",
                            service);
    if (r < 0)
        return r;
    ret->secure = w->key_server.secure;
    ret->path = w->kms_path;
    for (ret->n = 0; ret->n < w->key_server.n; ret->n++) {
        struct hdfs_server *s = &ret->servers[ret->n];

        s->port = w->key_server.port;
        memcpy(s->host, w->key_server.hosts[ret->n], sizeof(s->host));
    }
    return 0;
}

int rm_web_issuers_find(struct rm_web_issuers *w, const char *kind, const char *service,
                        struct rm_web_issuer *ret, struct sv_error *err)
{
    struct rm_web_issuer found = { .secure = sv_streq(kind, RM_KIND_SWEBHDFS) };
    int r = sv_streq(kind, RM_KIND_KMS) ? find_kms(w, service, &found, err)
                                        : find_webhdfs(w, service, &found, err);

    if (r >= 0)
        *ret = found;
    return r;
}
