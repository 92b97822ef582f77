/* See conf.h. The configuration is the operator's; host and port come from an application. */
#include "hdfs/conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "wire/sasl/auth-conf.h"
#include "wire/sasl/qop.h"

enum {
    K_DEFAULT_FS,
    K_NAMESERVICES,
    K_SOCKET_TIMEOUT,
    K_USE_HOSTNAME,
    K_FAILOVERS,
    K_FAILOVER_BASE,
    K_FAILOVER_MAX,
    K_PROTECTION,
    K_CIPHERS,
    K_RESOLVER,
    K_TRUSTED,
    N_KEYS
};

static const struct sv_conf_key keys[N_KEYS] = {
    [K_DEFAULT_FS] = { "fs.defaultFS", SV_CONF_STRING, "file:///",
                       .help = "File system of hdfs: urls without a host." },
    [K_NAMESERVICES] = { "dfs.nameservices", SV_CONF_LIST, NULL,
                         .help = "Names that stand for several NameNodes: "
                                 "dfs.ha.namenodes.NAME, dfs.namenode.rpc-address.NAME.ID." },
    [K_SOCKET_TIMEOUT] = { "dfs.client.socket-timeout", SV_CONF_DURATION, "60000", 1000, 3600000, 1,
                           "A DataNode that sends no packet for this long is given up." },
    [K_USE_HOSTNAME] = { "dfs.client.use.datanode.hostname", SV_CONF_BOOL, "false",
                         .help = "Connect to DataNodes by their names, not their addresses." },
    [K_FAILOVERS] = { "dfs.client.failover.max.attempts", SV_CONF_INT, "15", 0, 1000, 1,
                      "Failovers to the next NameNode of a nameservice before a call fails." },
    [K_FAILOVER_BASE] = { "dfs.client.failover.sleep.base.millis", SV_CONF_DURATION, "500", 0,
                          3600000, 1,
                          "Time before the second failover, doubled for each further one." },
    [K_FAILOVER_MAX] = { "dfs.client.failover.sleep.max.millis", SV_CONF_DURATION, "15000", 0,
                         3600000, 1, "The longest time between two failovers." },
    [K_PROTECTION] = { "dfs.data.transfer.protection", SV_CONF_STRING, NULL,
                       .help = "With Kerberos, connections to DataNodes: a list of authentication, "
                               "integrity, privacy; the strongest that both sides have is taken." },
    [K_CIPHERS] = { "dfs.encrypt.data.transfer.cipher.suites", SV_CONF_STRING, NULL,
                    .help = "AES/CTR/NoPadding: encrypt so, in place of 3DES, where DataNodes have "
                            "it, too. No other cipher is supported." },
    [K_RESOLVER] = { "dfs.data.transfer.saslproperties.resolver.class", SV_CONF_STRING, NULL,
                     .help = "Refused with dfs.data.transfer.protection, but for Hadoop's "
                             "default: a class of Java." },
    [K_TRUSTED] = { "dfs.trustedchannel.resolver.class", SV_CONF_STRING, NULL,
                    .help = "Refused, but for Hadoop's default: a class of Java that says which "
                            "addresses need no encryption." },
};

/* Keys of connections to the NameNode; their rows are in tables of other components, or in none. */
static const struct sv_conf_key rpc_protection = { "hadoop.rpc.protection", SV_CONF_STRING,
                                                   "authentication" };
static const struct sv_conf_key rpc_resolver = { "hadoop.security.saslproperties.resolver.class",
                                                 SV_CONF_STRING, NULL };
static const struct sv_conf_key rpc_mechanism = { "hadoop.security.sasl.mechanism", SV_CONF_STRING,
                                                  NULL };

/* The classes that do what this client does. */
#define DEFAULT_RESOLVER "org.apache.hadoop.security.SaslPropertiesResolver"
#define DEFAULT_TRUSTED "org.apache.hadoop.hdfs.protocol.datatransfer.TrustedChannelResolver"
#define AES_CTR "AES/CTR/NoPadding"

const struct sv_conf_key *hdfs_conf_keys(size_t *ret_n)
{
    *ret_n = N_KEYS;
    return keys;
}

int hdfs_conf_load(struct sv_conf *c, struct sv_error *err)
{
    _cleanup_free_ char *path = NULL;
    int r = sv_asprintf(&path, "%s/hdfs-site.xml", sv_conf_dir(c));

    if (r >= 0)
        r = sv_conf_load_file(c, path, err);
    if (r == -ENOENT) {
        if (err)
            *err = (struct sv_error){ 0 };
        return 0;
    }
    return r;
}

static int add_server(struct sv_conf *c, const char *key, const char *fallback,
                      struct hdfs_site *site, struct sv_error *err)
{
    const struct sv_conf_key row = { key, SV_CONF_STRING, NULL };
    const char *value = sv_conf_raw(c, key);
    char origin[512];

    if (!value && fallback)
        value = sv_conf_raw(c, fallback);
    if (!value)
        return sv_error_set(err, -EINVAL, "%s is not set: expected the host:port of a NameNode",
                            key);
    if (hdfs_server_parse(value, strlen(value), &site->servers[site->n_servers]) < 0) {
        sv_conf_origin(c, &row, origin, sizeof(origin));
        return sv_error_set(err, -EINVAL, "%s: \"%.200s\" is not host:port", origin, value);
    }
    site->n_servers++;
    return 0;
}

/* Reads dfs.ha.namenodes.NAME, or for a single NameNode dfs.namenode.rpc-address.NAME. */
static int nameservice(struct sv_conf *c, const char *name, struct hdfs_site *site,
                       struct sv_error *err)
{
    _cleanup_free_ char *key = NULL;
    _cleanup_strv_ char **ids = NULL;
    int r = sv_asprintf(&key, "dfs.ha.namenodes.%s", name);
    const struct sv_conf_key row = { key, SV_CONF_LIST, NULL };

    if (r >= 0)
        r = sv_conf_list(c, &row, &ids, err);
    if (r < 0)
        return r;
    if (sv_strv_len(ids) > HDFS_NAMENODES_MAX)
        return sv_error_set(err, -EINVAL, "%s: %zu NameNodes, at most %d are accepted", key,
                            sv_strv_len(ids), HDFS_NAMENODES_MAX);
    if (sv_strv_len(ids) == 0) {
        _cleanup_free_ char *one = NULL;

        r = sv_asprintf(&one, "dfs.namenode.rpc-address.%s", name);
        return r < 0 ? r : add_server(c, one, "dfs.namenode.rpc-address", site, err);
    }
    for (char **id = ids; *id && r >= 0; id++) {
        _cleanup_free_ char *one = NULL;

        r = sv_asprintf(&one, "dfs.namenode.rpc-address.%s.%s", name, *id);
        if (r >= 0)
            r = add_server(c, one, NULL, site, err);
    }
    return r;
}

static int is_nameservice(struct sv_conf *c, const char *name, bool *ret, struct sv_error *err)
{
    _cleanup_strv_ char **names = NULL;
    int r = sv_conf_list(c, &keys[K_NAMESERVICES], &names, err);

    *ret = false;
    for (char **n = names; r >= 0 && n && *n; n++)
        *ret |= strcmp(*n, name) == 0;
    return r;
}

/* Returns the authority of fs.defaultFS, for URLs without one. */
static int default_authority(struct sv_conf *c, struct hdfs_server *ret, bool *ret_has_port,
                             struct sv_error *err)
{
    const char *fs, *at;
    char origin[512];
    size_t n;
    int r = sv_conf_string(c, &keys[K_DEFAULT_FS], &fs, err);

    if (r < 0)
        return r;
    sv_conf_origin(c, &keys[K_DEFAULT_FS], origin, sizeof(origin));
    if (strncasecmp(fs, "hdfs://", 7) != 0)
        return sv_error_set(err, -EINVAL,
                            "%s: \"%.200s\" is not an hdfs: url; a url without a "
                            "host needs one there",
                            origin, fs);
    at = fs + 7;
    n = strcspn(at, "/");
    if (hdfs_server_parse(at, n, ret) < 0)
        return sv_error_set(err, -EINVAL, "%s: \"%.200s\" is not hdfs://host:port", origin, fs);
    *ret_has_port = at[0] == '[' ? strstr(at, "]:") != NULL : memchr(at, ':', n) != NULL;
    return 0;
}

/* ---- Protection ---- */

/* -EOPNOTSUPP: the key is set, to something that this client has not. */
static int only(struct sv_conf *c, const struct sv_conf_key *row, const char *has,
                struct sv_error *err)
{
    const char *value = NULL;
    char origin[512];
    int r = sv_conf_string(c, row, &value, err);

    if (r < 0 || !value || !*value || strcmp(value, has) == 0)
        return r;
    sv_conf_origin(c, row, origin, sizeof(origin));
    return sv_error_set(err, -EOPNOTSUPP, "%s: \"%.128s\" is not supported, only %s", origin, value,
                        has);
}

/* A list of protections as a set. */
static int qualities(struct sv_conf *c, const struct sv_conf_key *row, uint8_t *ret,
                     struct sv_error *err)
{
    const char *value = NULL;
    uint32_t mask = 0;
    char origin[512];
    int r = sv_conf_string(c, row, &value, err);

    if (r < 0)
        return r;
    if (value && *value && ipc_qop_parse(value, &mask, NULL) < 0) {
        sv_conf_origin(c, row, origin, sizeof(origin));
        return sv_error_set(err, -EINVAL,
                            "%s: \"%.128s\" is no list of authentication, integrity, privacy",
                            origin, value);
    }
    *ret = (uint8_t)mask;
    return 0;
}

static int protection(struct sv_conf *c, struct hdfs_site *site, struct sv_error *err)
{
    const char *method = NULL, *cipher = NULL;
    int r = sv_conf_string(c, yarn_auth_key(), &method, err);

    if (r >= 0)
        r = sv_conf_string(c, &keys[K_CIPHERS], &cipher, err);
    if (r < 0)
        return r;
    site->secure = strcasecmp(method, "simple") != 0;
    site->aes = cipher && *cipher;
    r = qualities(c, &rpc_protection, &site->rpc_qop, err);
    if (r >= 0)
        r = qualities(c, &keys[K_PROTECTION], &site->transfer_qop, err);
    if (r >= 0)
        r = only(c, &keys[K_CIPHERS], AES_CTR, err);
    if (r >= 0)
        r = only(c, &keys[K_TRUSTED], DEFAULT_TRUSTED, err);
    if (r >= 0 && site->transfer_qop)
        r = only(c, &keys[K_RESOLVER], DEFAULT_RESOLVER, err);
    if (r >= 0)
        r = only(c, &rpc_resolver, DEFAULT_RESOLVER, err);
    return r < 0 ? r : only(c, &rpc_mechanism, "DIGEST-MD5", err);
}

static int failover(struct sv_conf *c, struct hdfs_failover *ret, struct sv_error *err)
{
    int64_t attempts = 0, base = 0, max = 0;
    int r = sv_conf_int(c, &keys[K_FAILOVERS], &attempts, err);

    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_FAILOVER_BASE], &base, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_FAILOVER_MAX], &max, err);
    if (r < 0)
        return r;
    *ret = (struct hdfs_failover){ (uint32_t)attempts, (uint32_t)base, (uint32_t)max };
    return 0;
}

int hdfs_conf_site(struct sv_conf *c, const char *host, uint16_t port, struct hdfs_site *ret,
                   struct sv_error *err)
{
    struct hdfs_server at = { .port = port ? port : HDFS_PORT };
    struct hdfs_site site = { 0 };
    bool has_port = port != 0, logical = false;
    int64_t timeout = 0;
    int r = protection(c, &site, err);

    if (r < 0)
        return r;
    if (*host && !hdfs_host_valid(host, strlen(host)))
        return sv_error_set(err, -EINVAL, "not the name of a host");
    if (*host)
        memcpy(at.host, host, strlen(host) + 1);
    else
        r = default_authority(c, &at, &has_port, err);
    if (r >= 0 && !has_port)
        r = is_nameservice(c, at.host, &logical, err);
    if (r >= 0 && logical) {
        memcpy(site.nameservice, at.host, sizeof(site.nameservice));
        r = nameservice(c, at.host, &site, err);
    }
    if (r >= 0 && !logical)
        site.servers[site.n_servers++] = at;
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_SOCKET_TIMEOUT], &timeout, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_USE_HOSTNAME], &site.use_hostname, err);
    if (r >= 0)
        r = failover(c, &site.failover, err);
    if (r < 0)
        return r;
    site.io_timeout_ms = (uint32_t)timeout;
    *ret = site;
    return 0;
}
