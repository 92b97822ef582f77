/* See proxy.h. Hadoop's keys for addresses, retries and deadlines of a service. The files are the
 * operator's. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/ipc/proxy.h"

#define RM "yarn.resourcemanager."
#define NM_RM "yarn.nodemanager.resourcemanager."
#define FOREVER INT64_MAX
#define DAY_MS 86400000

enum {
    K_HA,
    K_IDS,
    K_WAIT,
    K_INTERVAL,
    K_NM_WAIT,
    K_NM_INTERVAL,
    K_FAILOVERS,
    K_SLEEP_BASE,
    K_SLEEP_MAX,
    K_FAILOVER_RETRIES,
    K_FAILOVER_TIMEOUT_RETRIES,
    K_CLIENT_NM_WAIT,
    K_CLIENT_NM_INTERVAL,
    K_CONNECT_RETRIES,
    K_CONNECT_TIMEOUT_RETRIES,
    K_CONNECT_INTERVAL,
    K_CONNECT_TIMEOUT,
    K_RPC_TIMEOUT,
    K_PING,
    K_PING_INTERVAL,
    K_IDLE,
    K_RESPONSE_MAX,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_HA] = { RM "ha.enabled", SV_CONF_BOOL, "false", .help = "Several ResourceManagers, one of them active." },
    [K_IDS] = { RM "ha.rm-ids", SV_CONF_LIST, "", .help = "Their ids; " RM "hostname.ID or the address keys with .ID give their addresses." },
    [K_WAIT] = { RM "connect.max-wait.ms", SV_CONF_DURATION, "900000", -1, FOREVER, 1, "Time limit for retries of an unreachable ResourceManager; -1 = no limit." },
    [K_INTERVAL] = { RM "connect.retry-interval.ms", SV_CONF_DURATION, "30000", 1, FOREVER, 1, "The longest time between two attempts; the first ones follow sooner." },
    [K_NM_WAIT] = { NM_RM "connect.max-wait.ms", SV_CONF_DURATION, "${" RM "connect.max-wait.ms}", -1, FOREVER, 1, "The same for NodeManagers only." },
    [K_NM_INTERVAL] = { NM_RM "connect.retry-interval.ms", SV_CONF_DURATION, "${" RM "connect.retry-interval.ms}", 1, FOREVER, 1, "The same for NodeManagers only." },
    [K_FAILOVERS] = { "yarn.client.failover-max-attempts", SV_CONF_INT, "-1", -1, INT32_MAX, .help = "With several ResourceManagers: maximum failovers of a call; -1 = as many as fit into the time limit." },
    [K_SLEEP_BASE] = { "yarn.client.failover-sleep-base-ms", SV_CONF_DURATION, NULL, 1, FOREVER, 1, "Wait before the second failover, doubled for each later one; default: the retry interval." },
    [K_SLEEP_MAX] = { "yarn.client.failover-sleep-max-ms", SV_CONF_DURATION, NULL, 1, FOREVER, 1, "The longest such wait; default: the retry interval." },
    [K_FAILOVER_RETRIES] = { "yarn.client.failover-retries", SV_CONF_INT, "0", 0, INT32_MAX, .help = "With several ResourceManagers: attempts to connect to one before the failover." },
    [K_FAILOVER_TIMEOUT_RETRIES] = { "yarn.client.failover-retries-on-socket-timeouts", SV_CONF_INT, "0", 0, INT32_MAX, .help = "The same when connecting takes too long." },
    [K_CLIENT_NM_WAIT] = { "yarn.client.nodemanager-connect.max-wait-ms", SV_CONF_DURATION, "180000", -1, FOREVER, 1, "Time limit for retries of an unreachable NodeManager; -1 = no limit." },
    [K_CLIENT_NM_INTERVAL] = { "yarn.client.nodemanager-connect.retry-interval-ms", SV_CONF_DURATION, "10000", 1, FOREVER, 1, "The longest time between two attempts." },
    [K_CONNECT_RETRIES] = { "ipc.client.connect.max.retries", SV_CONF_INT, "10", 0, INT32_MAX, .help = "Attempts to connect to a server that refuses connections." },
    [K_CONNECT_TIMEOUT_RETRIES] = { "ipc.client.connect.max.retries.on.timeouts", SV_CONF_INT, "45", 0, INT32_MAX, .help = "Attempts to connect to a server that does not respond." },
    [K_CONNECT_INTERVAL] = { "ipc.client.connect.retry.interval", SV_CONF_DURATION, "1000", 1, FOREVER, 1, "The longest time between two of them." },
    [K_CONNECT_TIMEOUT] = { "ipc.client.connect.timeout", SV_CONF_DURATION, "20000", 1, FOREVER, 1, "Time limit for establishing a connection, authentication included." },
    [K_RPC_TIMEOUT] = { "ipc.client.rpc-timeout.ms", SV_CONF_DURATION, "120000", 0, FOREVER, 1, "Time limit for an answer; 0 = a day." },
    [K_PING] = { "ipc.client.ping", SV_CONF_BOOL, "true", .help = "Send pings while waiting for an answer." },
    [K_PING_INTERVAL] = { "ipc.ping.interval", SV_CONF_DURATION, "60000", 1, FOREVER, 1, "Time between two pings." },
    [K_IDLE] = { "ipc.client.connection.maxidletime", SV_CONF_DURATION, "10000", 0, FOREVER, 1, "Idle time after which a connection is closed." },
    [K_RESPONSE_MAX] = { "ipc.maximum.response.length", SV_CONF_INT, "134217728", 1, INT32_MAX, .help = "Maximum size of an answer in bytes." },
};
static const struct {
    const char *address; /* and address.ID */
    uint16_t port;
} services[] = {
    [YARN_RM_CLIENTS] = { RM "address", 8032 },
    [YARN_RM_SCHEDULER] = { RM "scheduler.address", 8030 },
    [YARN_RM_TRACKER] = { RM "resource-tracker.address", 8031 },
    [YARN_RM_ADMIN] = { RM "admin.address", 8033 },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *yarn_proxy_conf_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int get_int(struct sv_conf *c, int k, int *ret, struct sv_error *err)
{
    int64_t v;
    int r = sv_conf_int(c, &keys[k], &v, err);
    if (r >= 0)
        *ret = (int)v;
    return r;
}

static int get_ms(struct sv_conf *c, int k, int64_t *ret, struct sv_error *err)
{
    return sv_conf_duration_ms(c, &keys[k], ret, err);
}

/* ---- Connection ---- */

static int read_connection(struct sv_conf *c, struct ipc_proxy_config *p, struct sv_error *err)
{
    bool ping;
    int64_t max;
    int r = get_int(c, K_CONNECT_RETRIES, &p->retry.connect_retries, err);
    if (r >= 0)
        r = get_int(c, K_CONNECT_TIMEOUT_RETRIES, &p->retry.connect_timeout_retries, err);
    if (r >= 0)
        r = get_ms(c, K_CONNECT_INTERVAL, &p->retry.connect_interval_ms, err);
    if (r >= 0)
        r = get_ms(c, K_CONNECT_TIMEOUT, &p->client.connect_ms, err);
    if (r >= 0)
        r = get_ms(c, K_RPC_TIMEOUT, &p->client.call_ms, err);
    if (r >= 0)
        r = get_ms(c, K_PING_INTERVAL, &p->client.ping_ms, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_PING], &ping, err);
    if (r >= 0)
        r = get_ms(c, K_IDLE, &p->client.idle_ms, err);
    if (r >= 0)
        r = sv_conf_int(c, &keys[K_RESPONSE_MAX], &max, err);
    if (r < 0)
        return r;
    if (p->client.call_ms == 0)
        p->client.call_ms = DAY_MS;
    if (!ping)
        p->client.ping_ms = DAY_MS;
    p->client.idle_ms = SV_MAX(p->client.idle_ms, 1);
    p->client.max_frame = (size_t)max;
    p->client.version = 1;
    return 0;
}

/* ---- Servers ---- */

/* 0.0.0.0 as a ResourceManager's address means this machine. */
static const char *usable_host(const char *host)
{
    return sv_streq(host, "0.0.0.0") ? "127.0.0.1" : host;
}

/* `suffix`: "" or ".ID" */
static int read_server(struct sv_conf *c, enum yarn_rm_service service, const char *suffix,
                       struct ipc_proxy_server *s, struct sv_error *err)
{
    char name[512], host_name[512], def[600];
    snprintf(name, sizeof(name), "%s%s", services[service].address, suffix);
    snprintf(host_name, sizeof(host_name), RM "hostname%s", suffix);
    const char *host = sv_conf_raw(c, host_name);
    if (!host && *suffix && !sv_conf_raw(c, name))
        return sv_error_set(err, -EINVAL,
                            "%s: not set, and neither is %s: one of them must give the address of "
                            "this ResourceManager",
                            name, host_name);
    snprintf(def, sizeof(def), "%s:%u", host ? host : "0.0.0.0", services[service].port);
    struct sv_conf_key key = { .name = name, .type = SV_CONF_ADDRESS, .def = def };
    int r = sv_conf_address(c, &key, &s->host, &s->port, err);
    if (r >= 0)
        s->host = usable_host(s->host);
    return r;
}

static int read_ha_servers(struct sv_conf *c, enum yarn_rm_service service,
                           struct ipc_proxy_config *p, struct sv_error *err)
{
    _cleanup_strv_ char **ids = NULL;
    const char *raw = sv_conf_raw(c, keys[K_IDS].name);
    int r = sv_conf_list(c, &keys[K_IDS], &ids, err);
    if (r < 0)
        return r;
    if (!ids || !ids[0])
        return sv_error_set(err, -EINVAL,
                            "%s: not set; with %s=true it must name the ResourceManagers",
                            keys[K_IDS].name, keys[K_HA].name);
    for (char **id = ids; *id; id++) {
        struct ipc_proxy_server *s = &p->servers[p->n_servers];
        char suffix[sizeof(s->id) + 1];
        if (p->n_servers == IPC_PROXY_SERVERS_MAX || strlen(*id) >= sizeof(s->id))
            return sv_error_set(err, -EINVAL, "%s: \"%s\": at most %d names, each shorter than %zu",
                                keys[K_IDS].name, raw, IPC_PROXY_SERVERS_MAX, sizeof(s->id));
        snprintf(s->id, sizeof(s->id), "%s", *id);
        snprintf(suffix, sizeof(suffix), ".%s", *id);
        r = read_server(c, service, suffix, s, err);
        if (r < 0)
            return r;
        p->n_servers++;
    }
    return 0;
}

/* ---- Rules ---- */

/* Reads a NodeManager's own key, or the general one. */
static int get_rm_ms(struct sv_conf *c, enum yarn_rm_service service, int nm, int all, int64_t *ret,
                     struct sv_error *err)
{
    bool own = service == YARN_RM_TRACKER && sv_conf_raw(c, keys[nm].name);
    return get_ms(c, own ? nm : all, ret, err);
}

static int read_failover(struct sv_conf *c, struct ipc_retry_policy *p, struct sv_error *err)
{
    int r = get_int(c, K_FAILOVERS, &p->max_failovers, err);
    p->base_ms = p->max_ms = p->interval_ms;
    if (r >= 0 && sv_conf_raw(c, keys[K_SLEEP_BASE].name))
        r = get_ms(c, K_SLEEP_BASE, &p->base_ms, err);
    if (r >= 0 && sv_conf_raw(c, keys[K_SLEEP_MAX].name))
        r = get_ms(c, K_SLEEP_MAX, &p->max_ms, err);
    if (r >= 0)
        r = get_int(c, K_FAILOVER_RETRIES, &p->connect_retries, err);
    if (r >= 0)
        r = get_int(c, K_FAILOVER_TIMEOUT_RETRIES, &p->connect_timeout_retries, err);
    if (r >= 0 && p->max_failovers < 0)
        p->max_failovers =
            p->max_wait_ms < 0 ? INT32_MAX : (int)SV_MIN(p->max_wait_ms / p->base_ms, INT32_MAX);
    return r;
}

int yarn_rm_proxy_config(struct sv_conf *c, enum yarn_rm_service service,
                         struct ipc_proxy_config *ret, struct sv_error *err)
{
    struct ipc_proxy_config p = { .retry.kind = IPC_RETRY_RM };
    bool ha;
    int r = sv_conf_bool(c, &keys[K_HA], &ha, err);
    if (r >= 0)
        r = read_connection(c, &p, err);
    if (r >= 0)
        r = get_rm_ms(c, service, K_NM_WAIT, K_WAIT, &p.retry.max_wait_ms, err);
    if (r >= 0)
        r = get_rm_ms(c, service, K_NM_INTERVAL, K_INTERVAL, &p.retry.interval_ms, err);
    if (r >= 0 && ha) {
        p.retry.kind = IPC_RETRY_FAILOVER;
        r = read_failover(c, &p.retry, err);
    }
    if (r >= 0 && ha) {
        r = read_ha_servers(c, service, &p, err);
    } else if (r >= 0) {
        r = read_server(c, service, "", &p.servers[0], err);
        p.n_servers = 1;
    }
    if (r >= 0)
        *ret = p;
    return r;
}

int yarn_nm_proxy_config(struct sv_conf *c, struct ipc_proxy_config *ret, struct sv_error *err)
{
    struct ipc_proxy_config p = { .retry.kind = IPC_RETRY_NM };
    int r = read_connection(c, &p, err);
    if (r >= 0)
        r = get_ms(c, K_CLIENT_NM_WAIT, &p.retry.max_wait_ms, err);
    if (r >= 0)
        r = get_ms(c, K_CLIENT_NM_INTERVAL, &p.retry.interval_ms, err);
    if (r >= 0)
        *ret = p;
    return r;
}
