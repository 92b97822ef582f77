/* Opens the store that the configuration names, and the keys of that. The files are the
 * operator's. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "common/zookeeper/zk-conf.h"
#include "federation/store/backends.h"
#include "federation/store/mysql-url.h"
#include "federation/store/store-backend.h"
#include "federation/store/store-conf.h"

#define STORE "yarn.federation.state-store."
#define JAVA "org.apache.hadoop.yarn.server.federation.store.impl."
#define CONNECTIONS_MAX 64
#define DAY_MS 86400000
#define ZK_ROOT_MAX 256

enum {
    K_CLASS,
    K_URL,
    K_USER,
    K_PASSWORD,
    K_CONNECTIONS,
    K_IDLE,
    K_LIFE,
    K_CONNECT,
    K_SQLITE,
    K_ZK_PATH,
    K_ZK_SPLIT,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[K_COUNT] = {
    [K_CLASS] = { STORE "class", SV_CONF_STRING, JAVA "MemoryFederationStateStore", .help = "Store that the clusters of the federation share: Hadoop's " JAVA "SQLFederationStateStore (MariaDB, MySQL) or ZookeeperFederationStateStore (hadoop.zk.*), or " FED_CLASS_SQLITE " for the daemons of one machine. In memory, the default, is for tests." },
    [K_URL] = { STORE "sql.url", SV_CONF_STRING, NULL, .help = "The database, as Hadoop's daemons name it: jdbc:mysql://HOST:PORT/DATABASE or jdbc:mariadb://…" },
    [K_USER] = { STORE "sql.username", SV_CONF_STRING, NULL, .help = "Account at the database." },
    [K_PASSWORD] = { STORE "sql.password", SV_CONF_STRING, NULL, .help = "Its password." },
    [K_CONNECTIONS] = { STORE "sql.max-connections", SV_CONF_INT, "1", 1, CONNECTIONS_MAX, .help = "Connections to the database, opened when they are needed." },
    [K_IDLE] = { STORE "sql.idle-time-out", SV_CONF_DURATION, "10m", 0, DAY_MS, 1, "A connection that is not used for so long is closed; 0: never." },
    [K_LIFE] = { STORE "sql.max-life-time", SV_CONF_DURATION, "30m", 0, DAY_MS, 1, "A connection that is older is closed when it is free; 0: never." },
    [K_CONNECT] = { STORE "sql.conn-time-out", SV_CONF_DURATION, "10s", 1000, DAY_MS, 1, "Time to connect." },
    [K_SQLITE] = { "selvedge.federation.state-store.sqlite.path", SV_CONF_STRING, "/var/lib/selvedge/federation.sqlite", .help = "File of " FED_CLASS_SQLITE "." },
    [K_ZK_PATH] = { "yarn.federation.zk-state-store.parent-path", SV_CONF_STRING, "/federationstore", .help = "ZooKeeper's node that ZookeeperFederationStateStore keeps everything below." },
    [K_ZK_SPLIT] = { "yarn.resourcemanager.zk-appid-node.split-index", SV_CONF_INT, "0", INT32_MIN, INT32_MAX, .help = "Characters at the end of an application's id, 1 to 4, that ZookeeperFederationStateStore makes a node of their own; any other number: none." },
};
/* clang-format on */

const struct sv_conf_key *fed_store_conf_keys(size_t *ret_n)
{
    *ret_n = K_COUNT;
    return keys;
}

bool fed_store_key_is_secret(const char *name)
{
    return sv_has_suffix(name, ".password") || sv_streq(name, "hadoop.zk.auth");
}

/* "/etc/hadoop/conf/yarn-site.xml:12: KEY". */
static int refuse(struct sv_conf *c, int key, int error, const char *reason, struct sv_error *err)
{
    char origin[256];

    sv_conf_origin(c, &keys[key], origin, sizeof(origin));
    return sv_error_set(err, error, "%s: %s", origin, reason);
}

static int open_memory(sd_event *event, struct sv_conf *c, struct fed_store **ret,
                       struct sv_error *err)
{
    int r = fed_store_open_memory(event, ret);

    (void)c;
    return r < 0 ? sv_error_errno(err, r, "federation store in memory") : 0;
}

int fed_store_sqlite_path(struct sv_conf *c, const char **ret, struct sv_error *err)
{
    return sv_conf_string(c, &keys[K_SQLITE], ret, err);
}

static int check_memory(struct sv_conf *c, struct sv_error *err)
{
    (void)c;
    (void)err;
    return 0;
}

/* The file itself is looked at when it is opened. */
static int check_sqlite(struct sv_conf *c, struct sv_error *err)
{
    const char *path;
    int r = fed_store_sqlite_path(c, &path, err);

    if (r == 0 && path[0] != '/')
        return refuse(c, K_SQLITE, -EINVAL, "must be an absolute path", err);
    return r;
}

static int open_sqlite(sd_event *event, struct sv_conf *c, struct fed_store **ret,
                       struct sv_error *err)
{
    const char *path;
    int r = fed_store_sqlite_path(c, &path, err);

    return r < 0 ? r : fed_store_open_sqlite(event, path, ret, err);
}

/* The library compares a certificate with what it connects to, which is an address: names are
 * looked up before, off the loop. */
static bool is_verifiable(const struct fed_mysql_url *u)
{
    struct in6_addr ip;

    return u->tls != FED_TLS_VERIFIED || u->socket[0] || inet_pton(AF_INET, u->host, &ip) == 1 ||
           inet_pton(AF_INET6, u->host, &ip) == 1;
}

static int read_url(struct sv_conf *c, struct fed_mysql_url *ret, struct sv_error *err)
{
    struct sv_error reason = { 0 };
    const char *text;
    int r = sv_conf_string(c, &keys[K_URL], &text, err);

    if (r < 0)
        return r;
    if (!text)
        return refuse(c, K_URL, -EINVAL,
                      "is not set: name the database, jdbc:mysql://HOST:PORT/FederationStateStore",
                      err);
    if (fed_mysql_url_parse(text, ret, &reason) < 0)
        return refuse(c, K_URL, -EINVAL, reason.text, err);
    if (!is_verifiable(ret))
        return refuse(c, K_URL, -ENOTSUP,
                      "sslMode=verify-full and verify-ca need an address as host, which the "
                      "server's certificate has: give the address, or sslMode=trust",
                      err);
    return 0;
}

int fed_store_mysql_options(struct sv_conf *c, struct fed_mysql_url *url,
                            struct fed_mysql_options *ret, struct sv_error *err)
{
    int64_t connections = 1;
    struct fed_mysql_options o = { .url = url };
    int r = read_url(c, url, err);

    if (r == 0)
        r = sv_conf_string(c, &keys[K_USER], &o.user, err);
    if (r == 0)
        r = sv_conf_string(c, &keys[K_PASSWORD], &o.password, err);
    if (r == 0)
        r = sv_conf_int(c, &keys[K_CONNECTIONS], &connections, err);
    if (r == 0)
        r = sv_conf_duration_ms(c, &keys[K_IDLE], &o.idle_ms, err);
    if (r == 0)
        r = sv_conf_duration_ms(c, &keys[K_LIFE], &o.life_ms, err);
    if (r == 0)
        r = sv_conf_duration_ms(c, &keys[K_CONNECT], &o.connect_ms, err);
    if (r < 0)
        return r;
    o.connections = (unsigned)connections;
    *ret = o;
    return 0;
}

static int check_mysql(struct sv_conf *c, struct sv_error *err)
{
    struct fed_mysql_url url;
    struct fed_mysql_options o;
    int r = fed_store_mysql_options(c, &url, &o, err);

    explicit_bzero(&url, sizeof(url));
    return r;
}

static int open_mysql(sd_event *event, struct sv_conf *c, struct fed_store **ret,
                      struct sv_error *err)
{
    struct fed_mysql_url url;
    struct fed_mysql_options o;
    int r = fed_store_mysql_options(c, &url, &o, err);

    if (r == 0)
        r = fed_store_open_mysql(event, &o, ret, err);
    explicit_bzero(&url, sizeof(url));
    return r;
}

/* "/a/b": a path of ZooKeeper's with room for the nodes below. */
static bool is_zk_root(const char *path)
{
    size_t n = strlen(path);

    return path[0] == '/' && n > 1 && n <= ZK_ROOT_MAX && path[n - 1] != '/' && !strstr(path, "//");
}

/* For so long Hadoop's clients try to connect, too, but without a bound: a call here has one. */
static int64_t patience_of(const struct sv_zk_settings *s)
{
    int64_t ms;

    if (__builtin_mul_overflow(s->retries, s->retry_ms, &ms))
        ms = FED_CALL_MS;
    return SV_MIN(SV_MAX(ms, (int64_t)FED_CALL_MIN_MS), (int64_t)FED_CALL_MS);
}

/* `ret` points to `settings`. */
static int read_zookeeper(struct sv_conf *c, struct sv_zk_settings *settings,
                          struct fed_zookeeper_options *ret, struct sv_error *err)
{
    struct fed_zookeeper_options o = { .settings = settings };
    int64_t split = 0;
    int r = sv_zk_settings_read(c, settings, err);

    if (r == 0)
        r = sv_conf_string(c, &keys[K_ZK_PATH], &o.root, err);
    if (r == 0)
        r = sv_conf_int(c, &keys[K_ZK_SPLIT], &split, err);
    if (r < 0)
        return r;
    if (!settings->servers || !*settings->servers)
        return refuse(c, K_CLASS, -EINVAL,
                      "the store is in ZooKeeper, and hadoop.zk.address is not set: name its "
                      "servers, HOST:PORT, separated by commas",
                      err);
    if (!is_zk_root(o.root))
        return refuse(c, K_ZK_PATH, -EINVAL,
                      "must be a path of ZooKeeper below \"/\", of at most 256 bytes and without "
                      "a slash at its end",
                      err);
    o.patience_ms = patience_of(settings);
    o.split = split >= 1 && split <= 4 ? (unsigned)split : 0; /* as Hadoop reads it */
    *ret = o;
    return 0;
}

static int check_zookeeper(struct sv_conf *c, struct sv_error *err)
{
    _cleanup_zk_settings_ struct sv_zk_settings settings = { 0 };
    struct fed_zookeeper_options o;

    return read_zookeeper(c, &settings, &o, err);
}

static int open_zookeeper(sd_event *event, struct sv_conf *c, struct fed_store **ret,
                          struct sv_error *err)
{
    _cleanup_zk_settings_ struct sv_zk_settings settings = { 0 };
    struct fed_zookeeper_options o;
    int r = read_zookeeper(c, &settings, &o, err);

    return r < 0 ? r : fed_store_open_zookeeper(event, &o, ret, err);
}

/* clang-format off */
static const struct class {
    const char *name;
    int (*open)(sd_event *event, struct sv_conf *c, struct fed_store **ret, struct sv_error *err);
    int (*check)(struct sv_conf *c, struct sv_error *err);
} classes[] = {
    { JAVA "MemoryFederationStateStore", open_memory, check_memory },
    { FED_CLASS_SQL, open_mysql, check_mysql },
    { FED_CLASS_SQLITE, open_sqlite, check_sqlite },
    { FED_CLASS_ZOOKEEPER, open_zookeeper, check_zookeeper },
    { JAVA "HttpProxyFederationStateStore", NULL, NULL },
};
/* clang-format on */

int fed_store_class(struct sv_conf *c, const char **ret, struct sv_error *err)
{
    return sv_conf_string(c, &keys[K_CLASS], ret, err);
}

static int find_class(struct sv_conf *c, const struct class **ret, struct sv_error *err)
{
    const char *name;
    int r = fed_store_class(c, &name, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < SV_ARRAY_LEN(classes); i++) {
        if (strcmp(name, classes[i].name) != 0)
            continue;
        *ret = &classes[i];
        if (classes[i].open)
            return 0;
        return refuse(c, K_CLASS, -ENOTSUP,
                      "this store is not built in: use " FED_CLASS_SQL ", " FED_CLASS_ZOOKEEPER
                      " or " FED_CLASS_SQLITE,
                      err);
    }
    return refuse(
        c, K_CLASS, -EINVAL,
        "no such store: use " FED_CLASS_SQL ", " FED_CLASS_ZOOKEEPER " or " FED_CLASS_SQLITE, err);
}

int fed_store_check(struct sv_conf *c, struct sv_error *err)
{
    const struct class *class;
    int r = find_class(c, &class, err);

    return r < 0 ? r : class->check(c, err);
}

int fed_store_open(sd_event *event, struct sv_conf *c, struct fed_store **ret, struct sv_error *err)
{
    const struct class *class;
    int r = find_class(c, &class, err);

    return r < 0 ? r : class->open(event, c, ret, err);
}
