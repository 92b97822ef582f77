/* The ResourceManager's configuration table. See rm-conf.h. */
#include "rm-lite/conf/rm-conf.h"

#include <errno.h>
#include <string.h>

#include "common/ldap/ldap-conf.h"
#include "common/str.h"
#include "common/tls/tls-conf.h"
#include "common/zookeeper/zk-conf.h"
#include "federation/store/store.h"
#include "wire/sasl/auth-conf.h"
#include "wire/token/node-secret.h"

struct row {
    struct sv_conf_key key;
    size_t offset;
};

#define AT(field) offsetof(struct rm_conf, field)
#define RM "yarn.resourcemanager."
#define WEB_PUT "selvedge.rm.webapp.put.enabled"
#define HANDLER RM "placement-constraints.handler"
#define RM_SERVICES_SOCKET "selvedge.resourcemanager.services.socket"
#define FED "yarn.federation.state-store."
#define EPOCH_MAX ((1 << 22) - 1) /* container numbers have 40 bits below it */
#define SOCKET_MAX 100            /* bytes; sockaddr_un holds 107 */

static const struct row rows[] = {
    { { "hadoop.security.authorization", SV_CONF_BOOL, "false", 0, 0, 0,
        "true: hadoop-policy.xml says who may connect to which port, and from where: "
        "security.NAME.protocol.acl, .acl.blocked, .hosts, .hosts.blocked of resourcetracker, "
        "applicationclient, applicationmaster and resourcemanager-administration, and their "
        "defaults security.service.authorization.default.*; refreshServiceAcls reads it again" },
      AT(authorization) },
    { { RM "address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8032", 0, 0, 0,
        "where clients reach the ResourceManager" },
      AT(client) },
    { { RM "scheduler.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8030", 0, 0, 0,
        "where ApplicationMasters reach it" },
      AT(scheduler) },
    { { RM "resource-tracker.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8031", 0,
        0, 0, "where NodeManagers reach it" },
      AT(tracker) },
    { { RM "admin.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8033", 0, 0, 0,
        "where operators reach it" },
      AT(admin) },
    { { RM "webapp.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8088", 0, 0, 0,
        "web pages and REST" },
      AT(web) },
    { { RM "bind-host", SV_CONF_STRING, NULL, 0, 0, 0,
        "address to listen on instead of the host of each address" },
      AT(bind_host) },
    { { RM "cluster-id", SV_CONF_STRING, NULL, 0, 0, 0, "name of the cluster" }, AT(cluster_id) },
    { { RM "epoch", SV_CONF_INT, "0", 0, EPOCH_MAX, 0,
        "first number of this ResourceManager's starts, which container ids hold" },
      AT(first_epoch) },
    { { RM "epoch.range", SV_CONF_INT, "0", 0, EPOCH_MAX, 0,
        "such numbers before the first comes again; 0: all" },
      AT(epoch_range) },
    { { "yarn.federation.enabled", SV_CONF_BOOL, "false", 0, 0, 0,
        "register in the federation's state store" },
      AT(federation) },
    { { FED "heartbeat.initial-delay", SV_CONF_DURATION, "30s", 1, INT64_MAX / 1000, 1000,
        "time from the registration to the first heartbeat, which makes this member active" },
      AT(fed_initial_ms) },
    { { FED "heartbeat-interval-secs", SV_CONF_DURATION, "300", 1, INT64_MAX / 1000, 1000,
        "time between heartbeats to the state store" },
      AT(fed_interval_ms) },
    { { FED "clean-up-retry-count", SV_CONF_INT, "1", 0, 1000, 0,
        "more attempts to delete the row of an application that has been dropped" },
      AT(cleanup_retries) },
    { { FED "clean-up-retry-sleep-time", SV_CONF_DURATION, "1s", 0, 86400000, 1,
        "time between them" },
      AT(cleanup_sleep_ms) },
    { { "yarn.client.failover-retries", SV_CONF_INT, "0", 0, INT32_MAX, 0,
        "more attempts to register in a state store that is away; then the daemon ends" },
      AT(fed_retries) },
    { { "yarn.client.failover-sleep-base-ms", SV_CONF_DURATION, "30000", 1, 86400000, 1,
        "time before the second attempt, doubled each time up to a minute" },
      AT(fed_sleep_ms) },
    { { "yarn.am.liveness-monitor.expiry-interval-ms", SV_CONF_DURATION, "900000", 1, INT64_MAX, 1,
        "silence after which an ApplicationMaster is lost" },
      AT(am_expiry_ms) },
    { { "yarn.nm.liveness-monitor.expiry-interval-ms", SV_CONF_DURATION, "600000", 1, INT64_MAX, 1,
        "silence after which a NodeManager is lost" },
      AT(nm_expiry_ms) },
    { { RM "rm.container-allocation.expiry-interval-ms", SV_CONF_DURATION, "600000", 1, INT64_MAX,
        1, "time to launch an allocated container" },
      AT(allocation_expiry_ms) },
    { { RM "nodemanagers.heartbeat-interval-ms", SV_CONF_DURATION, "1000", 1, INT64_MAX, 1,
        "heartbeat interval given to NodeManagers" },
      AT(heartbeat_ms) },
    { { RM "am.max-attempts", SV_CONF_INT, "2", 1, INT32_MAX, 0,
        "attempts of an application that asks for none" },
      AT(am_max_attempts) },
    { { RM "am.global.max-attempts", SV_CONF_INT, NULL, 1, INT32_MAX, 0,
        "most attempts that an application may ask for; unset = am.max-attempts" },
      AT(am_global_max_attempts) },
    { { RM "max-completed-applications", SV_CONF_INT, "1000", 0, INT32_MAX, 0,
        "finished applications remembered" },
      AT(max_completed_apps) },
    { { "selvedge.rm.history.max-applications", SV_CONF_INT, "100000", 0, 10000000, 0,
        "ended applications of which the state store keeps a row of some 200 bytes, for "
        "`selvedge history`; 0: none" },
      AT(history_apps) },
    { { "selvedge.rm.history.max-age-ms", SV_CONF_DURATION, "90d", 60000, INT64_MAX / 4, 1,
        "age at which such a row is deleted" },
      AT(history_age_ms) },
    { { RM "container-tokens.master-key-rolling-interval-secs", SV_CONF_DURATION, "86400", 1,
        INT64_MAX, 1000, "age at which the container tokens' key is replaced" },
      AT(container_key_roll_ms) },
    { { RM "nm-tokens.master-key-rolling-interval-secs", SV_CONF_DURATION, "86400", 1, INT64_MAX,
        1000, "age at which the NM tokens' key is replaced" },
      AT(nm_key_roll_ms) },
    { { RM "am-rm-tokens.master-key-rolling-interval-secs", SV_CONF_DURATION, "86400", 1, INT64_MAX,
        1000, "age at which the AMRM tokens' key is replaced" },
      AT(amrm_key_roll_ms) },
    { { RM "delegation.key.update-interval", SV_CONF_DURATION, "86400000", 1000, INT64_MAX / 4, 1,
        "age at which the delegation tokens' key is replaced" },
      AT(delegation_key_ms) },
    { { RM "delegation.token.max-lifetime", SV_CONF_DURATION, "604800000", 1000, INT64_MAX / 4, 1,
        "a delegation token ends so long after its issue, however often it is renewed" },
      AT(delegation_max_ms) },
    { { RM "delegation.token.renew-interval", SV_CONF_DURATION, "86400000", 1000, INT64_MAX / 4, 1,
        "a delegation token ends so long after its issue or last renewal" },
      AT(delegation_renew_ms) },
    { { RM "delegation.token.remove-scan-interval", SV_CONF_DURATION, "1h", 1000, INT64_MAX / 4, 1,
        "how often expired delegation tokens are dropped" },
      AT(delegation_scan_ms) },
    { { RM "delayed.delegation-token.removal-interval-ms", SV_CONF_DURATION, "30000", 0,
        INT64_MAX / 4, 1,
        "with Kerberos and log aggregation: a job's tokens are kept so long after its end" },
      AT(token_removal_ms) },
    { { RM "delegation-token-renewer.thread-retry-max-attempts", SV_CONF_INT, "10", 1, 1000, 0,
        "with Kerberos: tries of a token's first renewal at a NameNode that does not answer" },
      AT(token_renew_tries) },
    { { RM "delegation-token.always-cancel", SV_CONF_BOOL, "false", 0, 0, 0,
        "with Kerberos: tokens are cancelled at the end of their last job whatever it asked for" },
      AT(tokens_always_cancel) },
    { { RM "delegation-token.max-conf-size-bytes", SV_CONF_INT, "12800", 0, 1048576, 0,
        "bytes of the configuration that a job sends with its tokens; a submission with more is "
        "refused" },
      AT(token_conf_bytes) },
    { { RM "proxy-user-privileges.enabled", SV_CONF_BOOL, "false", 0, 0, 0,
        "with Kerberos: the ResourceManager gets HDFS tokens for the users of applications, as "
        "their proxy at the NameNode of fs.defaultFS, where theirs end and where they bring none" },
      AT(proxy_user_privileges) },
    { { RM "system-credentials.valid-time-remaining", SV_CONF_DURATION, "10800000", 0,
        INT64_MAX / 4, 1,
        "with it: a token is replaced when it can be renewed for less than this" },
      AT(credentials_left_ms) },
    { { "selvedge.rm.delegation-tokens-per-user", SV_CONF_INT, "1000", 1, 100000, 0,
        "delegation tokens that one user may have" },
      AT(delegation_per_user) },
    { { "hadoop.security.secret-manager.key-generator.algorithm", SV_CONF_STRING, "HmacSHA1", 0, 0,
        0, "HMAC of tokens; the same on every daemon" },
      AT(hmac_name) },
    { { "hadoop.security.secret-manager.key-length", SV_CONF_INT, "256", 64, 512, 0,
        "bits of a token key" },
      AT(key_bits) },
    { { RM "recovery.enabled", SV_CONF_BOOL, "true", 0, 0, 0, "keep applications over a restart" },
      AT(recovery) },
    { { RM "work-preserving-recovery.enabled", SV_CONF_BOOL, "true", 0, 0, 0,
        "keep running containers over a restart" },
      AT(work_preserving) },
    { { RM "work-preserving-recovery.scheduling-wait-ms", SV_CONF_DURATION, "10000", 0, INT64_MAX,
        1, "no new containers for this long after a restart with running applications" },
      AT(recovery_wait_ms) },
    { { "selvedge.rm.state-dir", SV_CONF_STRING, "/var/lib/selvedge/rm", 0, 0, 0,
        "directory of the state store" },
      AT(state_dir) },
    { { RM "nodes.include-path", SV_CONF_STRING, "", 0, 0, 0,
        "file of the hosts that may join; empty = all" },
      AT(nodes_include) },
    { { RM "nodes.exclude-path", SV_CONF_STRING, "", 0, 0, 0, "file of the hosts that must leave" },
      AT(nodes_exclude) },
    { { "net.topology.node.switch.mapping.impl", SV_CONF_STRING,
        "org.apache.hadoop.net.ScriptBasedMapping", 0, 0, 0,
        "where nodes' racks are from: ...ScriptBasedMapping or ...TableMapping" },
      AT(topology_class) },
    { { "net.topology.script.file.name", SV_CONF_STRING, "", 0, 0, 0,
        "program that prints the racks of the addresses in its arguments" },
      AT(topology_script) },
    { { "net.topology.script.number.args", SV_CONF_INT, "100", 1, 1024, 0,
        "addresses that the program is given at once" },
      AT(topology_script_args) },
    { { "net.topology.table.file.name", SV_CONF_STRING, "", 0, 0, 0,
        "file with a host or address and its rack a line" },
      AT(topology_table) },
    { { RM "node-removal-untracked.timeout-ms", SV_CONF_DURATION, "60000", 1, INT64_MAX, 1,
        "a node that has left and is in neither list of hosts is forgotten after this" },
      AT(untracked_ms) },
    { { RM "nodemanager-graceful-decommission-timeout-secs", SV_CONF_DURATION, "3600", 0, INT64_MAX,
        1000, "time for a node's applications to end when it leaves gracefully" },
      AT(decommission_timeout_ms) },
    { { "selvedge.rm.unprotected-nodes", SV_CONF_STRING, "", 0, 0, 0,
        "addresses and networks (10.1.0.0/16, *), separated by commas, from which nodes may "
        "register without the node secret: Apache's NodeManagers" },
      AT(unprotected_nodes) },
    { { "selvedge.rm.registration.ip-hostname-check", SV_CONF_BOOL, "true", 0, 0, 0,
        "a node's host name must resolve to the address that it connects from" },
      AT(check_node_address) },
    { { "selvedge.rm.schedule-on-ask", SV_CONF_BOOL, "true", 0, 0, 0,
        "allocate as soon as asked, on nodes seen lately, without waiting for their heartbeat" },
      AT(schedule_on_ask) },
    { { RM "opportunistic-container-allocation.enabled", SV_CONF_BOOL, "false", 0, 0, 0,
        "running containers may become OPPORTUNISTIC, which count in no queue and on no node, and "
        "GUARANTEED again; none is allocated as OPPORTUNISTIC" },
      AT(opportunistic) },
    { { HANDLER, SV_CONF_STRING, "disabled", 0, 0, 0,
        "SchedulingRequests with placement constraints: disabled (refused), scheduler (they wait) "
        "or placement-processor (they come back rejected after some attempts)" },
      AT(placement_name) },
    { { RM "placement-constraints.retry-attempts", SV_CONF_INT, "3", 1, 1000000, 0,
        "calls of an ApplicationMaster after which placement-processor rejects what is not "
        "placed" },
      AT(placement_attempts) },
    { { "selvedge.rm.record", SV_CONF_STRING, "", 0, 0, 0,
        "file that the scheduler's events and decisions are recorded in; empty = none" },
      AT(record) },
    { { "selvedge.rm.record-limit", SV_CONF_SIZE, "1g", 0, 0, 0,
        "bytes after which that record ends" },
      AT(record_limit) },
    { { "yarn.scheduler.capacity.user-metrics.enable", SV_CONF_BOOL, "false", 0, 0, 0,
        "metrics of each user of each queue, besides the queues' own" },
      AT(user_metrics) },
    { { RM "application.max-tags", SV_CONF_INT, "10", 0, INT32_MAX, 0, "tags of one application" },
      AT(max_tags) },
    { { RM "application.max-tag.length", SV_CONF_INT, "100", 0, INT32_MAX, 0,
        "characters in a tag" },
      AT(max_tag_length) },
    { { "yarn.cluster.max-application-priority", SV_CONF_INT, "0", 0, INT32_MAX, 0,
        "highest priority of an application" },
      AT(max_priority) },
    { { RM "nodemanager-connect-retries", SV_CONF_INT, "10", 0, INT32_MAX, 0,
        "attempts at a NodeManager that takes no connections, for an ApplicationMaster's start" },
      AT(launch_retries) },
    { { RM "nodemanager.minimum.version", SV_CONF_STRING, "NONE", 0, 0, 0,
        "oldest NodeManager that may join" },
      AT(minimum_nm_version) },
    { { "yarn.log-aggregation-enable", SV_CONF_BOOL, "false", 0, 0, 0,
        "whether NodeManagers upload logs: applications have a logAggregationStatus" },
      AT(log_aggregation) },
    { { "yarn.log-aggregation-status.time-out.ms", SV_CONF_DURATION, "600000", 1, INT64_MAX / 4, 1,
        "a node that has not uploaded so long after an application's end is TIME_OUT" },
      AT(log_status_timeout_ms) },
    { { WEB_PUT, SV_CONF_BOOL, NULL, 0, 0, 0,
        "applications can be submitted and changed over HTTP (POST, PUT); unset = true, but for "
        "names that are only claimed where yarn.acl.enable or Kerberos is" },
      AT(web_put) },
    { { "yarn.webapp.enable-rest-app-submissions", SV_CONF_BOOL, "true", 0, 0, 0,
        "applications can be submitted over HTTP (POST)" },
      AT(rest_submissions) },
    { { "yarn.webapp.api-service.enable", SV_CONF_BOOL, "false", 0, 0, 0,
        "serve YARN's services API below /app/v1/services, by selvedge-services of this machine" },
      AT(services) },
    { { RM_SERVICES_SOCKET, SV_CONF_STRING, "/run/selvedge-services/socket", 0, 0, 0,
        "its socket" },
      AT(services_socket) },
    { { RM "proxy.timeout.enabled", SV_CONF_BOOL, "true", 0, 0, 0,
        "give up an ApplicationMaster's page that is silent" },
      AT(proxy_timeout) },
    { { RM "proxy.connection.timeout", SV_CONF_DURATION, "60000", 1, INT64_MAX, 1,
        "silence after which an ApplicationMaster's page is given up" },
      AT(proxy_timeout_ms) },
    { { "hadoop.http.staticuser.user", SV_CONF_STRING, "dr.who", 0, 0, 0,
        "user of browsers, told to ApplicationMasters' pages" },
      AT(static_user) },
};

static int read_row(struct sv_conf *conf, const struct row *row, struct rm_conf *c,
                    struct sv_error *err)
{
    void *at = (char *)c + row->offset;

    switch (row->key.type) {
    case SV_CONF_ADDRESS: {
        struct rm_address *a = at;

        return sv_conf_address(conf, &row->key, &a->host, &a->port, err);
    }
    case SV_CONF_BOOL:
        if (!row->key.def && !sv_conf_raw(conf, row->key.name))
            return 0; /* complete() sets the default from another key */
        return sv_conf_bool(conf, &row->key, at, err);
    case SV_CONF_INT:
        if (!row->key.def && !sv_conf_raw(conf, row->key.name)) {
            *(int64_t *)at = -1;
            return 0;
        }
        return sv_conf_int(conf, &row->key, at, err);
    case SV_CONF_DURATION:
        return sv_conf_duration_ms(conf, &row->key, at, err);
    case SV_CONF_SIZE:
        return sv_conf_size(conf, &row->key, at, err);
    default:
        return sv_conf_string(conf, &row->key, at, err);
    }
}

/* The roll interval must exceed twice the activation delay, or a token made with the key could not
 * be used. */
static int check_roll(const char *key, int64_t roll_ms, int64_t expiry_ms, struct sv_error *err)
{
    int64_t delay = expiry_ms + expiry_ms / 2;

    if (roll_ms > 2 * delay)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "%s: %lld ms is not more than twice the activation delay of %lld ms "
                        "(1.5 times the expiry interval)",
                        key, (long long)roll_ms, (long long)delay);
}

/* A key is kept for the longest lifetime of its tokens. */
static int check_delegation(const struct rm_conf *c, struct sv_error *err)
{
    if (c->delegation_max_ms / c->delegation_key_ms < RM_DELEGATION_KEYS_MAX)
        return 0;
    return sv_error_set(err, -EINVAL,
                        RM "delegation.key.update-interval: %lld ms would keep %d keys or more "
                           "within " RM "delegation.token.max-lifetime, %lld ms; set a longer "
                           "interval or a shorter lifetime",
                        (long long)c->delegation_key_ms, RM_DELEGATION_KEYS_MAX,
                        (long long)c->delegation_max_ms);
}

static int read_handler(struct rm_conf *c, struct sv_error *err)
{
    static const char *const names[] = { [RM_PLACEMENT_DISABLED] = "disabled",
                                         [RM_PLACEMENT_SCHEDULER] = "scheduler",
                                         [RM_PLACEMENT_PROCESSOR] = "placement-processor" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (sv_streq(names[i], c->placement_name)) {
            c->placement = (enum rm_placement_handler)i;
            return 0;
        }
    return sv_error_set(err, -EINVAL,
                        HANDLER "=%.64s: is not disabled, scheduler or placement-processor",
                        c->placement_name);
}

/* Keys whose default is another key's value. */
static void complete(struct sv_conf *conf, struct rm_conf *c)
{
    if (c->am_global_max_attempts < 0)
        c->am_global_max_attempts = c->am_max_attempts;
    if (!sv_conf_raw(conf, WEB_PUT))
        c->web_put = !c->acl_enable || sv_streq(c->auth.auth_type, "kerberos");
}

static int check_services(const struct rm_conf *c, struct sv_error *err)
{
    if (!c->services || (*c->services_socket == '/' && strlen(c->services_socket) <= SOCKET_MAX))
        return 0;
    return sv_error_set(err, -EINVAL,
                        RM_SERVICES_SOCKET "=%s: an absolute path of at most %d bytes",
                        c->services_socket, SOCKET_MAX);
}

/* In a secure cluster nothing is changed in a name that is a claim. */
static int check_web(struct sv_conf *conf, struct rm_conf *c, struct sv_error *err)
{
    if (!c->kerberos.own.on || !sv_streq(c->auth.auth_type, "simple"))
        return 0;
    if (sv_conf_raw(conf, WEB_PUT) && c->web_put)
        return sv_error_set(err, -EINVAL,
                            WEB_PUT "=true: with hadoop.security.authentication=kerberos nothing "
                                    "is changed in a name that a client of the web server only "
                                    "claims; set hadoop.http.authentication.type to kerberos, for "
                                    "tickets, or this key to false");
    c->web_put = false;
    return 0;
}

static int read_all(struct sv_conf *conf, struct rm_conf *c, struct sv_error *err)
{
    int r;

    /* Hadoop's default of ${yarn.resourcemanager.hostname} in the addresses above. */
    if (!sv_conf_raw(conf, RM "hostname")) {
        r = sv_conf_set(conf, RM "hostname", "0.0.0.0");
        if (r < 0)
            return sv_error_errno(err, r, RM "hostname");
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        r = read_row(conf, &rows[i], c, err);
        if (r < 0)
            return r;
    }
    r = rm_conf_kerberos_read(conf, c->client.host, &c->kerberos, err);
    if (r >= 0)
        r = ipc_settings_read(conf, &c->ipc, err);
    if (r >= 0)
        r = yarn_nm_proxy_config(conf, &c->node, err);
    if (r < 0)
        return r;
    c->node.retry.connect_timeout_retries = (int)c->launch_retries;
    r = yarn_hmac_parse(c->hmac_name, &c->hmac);
    if (r < 0)
        return sv_error_set(err, r,
                            "hadoop.security.secret-manager.key-generator.algorithm: \"%s\" is not "
                            "HmacSHA1, HmacSHA224, HmacSHA256, HmacSHA384 or HmacSHA512",
                            c->hmac_name);
    if ((r = check_roll(RM "container-tokens.master-key-rolling-interval-secs",
                        c->container_key_roll_ms, c->nm_expiry_ms, err)) < 0 ||
        (r = check_roll(RM "nm-tokens.master-key-rolling-interval-secs", c->nm_key_roll_ms,
                        c->nm_expiry_ms, err)) < 0 ||
        (r = check_roll(RM "am-rm-tokens.master-key-rolling-interval-secs", c->amrm_key_roll_ms,
                        c->am_expiry_ms, err)) < 0 ||
        (r = check_delegation(c, err)) < 0 || (r = read_handler(c, err)) < 0 ||
        (r = check_services(c, err)) < 0)
        return r;
    r = rm_conf_web_read(conf, &c->kerberos, &c->web, &c->auth, &c->web_server, err);
    if (r < 0)
        return r;
    c->acl_enable = c->auth.acl_enabled;
    complete(conf, c);
    return check_web(conf, c, err);
}

int rm_conf_read(struct sv_conf *conf, struct rm_conf *ret, struct sv_error *err)
{
    struct rm_conf c = { 0 };
    int r = read_all(conf, &c, err);

    if (r < 0)
        rm_conf_free(&c);
    else
        *ret = c;
    return r;
}

int rm_conf_max_priority(struct sv_conf *conf, int64_t *ret, struct sv_error *err)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        if (rows[i].offset == AT(max_priority))
            return sv_conf_int(conf, &rows[i].key, ret, err);
    return -ENOENT;
}

const struct sv_conf_key *rm_conf_row(size_t i)
{
    return i < SV_ARRAY_LEN(rows) ? &rows[i].key : NULL;
}

int rm_conf_load_scheduler(struct sv_conf *c, const char *dir, struct sv_error *err)
{
    static const char *const files[] = { "capacity-scheduler.xml", "resource-types.xml" };

    for (size_t i = 0; dir && i < SV_ARRAY_LEN(files); i++) {
        _cleanup_free_ char *path = NULL;
        int r;

        if (sv_asprintf(&path, "%s/%s", dir, files[i]) < 0)
            return -ENOMEM;
        r = sv_conf_load_file(c, path, err);
        if (r < 0 && r != -ENOENT)
            return r; /* absent: one queue root.default with 100 %, no extra resource types */
    }
    return 0;
}

void rm_conf_free(struct rm_conf *c)
{
    sv_web_auth_free(&c->auth);
    rm_conf_kerberos_free(&c->kerberos);
    rm_conf_web_free(&c->web_server);
}

static void print_key(struct sv_conf *conf, const struct sv_conf_key *key, FILE *out)
{
    const char *set = sv_conf_raw(conf, key->name);
    bool secret = set && fed_store_key_is_secret(key->name);
    const char *value = secret ? "***" : set ? set : key->def ? key->def : "";

    fprintf(out, "%s=%s%s\n    %s\n", key->name, value, set ? "" : " (default)", key->help);
}

static void print_keys(struct sv_conf *conf, const struct sv_conf_key *(*keys)(size_t *ret_n),
                       FILE *out)
{
    size_t n;
    const struct sv_conf_key *all = keys(&n);

    for (size_t i = 0; i < n; i++)
        print_key(conf, &all[i], out);
}

static bool has_key(const struct sv_conf_key *keys, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (sv_streq(keys[i].name, name))
            return true;
    return false;
}

/* Also prints the rows of a federation's state store, and wire's for RPC servers and for calls of
 * NodeManagers. */
void rm_conf_print(struct sv_conf *conf, FILE *out)
{
    size_t n_served, n_called;
    const struct sv_conf_key *served = ipc_settings_keys(&n_served);
    const struct sv_conf_key *called = yarn_proxy_conf_keys(&n_called);

    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        print_key(conf, &rows[i].key, out);
    print_keys(conf, sv_web_auth_keys, out);
    print_keys(conf, sv_ldap_conf_keys, out);
    print_keys(conf, sv_web_login_keys, out);
    print_keys(conf, rm_conf_web_keys, out);
    print_keys(conf, sv_http_filters_keys, out);
    print_keys(conf, sv_tls_conf_keys, out);
    print_keys(conf, fed_store_conf_keys, out);
    print_keys(conf, sv_zk_conf_keys, out);
    print_key(conf, yarn_auth_key(), out);
    print_keys(conf, rm_conf_kerberos_keys, out);
    print_key(conf, yarn_node_secret_key(), out);
    print_keys(conf, ipc_settings_keys, out);
    for (size_t i = 0; i < n_called; i++)
        if (!has_key(served, n_served, called[i].name) &&
            (sv_has_prefix(called[i].name, "ipc.") ||
             sv_has_prefix(called[i].name, "yarn.client.nodemanager-connect.")))
            print_key(conf, &called[i], out);
}
