/* See conf.h. */
#include "nodemanager/conf/conf.h"

#include <errno.h>
#include <string.h>

#include "common/identity/auth-to-local.h"
#include "common/identity/service-policy.h"
#include "common/ldap/ldap-conf.h"
#include "common/log.h"
#include "common/str.h"
#include "common/tls/tls-conf.h"
#include "federation/amrm/proxy-conf.h"
#include "federation/amrm/split-conf.h"
#include "federation/policy/policy-conf.h"
#include "federation/store/store.h"
#include "hdfs/conf.h"
#include "localizer/channel.h"
#include "nodemanager/conf/conf-parts.h"
#include "nodemanager/conf/conf-refused.h"
#include "nodemanager/conf/conf-s3.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/sasl/auth-conf.h"
#include "wire/token/node-secret.h"

#define NM "yarn.nodemanager."
#define MAX_MB ((int64_t)1 << 40)
#define FOREVER INT64_MAX

enum {
    K_LOG_LEVEL,
    K_WEB_LOGS,
    K_DEFAULT_FS,
    K_FETCH_THREADS,
    K_CACHE_TARGET,
    K_CACHE_CLEANUP,
    K_METRICS,
    K_METRICS_PERIOD,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_LOG_LEVEL] = { "selvedge.nodemanager.log.level", SV_CONF_STRING, NULL, .help = "What the daemon logs: err, warning, notice, info or debug. Default: SELVEDGE_LOG_LEVEL of its environment, else info." },
    [K_WEB_LOGS] = { "selvedge.nodemanager.webapp.logs.enabled", SV_CONF_BOOL, "true", .help = "Serve container logs over HTTP; false refuses them to everybody." },
    [K_DEFAULT_FS] = { "fs.defaultFS", SV_CONF_STRING, "file:///", .help = "Where a job's file is whose URL has no scheme." },
    [K_FETCH_THREADS] = { NM "localizer.fetch.thread-count", SV_CONF_INT, "4", 1, LOC_WORKERS_MAX, .help = "Downloads at a time of PUBLIC resources; selvedge.nodemanager.localizer.parallel bounds the others." },
    [K_CACHE_TARGET] = { NM "localizer.cache.target-size-mb", SV_CONF_INT, "10240", 0, MAX_MB, .help = "Size of the cache after a cleanup." },
    [K_CACHE_CLEANUP] = { NM "localizer.cache.cleanup.interval-ms", SV_CONF_DURATION, "600000", 1000, FOREVER, 1, "Time between cache cleanups." },
    [K_METRICS] = { NM "container-metrics.enable", SV_CONF_BOOL, "true", .help = "With the key below, show figures of each container in /jmx." },
    [K_METRICS_PERIOD] = { NM "container-metrics.period-ms", SV_CONF_INT, "-1", -1, FOREVER, .help = "Above 0, show those of running containers, as of the last reading." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

static const struct sv_conf_key *own_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* Keys read by other files for conf.c. */
static const struct sv_conf_key *auth_key(size_t *ret_n)
{
    *ret_n = 1;
    return yarn_auth_key();
}

static const struct sv_conf_key *secret_key(size_t *ret_n)
{
    *ret_n = 1;
    return yarn_node_secret_key();
}

/* Tables up to nm_conf_monitor_keys() are read into struct nm_conf: nm_conf_row(). */
/* clang-format off */
static const struct sv_conf_key *(*const tables[])(size_t *ret_n) = {
    nm_conf_node_keys,
    nm_conf_web_keys,
    nm_conf_directories_keys,
    nm_conf_health_keys,
    nm_conf_aux_services_keys,
    nm_conf_launch_keys,
    nm_conf_isolation_keys,
    nm_conf_limits_keys,
    nm_conf_resource_keys,
    nm_conf_labels_keys,
    nm_conf_kerberos_keys,
    nm_conf_policy_keys,
    nm_conf_exec_keys,
    own_keys,
    nm_conf_monitor_keys, /* the last of these */
    nm_conf_refused_keys,
    nm_conf_amrmproxy_keys,
    fed_store_conf_keys,
    fed_policy_conf_keys,
    fed_split_conf_keys,
    fed_proxy_conf_keys,
    nm_conf_localizer_keys,
    nm_conf_s3_table,
    nm_conf_logs_keys,
    hdfs_conf_keys,
    sv_web_auth_keys,
    sv_ldap_conf_keys,
    sv_web_login_keys,
    sv_http_filters_keys,
    sv_tls_conf_keys,
    auth_key,
    sv_auth_to_local_keys,
    secret_key,
    yarn_proxy_conf_keys,
    ipc_settings_keys,
};
/* clang-format on */

const struct sv_conf_key *nm_conf_row(size_t i)
{
    for (size_t t = 0;; t++) {
        size_t n;
        const struct sv_conf_key *k = tables[t](&n);

        if (i < n)
            return &k[i];
        i -= n;
        if (tables[t] == nm_conf_monitor_keys)
            return NULL;
    }
}

static const struct sv_conf_key *find_row(const char *name)
{
    const struct sv_conf_key *k;

    for (size_t i = 0; (k = nm_conf_row(i)); i++)
        if (sv_streq(k->name, name))
            return k;
    return NULL;
}

static bool has_key(const struct sv_conf_key *k, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (sv_streq(k[i].name, name))
            return true;
    return false;
}

static void print_key(const struct sv_conf_key *k, void *userdata)
{
    FILE *out = userdata;

    fprintf(out, "%s\n    default: %s\n    %s\n", k->name, k->def ? k->def : "(unset)", k->help);
}

static bool is_in_tables(const char *name, size_t n_tables)
{
    for (size_t i = 0; i < n_tables; i++) {
        size_t n;
        const struct sv_conf_key *k = tables[i](&n);

        if (has_key(k, n, name))
            return true;
    }
    return false;
}

bool nm_conf_has_row(const char *name)
{
    return find_row(name);
}

bool nm_conf_is_read(const char *name)
{
    return is_in_tables(name, SV_ARRAY_LEN(tables));
}

/* The rows above and wire's for clients and servers, each once. */
void nm_conf_each_key(void (*fn)(const struct sv_conf_key *k, void *userdata), void *userdata)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(tables); i++) {
        size_t n;
        const struct sv_conf_key *k = tables[i](&n);

        for (size_t j = 0; j < n; j++)
            if (!is_in_tables(k[j].name, i))
                fn(&k[j], userdata);
    }
}

void nm_conf_print(FILE *out)
{
    nm_conf_each_key(print_key, out);
}

/* hadoop.tmp.dir and yarn.log.dir have defaults in core-default.xml and the start scripts; rows
 * above refer to them. */
static int set_base_defaults(struct sv_conf *c)
{
    int r;

    if (!sv_conf_raw(c, "hadoop.tmp.dir")) {
        r = sv_conf_set(c, "hadoop.tmp.dir", "/var/lib/selvedge");
        if (r < 0)
            return r;
    }
    if (!sv_conf_raw(c, "yarn.log.dir")) {
        const char *e = getenv("YARN_LOG_DIR") ?: getenv("HADOOP_LOG_DIR");

        r = sv_conf_set(c, "yarn.log.dir", e ? e : "/var/log/selvedge");
        if (r < 0)
            return r;
    }
    if (!sv_conf_raw(c, "yarn.resourcemanager.hostname")) {
        r = sv_conf_set(c, "yarn.resourcemanager.hostname", "0.0.0.0");
        if (r < 0)
            return r;
    }
    /* Rows refer to these keys by ${…}; expansion does not see a row's default. */
    static const char *const referred[] = { NM "hostname", NM "resource-monitor.interval-ms",
                                            NM "resource.network.outbound-bandwidth-mbit",
                                            NM_MAX_UTILIZATION };
    for (size_t i = 0; i < SV_ARRAY_LEN(referred); i++) {
        const struct sv_conf_key *k = find_row(referred[i]);

        if (!sv_conf_raw(c, k->name)) {
            r = sv_conf_set(c, k->name, k->def);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* Recovered containers know the node by its id, which includes the port. */
static int check_recovery(const struct nm_conf *c, struct sv_error *err)
{
    if (c->recovery && c->port == 0)
        return sv_error_set(err, -EINVAL,
                            "Cannot support recovery with an ephemeral server port. "
                            "Check the setting of %saddress",
                            NM);
    return 0;
}

/* Unsupported settings of yarn-site.xml: refused if the node would be unsafe or useless, logged if
 * it works without them. */
static int check_unsupported(struct nm_conf *c, struct sv_error *err)
{
    int r = nm_conf_check_refused(c->conf, err);

    if (r >= 0)
        r = nm_conf_amrmproxy_read(c->conf, &c->amrmproxy, err);
    return r < 0 ? r : nm_conf_logs_read(c->conf, &c->logs, err);
}

/* Behind the node's name and the keys of launches. Whoever has proven his name runs under it:
 * nonsecure-mode.* have no meaning then. */
static int read_kerberos(struct nm_conf *c, struct sv_error *err)
{
    int r = nm_conf_kerberos_read(c->conf, c->hostname, &c->kerberos, err);

    c->limit_users = c->limit_users && !c->kerberos.own.on;
    return r;
}

static int read_web(struct nm_conf *c, struct sv_error *err)
{
    int64_t period;
    int r;

    NM_CONF_GET(sv_conf_bool, K_WEB_LOGS, &c->web.logs_enabled);
    NM_CONF_GET(sv_conf_bool, K_METRICS, &c->web.container_metrics);
    NM_CONF_GET(sv_conf_int, K_METRICS_PERIOD, &period);
    c->web.container_metrics = c->web.container_metrics && period > 0;
    return nm_conf_web_login_read(c, err);
}

static int read_rest(struct nm_conf *c, struct sv_error *err)
{
    int64_t mb;
    int r;

    NM_CONF_GET(sv_conf_int, K_FETCH_THREADS, &c->fetch_threads);
    NM_CONF_GET(sv_conf_int, K_CACHE_TARGET, &mb);
    c->cache_target_bytes = (uint64_t)mb << 20;
    NM_CONF_GET(sv_conf_duration_ms, K_CACHE_CLEANUP, &c->cache_cleanup_ms);
    r = nm_conf_localizer_read(c->conf, &c->localizer, err);
    if (r >= 0)
        r = nm_conf_exec_read(c, err);
    return r < 0 ? r : nm_conf_monitor_read(c, err);
}

static int read_log_level(struct nm_conf *c, struct sv_error *err)
{
    static const char *const names[] = { [SV_LOG_ERR] = "err",
                                         [SV_LOG_WARNING] = "warning",
                                         [SV_LOG_NOTICE] = "notice",
                                         [SV_LOG_INFO] = "info",
                                         [SV_LOG_DEBUG] = "debug" };
    const char *s;
    size_t i;
    int r;

    c->log_level = -1;
    NM_CONF_GET(sv_conf_string, K_LOG_LEVEL, &s);
    if (!s || !*s)
        return 0;
    r = sv_conf_choice(c->conf, &keys[K_LOG_LEVEL], names, SV_ARRAY_LEN(names), &i, err);
    if (r >= 0)
        c->log_level = (int)i;
    return r;
}

int nm_conf_load_again(struct nm_conf *c, const struct nm_conf *known, const char *dir,
                       char *const *overrides, struct sv_error *err)
{
    int r;

    *c = (struct nm_conf){ .conf = sv_conf_new() };
    if (!c->conf)
        return sv_error_errno(err, -ENOMEM, "configuration");
    r = sv_conf_load_hadoop(c->conf, dir, err);
    if (r >= 0)
        r = hdfs_conf_load(c->conf, err);
    if (r >= 0)
        r = nm_conf_resource_load(c->conf, err);
    if (r < 0)
        return r;
    for (char *const *o = overrides; o && *o; o++) {
        _cleanup_free_ char *key = strdup(*o);
        char *eq = key ? strchr(key, '=') : NULL;

        if (!eq || eq == key)
            return sv_error_set(err, -EINVAL, "-D %s: expected key=value", *o);
        *eq = 0;
        r = sv_conf_set(c->conf, key, eq + 1);
        if (r < 0)
            return sv_error_errno(err, r, "-D %s", key);
    }
    r = set_base_defaults(c->conf);
    if (r < 0)
        return sv_error_errno(err, r, "configuration");
    r = nm_conf_node_read(c, known, err);
    if (r >= 0)
        r = nm_conf_web_read(c, err);
    if (r >= 0)
        r = read_log_level(c, err);
    if (r >= 0)
        r = nm_conf_directories_read(c, err);
    if (r >= 0)
        r = nm_conf_health_read(c->conf, &c->health, err);
    if (r >= 0)
        r = check_recovery(c, err);
    if (r >= 0)
        r = nm_conf_launch_read(c, err);
    if (r >= 0)
        r = nm_conf_isolation_read(c, err);
    if (r >= 0)
        r = nm_conf_limits_read(c, err);
    if (r >= 0)
        r = nm_conf_resource_read(c, known, err);
    for (int i = 0; r >= 0 && i < NM_DESCRIBED; i++)
        r = nm_conf_labels_read(c->conf, (enum nm_described)i, &c->labels[i], err);
    if (r >= 0)
        r = read_rest(c, err);
    if (r >= 0)
        r = nm_conf_aux_services_read(c, err);
    if (r >= 0)
        r = read_kerberos(c, err);
    if (r >= 0)
        r = check_unsupported(c, err);
    if (r >= 0)
        r = read_web(c, err);
    if (r >= 0)
        r = nm_conf_policy_read(c, err);
    return r;
}

int nm_conf_load(struct nm_conf *c, const char *dir, char *const *overrides, struct sv_error *err)
{
    return nm_conf_load_again(c, NULL, dir, overrides, err);
}

void nm_conf_free(struct nm_conf *c)
{
    c->local_dirs = sv_strv_free(c->local_dirs);
    c->log_dirs = sv_strv_free(c->log_dirs);
    c->env_whitelist = sv_strv_free(c->env_whitelist);
    nm_conf_health_free(&c->health);
    c->aux_services = sv_strv_free(c->aux_services);
    c->io_max = sv_strv_free(c->io_max);
    c->numa_nodes = sv_strv_free(c->numa_nodes);
    for (int i = 0; i < NM_DESCRIBED; i++)
        nm_conf_labels_free(&c->labels[i]);
    sv_web_auth_free(&c->web.auth);
    nm_conf_kerberos_free(&c->kerberos);
    sv_web_login_free(&c->web.login);
    free(c->web.principal);
    c->web.principal = NULL;
    c->policy = sv_policy_free(c->policy);
    sv_http_filters_free(&c->web.filters);
    free(c->own_address);
    c->own_address = NULL;
    c->conf = sv_conf_free(c->conf);
}
