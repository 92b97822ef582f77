/* See settings.h. */
#include "service/launcher/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"

enum {
    K_ENABLED,
    K_DIR,
    K_STORE,
    K_ZK_ROOT,
    K_ADDRESS,
    K_RESYNC,
    K_DIAGNOSTICS,
    K_CONFLICT_MIN,
    K_CONFLICT_MAX,
    K_RETAIN,
    K_TASKS,
    K_SHARE,
    K_ATTEMPTS,
    K_VALIDITY,
    K_PRIORITY,
    K_ACL,
    K_ACL_FREE,
    K_ADMINS,
    K_TYPES,
    K_EXITS,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_ENABLED] = { "selvedge.framework.enabled", SV_CONF_BOOL, "false", .help = "Whether selvedge-services is the FrameworkLauncher, too: its REST API is below /v1 of the same port." },
    [K_DIR] = { "selvedge.framework.state-dir", SV_CONF_STRING, "/var/lib/selvedge-services", .help = "Directory of the frameworks' store, of this program's account." },
    [K_STORE] = { "selvedge.framework.store", SV_CONF_STRING, "sqlite", .help = "Where the state of frameworks is: sqlite, a file of this server; or zookeeper (hadoop.zk.*), for several servers of which one is active." },
    [K_ZK_ROOT] = { "selvedge.framework.zk-root", SV_CONF_STRING, "/selvedge-launcher", .help = "ZooKeeper's node that everything is below; the servers of one cluster have the same." },
    [K_ADDRESS] = { "selvedge.framework.web-server-address", SV_CONF_STRING, NULL, .help = "URL at which frameworks' masters reach this server; http:// with its host's name and port where it is not set. With the store in ZooKeeper: the URLs of all servers, separated by commas." },
    [K_RESYNC] = { "selvedge.framework.rm-resync-interval", SV_CONF_DURATION, "30s", 1000, 3600000, 1000, .help = "Time between two questions to the ResourceManager for frameworks' live applications (serviceRMResyncIntervalSec)." },
    [K_DIAGNOSTICS] = { "selvedge.framework.diagnostics-max-retries", SV_CONF_INT, "15", 0, 10000, .help = "Times that an ended application without diagnostics is looked at again (applicationRetrieveDiagnosticsMaxRetryCount)." },
    [K_CONFLICT_MIN] = { "selvedge.framework.conflict-min-delay", SV_CONF_DURATION, "600s", 0, 86400000, 1000, .help = "Shortest delay of a retry after a transient conflict (applicationTransientConflictMinDelaySec)." },
    [K_CONFLICT_MAX] = { "selvedge.framework.conflict-max-delay", SV_CONF_DURATION, "3600s", 0, 86400000, 1000, .help = "Longest delay of a retry after a transient conflict (applicationTransientConflictMaxDelaySec)." },
    [K_RETAIN] = { "selvedge.framework.completed-retain", SV_CONF_DURATION, "43200s", 0, 315360000000, 1000, .help = "Time that completed frameworks are kept (frameworkCompletedRetainSec)." },
    [K_TASKS] = { "selvedge.framework.max-total-tasks", SV_CONF_INT, "500000", 1, 10000000, .help = "Tasks of all frameworks together (maxTotalTaskNumber); more are answered 429." },
    [K_SHARE] = { "selvedge.framework.user-share", SV_CONF_INT, "25", 1, 100, .help = "Percent that one user may have of the frameworks, their tasks and their bytes that all may have; more is answered 429." },
    [K_ATTEMPTS] = { "selvedge.framework.am-max-attempts", SV_CONF_INT, "3", 1, 1000, .help = "Attempts of a framework's master (amAttemptMaxCount)." },
    [K_VALIDITY] = { "selvedge.framework.am-failures-validity", SV_CONF_DURATION, "10s", 0, 86400000, 1000, .help = "Age at which a failed attempt of a master no longer counts (amAttemptFailuresValidityIntervalSec)." },
    [K_PRIORITY] = { "selvedge.framework.am-priority", SV_CONF_INT, "1", 0, 1000, .help = "Priority of frameworks' applications (amPriority)." },
    [K_ACL] = { "selvedge.framework.acl.enable", SV_CONF_BOOL, "false", .help = "Whether a framework may be changed by the users of its namespace alone (webServerAclEnable)." },
    [K_ACL_FREE] = { "selvedge.framework.acl.ignore-without-namespace", SV_CONF_BOOL, "false", .help = "Whether everybody may change frameworks without a namespace (webServerAclIgnoreWithoutNamespace)." },
    [K_ADMINS] = { "selvedge.framework.root-admin-users", SV_CONF_LIST, "", .help = "Users who may change everything of the FrameworkLauncher (rootAdminUsers), beside this program's account." },
    [K_TYPES] = { "yarn.resource-types", SV_CONF_LIST, "", .help = "Resources of the cluster: with yarn.io/gpu frameworks may ask for GPUs." },
    [K_EXITS] = { "selvedge.framework.user-exits-file", SV_CONF_STRING, NULL, .help = "YAML file of the exit codes of tasks (docs/framework-exits.md), read at start; where it is not set, the launcher's usual ones." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *svc_lr_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int seconds(struct sv_conf *conf, int key, int64_t *ret, struct sv_error *err)
{
    int64_t ms = 0;
    int r = sv_conf_duration_ms(conf, &keys[key], &ms, err);

    if (r == 0)
        *ret = ms / 1000;
    return r;
}

static int read_times(struct sv_conf *conf, struct svc_lr_settings *s, struct sv_error *err)
{
    int r = seconds(conf, K_RESYNC, &s->resync_s, err);

    if (r == 0)
        r = seconds(conf, K_CONFLICT_MIN, &s->conflict_min_s, err);
    if (r == 0)
        r = seconds(conf, K_CONFLICT_MAX, &s->conflict_max_s, err);
    if (r == 0)
        r = seconds(conf, K_RETAIN, &s->retain_s, err);
    if (r == 0)
        r = seconds(conf, K_VALIDITY, &s->am_validity_s, err);
    if (r == 0 && s->conflict_max_s < s->conflict_min_s)
        r = sv_error_set(err, -EINVAL, "%s is shorter than %s", keys[K_CONFLICT_MAX].name,
                         keys[K_CONFLICT_MIN].name);
    return r;
}

static int read_numbers(struct sv_conf *conf, struct svc_lr_settings *s, struct sv_error *err)
{
    int r = sv_conf_int(conf, &keys[K_DIAGNOSTICS], &s->diagnostics_retries, err);

    if (r == 0)
        r = sv_conf_int(conf, &keys[K_TASKS], &s->max_tasks, err);
    if (r == 0)
        r = sv_conf_int(conf, &keys[K_SHARE], &s->user_share, err);
    if (r == 0)
        r = sv_conf_int(conf, &keys[K_ATTEMPTS], &s->am_attempts, err);
    if (r == 0)
        r = sv_conf_int(conf, &keys[K_PRIORITY], &s->am_priority, err);
    return r;
}

static int read_types(struct sv_conf *conf, struct svc_lr_settings *s, struct sv_error *err)
{
    _cleanup_strv_ char **types = NULL;
    int r = sv_conf_list(conf, &keys[K_TYPES], &types, err);

    for (char **t = types; r == 0 && t && *t; t++)
        s->gpus |= strcmp(*t, "yarn.io/gpu") == 0;
    return r;
}

/* ---- Where it is ---- */

static int read_store(struct sv_conf *conf, struct svc_lr_settings *s, struct sv_error *err)
{
    const char *name = NULL;
    int r = sv_conf_string(conf, &keys[K_STORE], &name, err);

    if (r == 0)
        r = sv_conf_string(conf, &keys[K_ZK_ROOT], &s->zk_root, err);
    if (r < 0)
        return r;
    s->shared = strcmp(name, "zookeeper") == 0;
    if (!s->shared)
        return strcmp(name, "sqlite") == 0
                   ? 0
                   : sv_error_set(err, -EINVAL, "%s=%s: sqlite or zookeeper", keys[K_STORE].name,
                                  name);
    r = sv_zk_settings_read(conf, &s->zk, err);
    if (r == 0 && (!s->zk.servers || !*s->zk.servers))
        r = sv_error_set(err, -EINVAL,
                         "%s=zookeeper: hadoop.zk.address is not set: name its servers, HOST:PORT, "
                         "separated by commas",
                         keys[K_STORE].name);
    return r;
}

/* One URL, or with a store of several servers those of all. */
static int check_address(const struct svc_lr_settings *s, struct sv_error *err)
{
    _cleanup_free_ char *copy = s->address ? strdup(s->address) : NULL;
    char *rest = copy, *url;
    int n = 0;
    bool bad = false;

    if (s->address && !copy)
        return sv_error_errno(err, -ENOMEM, "%s", keys[K_ADDRESS].name);
    while ((url = strsep(&rest, ","))) {
        const char *host = sv_has_prefix(url, "http://")    ? url + 7
                           : sv_has_prefix(url, "https://") ? url + 8
                                                            : "";

        bad |= !*host || strpbrk(url, " \t'\"") != NULL;
        n++;
    }
    bad |= n > 1 && (!s->shared || n > SVC_LR_URLS_MAX);
    bad |= copy && strlen(s->address) > SVC_LR_URLS_TEXT_MAX;
    if (bad)
        return sv_error_set(err, -EINVAL, "%s=%s: %s", keys[K_ADDRESS].name, s->address,
                            s->shared ? "URLs http://host:port, separated by commas"
                                      : "a URL http://host:port");
    return s->shared && n == 0
               ? sv_error_set(err, -EINVAL,
                              "%s=zookeeper: %s is not set: name all servers, http://host:port, "
                              "separated by commas",
                              keys[K_STORE].name, keys[K_ADDRESS].name)
               : 0;
}

static int read_texts(struct sv_conf *conf, struct svc_lr_settings *s, struct sv_error *err)
{
    int r = sv_conf_string(conf, &keys[K_DIR], &s->dir, err);

    if (r == 0 && s->enabled)
        r = read_store(conf, s, err);
    if (r == 0)
        r = sv_conf_string(conf, &keys[K_ADDRESS], &s->address, err);
    if (r == 0)
        r = check_address(s, err);
    if (r == 0)
        r = sv_conf_list(conf, &keys[K_ADMINS], &s->admins, err);
    return r;
}

static int read_exits(struct sv_conf *conf, struct svc_lr_settings *s, struct sv_error *err)
{
    _cleanup_free_ char *yaml = NULL;
    const char *path = NULL;
    size_t len;
    int r = sv_conf_string(conf, &keys[K_EXITS], &path, err);

    if (r < 0 || !path || !*path)
        return r;
    r = sv_read_file_at(AT_FDCWD, path, SVC_FW_EXITS_FILE_MAX, &yaml, &len);
    if (r < 0)
        return sv_error_errno(err, r, "%s=%s", keys[K_EXITS].name, path);
    r = svc_fw_exits_parse(yaml, len, &s->exits, err);
    return r < 0 ? sv_error_wrap(err, "%s", path) : 0;
}

int svc_lr_settings_read(struct sv_conf *conf, struct svc_lr_settings *ret, struct sv_error *err)
{
    struct svc_lr_settings s = { .conf = conf };
    int r = sv_conf_bool(conf, &keys[K_ENABLED], &s.enabled, err);

    if (r == 0)
        r = sv_conf_bool(conf, &keys[K_ACL], &s.acl, err);
    if (r == 0)
        r = sv_conf_bool(conf, &keys[K_ACL_FREE], &s.acl_without_namespace, err);
    if (r == 0)
        r = read_times(conf, &s, err);
    if (r == 0)
        r = read_numbers(conf, &s, err);
    if (r == 0)
        r = read_texts(conf, &s, err);
    if (r == 0)
        r = read_types(conf, &s, err);
    if (r == 0)
        r = read_exits(conf, &s, err);
    if (r < 0) {
        svc_lr_settings_free(&s);
        return r;
    }
    *ret = s;
    return 0;
}

void svc_lr_settings_free(struct svc_lr_settings *s)
{
    s->admins = sv_strv_free(s->admins);
    sv_zk_settings_free(&s->zk);
    s->exits = svc_fw_exits_free(s->exits);
}

static json_t *admins_json(const struct svc_lr_settings *s)
{
    json_t *list = json_array();
    int bad = !list;

    for (char **a = s->admins; a && *a; a++)
        bad |= json_array_append_new(list, json_pack("{s:s}", "name", *a));
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

json_t *svc_lr_settings_json(const struct svc_lr_settings *s)
{
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:b, s:s?, s:b, s:b, "
        "s:i, s:i, s:i, s:i, s:i, s:i}",
        "rootAdminUsers", admins_json(s), "serviceRMResyncIntervalSec", (json_int_t)s->resync_s,
        "applicationRetrieveDiagnosticsRetryIntervalSec", (json_int_t)s->resync_s,
        "applicationRetrieveDiagnosticsMaxRetryCount", (json_int_t)s->diagnostics_retries,
        "applicationTransientConflictMinDelaySec", (json_int_t)s->conflict_min_s,
        "applicationTransientConflictMaxDelaySec", (json_int_t)s->conflict_max_s,
        "frameworkCompletedRetainSec", (json_int_t)s->retain_s, "maxTotalTaskNumber",
        (json_int_t)s->max_tasks, "amPriority", (json_int_t)s->am_priority, "amAttemptMaxCount",
        (json_int_t)s->am_attempts, "amAttemptFailuresValidityIntervalSec",
        (json_int_t)s->am_validity_s, "amVersion", 0, "amDiagnosticsMaxBytes", 49152,
        "amAllowNoneGpuJobOnGpuNode", true, "webServerAddress", s->address, "webServerAclEnable",
        s->acl, "webServerAclIgnoreWithoutNamespace", s->acl_without_namespace,
        /* the masters' own, which no key changes */
        "amRmHeartbeatIntervalSec", 1, "amGangAllocationTimeoutSec", 500,
        "amContainerRequestMinTimeoutSec", 10, "amContainerRequestMaxTimeoutSec", 200,
        "amSetupContainerRequestMinRetryIntervalSec", 30,
        "amSetupContainerRequestMaxRetryIntervalSec", 150);
}
