/* See service-keys.h. Names and defaults are those of Hadoop 3.4.2's YarnServiceConf. */
#include "service/definition/service-keys.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/edit-distance.h"
#include "common/str.h"
#include "service/definition/refuse.h"

#define P "yarn.service."
#define LARGE INT32_MAX
#define INT(name, def, min, max, component, text)                                                  \
    {                                                                                              \
        P name, SVC_KEY_INT, def, min, max, component, text                                        \
    }
#define BOOL(name, def, component, text)                                                           \
    {                                                                                              \
        P name, SVC_KEY_BOOL, def, 0, 0, component, text                                           \
    }
#define TEXT(name, def, component, text)                                                           \
    {                                                                                              \
        P name, SVC_KEY_TEXT, def, 0, 0, component, text                                           \
    }

static const char *const masters[] = { "selvedge", "hadoop", NULL };
static_assert(sizeof masters / sizeof *masters == SVC_MASTER_HADOOP + 2, "one name a master");
static const char *const profiles[] = { SVC_OF_NODE, "strict", "hadoop", "host", NULL };
static const char *const networks[] = { SVC_OF_NODE, "none", "host", "private", NULL };

static const struct svc_key_row rows[] = {
    [SVC_KEY_RETRY_MAX] =
        INT("container-failure.retry.max", "10", -1, LARGE, true,
            "How often the node starts a failed container again in its place; -1: without end."),
    [SVC_KEY_RETRY_INTERVAL_MS] =
        INT("container-failure.retry-interval-ms", "30000", 0, LARGE, true, "Pause before that."),
    [SVC_KEY_RETRY_VALIDITY_MS] =
        INT("container-failure.validity-interval-ms", "600000", -1, INT64_MAX, true,
            "Failures older than this do not count for `retry.max`; -1: all count."),
    [SVC_KEY_FAILURE_THRESHOLD] =
        INT("container-failure-per-component.threshold", "10", 0, LARGE, true,
            "With more failed containers of one component the service fails."),
    [SVC_KEY_NODE_THRESHOLD] = INT("node-blacklist.threshold", "3", 0, LARGE, true,
                                   "With more failures on one node that node is avoided."),
    [SVC_KEY_FAILURE_WINDOW_S] = INT("failure-count-reset.window", "21600", 1, LARGE, true,
                                     "Seconds after which both counts begin again."),
    [SVC_KEY_READINESS_INTERVAL_S] = INT("readiness-check-interval.seconds", "30", 1, 86400, false,
                                         "Seconds between two readiness checks of an instance."),
    [SVC_KEY_DEFAULT_READINESS] =
        BOOL("default-readiness-check.enabled", "true", true,
             "Components without a readiness check have one of type DEFAULT."),
    [SVC_KEY_RECOVERY_TIMEOUT_MS] =
        INT("container-recovery.timeout.ms", "120000", 0, LARGE, false,
            "How long a restarted master waits for the containers of its predecessor."),
    [SVC_KEY_HEALTH_PERCENT] = INT(
        "container-health-threshold.percent", "-1", -1, 100, true,
        "The service fails while fewer than this percentage of a component's instances are ready; "
        "-1: off. Replaces `container-failure-per-component.threshold`."),
    [SVC_KEY_HEALTH_POLL_S] = INT("container-health-threshold.poll-frequency-secs", "10", 1, 86400,
                                  true, "Seconds between two looks at that percentage."),
    [SVC_KEY_HEALTH_WINDOW_S] = INT("container-health-threshold.window-secs", "600", 1, LARGE, true,
                                    "Seconds that a component may be below it."),
    [SVC_KEY_HEALTH_DELAY_S] = INT("container-health-threshold.init-delay-secs", "600", 0, LARGE,
                                   true, "Seconds after the start before the first look."),
    [SVC_KEY_STATE_FOLLOWS_CONTAINER] =
        BOOL("container-state-report-as-service-state", "false", false,
             "The service's state is reported as that of its containers."),
    [SVC_KEY_AM_ATTEMPTS] =
        INT("am-restart.max-attempts", "20", 1, LARGE, false,
            "Attempts of the master; the ResourceManager's own maximum limits them."),
    [SVC_KEY_AM_VALIDITY_MS] = INT("am-failure.validity-interval-ms", "-1", -1, INT64_MAX, false,
                                   "Failed attempts older than this do not count; -1: all count."),
    [SVC_KEY_AM_MEMORY_MB] =
        INT("am-resource.memory", "1024", 1, LARGE, false, "MiB of the master's container."),
    [SVC_KEY_AM_PORT_RANGE] = TEXT("am.client.port-range", "", false,
                                   "Ports that the master may listen on: `40000-40010`."),
    [SVC_KEY_QUEUE] = TEXT("queue", "default", false, "Queue of a service that names none."),
    [SVC_KEY_LOG_INCLUDE] = TEXT("log.include-pattern", "", false,
                                 "Names of logs that are aggregated when a container ends."),
    [SVC_KEY_LOG_EXCLUDE] = TEXT("log.exclude-pattern", "", false, "Those that are not."),
    [SVC_KEY_ROLLING_INCLUDE] = TEXT("rolling-log.include-pattern", "", false,
                                     "Names of logs that are aggregated while the service runs."),
    [SVC_KEY_ROLLING_EXCLUDE] =
        TEXT("rolling-log.exclude-pattern", "", false, "Those that are not."),
    [SVC_KEY_UPGRADE_ENABLED] =
        BOOL("upgrade.enabled", "false", false, "Services may be upgraded."),
    [SVC_KEY_MASTER] = { "selvedge.service.master", SVC_KEY_CHOICE, "selvedge", 0, 0, false,
                         "The master that is started: `selvedge-service-am`, or Hadoop's "
                         "ServiceMaster. Apache's API starts its own, whatever this says.",
                         masters },
    [SVC_KEY_ALL_HOSTS] = { "selvedge.service.hosts.all", SVC_KEY_BOOL, "false", 0, 0, true,
                            "`conf/selvedge-hosts` of its containers has all instances of the "
                            "service, not only those of components that it depends on." },
    [SVC_KEY_PROFILE] = { "selvedge.service.container.profile", SVC_KEY_CHOICE, SVC_OF_NODE, 0, 0,
                          true,
                          "What its containers see of the node, at most what the node shows; a "
                          "node "
                          "that shows less does not start them.",
                          profiles },
    [SVC_KEY_NETWORK] = { "selvedge.service.container.network", SVC_KEY_CHOICE, SVC_OF_NODE, 0, 0,
                          true,
                          "`none`: its containers have no network, and no readiness check reaches "
                          "them; else a node with another network does not start them.",
                          networks },
    [SVC_KEY_PIDS_MAX] = { "selvedge.service.container.pids.max", SVC_KEY_INT, "0", 0, 4194304,
                           true,
                           "Processes and threads of a container, at most the node's limit; 0: "
                           "that "
                           "limit." },
};
static_assert(sizeof rows / sizeof *rows == SVC_KEYS_N, "one row a key");

#define JVM_OPTS P "am.java.opts"
/* Further names of Hadoop: of its own master's JVM, of clients and of servers. */
static const char *const others[] = {
    JVM_OPTS,
    P "am.principal",
    P "api-server.address",
    P "base.path",
    P "classpath",
    P "client-am.retry.max-wait-ms",
    P "client-am.retry-interval-ms",
    P "framework.path",
    P "system-service.dir",
};

const struct svc_key_row *svc_key_row(enum svc_key k)
{
    return &rows[k];
}

/* ---- Values ---- */

#define NAMES_MAX 128 /* bytes of all names of a choice */

/* "a, b or c" */
static const char *names_of(const struct svc_key_row *row, char buf[NAMES_MAX])
{
    size_t n = 0;

    for (size_t i = 0; row->names[i] && n < NAMES_MAX; i++)
        n += (size_t)snprintf(buf + n, NAMES_MAX - n, "%s%s",
                              i == 0              ? ""
                              : row->names[i + 1] ? ", "
                                                  : " or ",
                              row->names[i]);
    return buf;
}

static int bad(const struct svc_key_row *row, const char *v, const char *path, struct sv_error *err)
{
    struct svc_path at;
    char names[NAMES_MAX];

    at = svc_path("%s[\"%s\"]", path, row->name);
    if (row->type == SVC_KEY_BOOL)
        return svc_refuse(err, at.text, v, "true or false");
    if (row->type == SVC_KEY_CHOICE)
        return svc_refuse(err, at.text, v, "%s", names_of(row, names));
    return svc_refuse(err, at.text, v, "a whole number from %" PRId64 " to %" PRId64, row->min,
                      row->max);
}

static int choice(const struct svc_key_row *row, const char *v, unsigned *ret)
{
    for (unsigned i = 0; row->names[i]; i++)
        if (!strcmp(v, row->names[i])) {
            *ret = i;
            return 0;
        }
    return -EINVAL;
}

static int check_value(const struct svc_key_row *row, const char *v, const char *path,
                       struct sv_error *err)
{
    int64_t n;
    unsigned i;
    bool b;
    int r = 0;

    if (!*v) /* as if it were not there, as in Hadoop */
        return 0;
    if (row->type == SVC_KEY_INT)
        r = sv_parse_i64(v, row->min, row->max, &n);
    else if (row->type == SVC_KEY_BOOL)
        r = sv_parse_bool(v, &b);
    else if (row->type == SVC_KEY_CHOICE)
        r = choice(row, v, &i);
    return r < 0 ? bad(row, v, path, err) : 0;
}

int svc_keys_check(const struct svc_map *properties, const char *path, struct sv_error *err)
{
    const char *jvm = svc_map_get(properties, JVM_OPTS);
    struct svc_path at;

    for (size_t i = 0; i < SVC_KEYS_N; i++) {
        const char *v = svc_map_get(properties, rows[i].name);
        int r = v ? check_value(&rows[i], v, path, err) : 0;

        if (r < 0)
            return r;
    }
    if (!jvm || !strpbrk(jvm, "!~#?@*&%${}()<>[]|\",`;"))
        return 0;
    at = svc_path("%s[\"" JVM_OPTS "\"]", path);
    return svc_refuse(err, at.text, jvm, "none of ! ~ # ? @ * & %% $ { } ( ) < > [ ] | \" , ` ;");
}

/* Returns the nearest of all names, "" if the name is one of them. */
static const char *nearest(const char *name)
{
    size_t best = SIZE_MAX;
    const char *ret = NULL;

    for (size_t i = 0; i < SVC_KEYS_N + sizeof others / sizeof *others; i++) {
        const char *known = i < SVC_KEYS_N ? rows[i].name : others[i - SVC_KEYS_N];
        size_t d = sv_edit_distance(name, known);

        if (!strcmp(name, known))
            return "";
        if (d < best) {
            best = d;
            ret = known;
        }
    }
    return ret;
}

int svc_keys_known(const struct svc_map *properties, const char *path, struct sv_error *err)
{
    for (size_t i = 0; i < properties->n; i++) {
        const char *name = properties->pairs[i].name, *near;

        if (sv_has_prefix(name, "selvedge.") && *nearest(name))
            return svc_refuse(err, path, name, "no property of this name is known");
        near = sv_has_prefix(name, P) ? nearest(name) : "";
        if (*near)
            return svc_refuse(err, path, name, "no such property; did you mean %s?", near);
    }
    return 0;
}

/* ---- Reading ---- */

struct found {
    const char *value;
    struct svc_path where; /* for messages */
};

static bool look(const struct svc_map *m, const struct svc_key_row *row, struct found *ret)
{
    ret->value = svc_map_get(m, row->name);
    return ret->value && *ret->value;
}

static struct found find(enum svc_key k, const struct svc_definition *d,
                         const struct svc_component *c, struct sv_conf *site)
{
    const struct svc_key_row *row = &rows[k];
    struct found f = { 0 };

    if (c && row->per_component && look(&c->configuration.properties, row, &f)) {
        f.where = svc_path("component %s: configuration.properties", c->name);
    } else if (look(&d->configuration.properties, row, &f)) {
        f.where = svc_path("configuration.properties");
    } else {
        f.value = site ? sv_conf_raw(site, row->name) : NULL;
        if (!f.value || !*f.value)
            f.value = row->def;
        f.where = svc_path("yarn-site.xml");
    }
    return f;
}

int svc_key_int(enum svc_key k, const struct svc_definition *d, const struct svc_component *c,
                struct sv_conf *site, int64_t *ret, struct sv_error *err)
{
    struct found f = find(k, d, c, site);

    if (sv_parse_i64(f.value, rows[k].min, rows[k].max, ret) < 0)
        return bad(&rows[k], f.value, f.where.text, err);
    return 0;
}

int svc_key_bool(enum svc_key k, const struct svc_definition *d, const struct svc_component *c,
                 struct sv_conf *site, bool *ret, struct sv_error *err)
{
    struct found f = find(k, d, c, site);

    return sv_parse_bool(f.value, ret) < 0 ? bad(&rows[k], f.value, f.where.text, err) : 0;
}

int svc_key_choice(enum svc_key k, const struct svc_definition *d, const struct svc_component *c,
                   struct sv_conf *site, unsigned *ret, struct sv_error *err)
{
    struct found f = find(k, d, c, site);

    return choice(&rows[k], f.value, ret) < 0 ? bad(&rows[k], f.value, f.where.text, err) : 0;
}

const char *svc_key_text(enum svc_key k, const struct svc_definition *d,
                         const struct svc_component *c, struct sv_conf *site)
{
    return find(k, d, c, site).value;
}
