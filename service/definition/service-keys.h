/* Properties of a definition that steer its master rather than its programs ("yarn.service.…"), and
 * the one that chooses it: one table of name, type, default and range. The value is the
 * component's, else the service's, else yarn-site.xml's, else the default. Hostile: values of a
 * definition. */
#ifndef SELVEDGE_SERVICE_DEFINITION_SERVICE_KEYS_H
#define SELVEDGE_SERVICE_DEFINITION_SERVICE_KEYS_H

#include "common/conf.h"
#include "service/definition/definition.h"

enum svc_key {
    SVC_KEY_RETRY_MAX,               /* container-failure.retry.max */
    SVC_KEY_RETRY_INTERVAL_MS,       /* container-failure.retry-interval-ms */
    SVC_KEY_RETRY_VALIDITY_MS,       /* container-failure.validity-interval-ms */
    SVC_KEY_FAILURE_THRESHOLD,       /* container-failure-per-component.threshold */
    SVC_KEY_NODE_THRESHOLD,          /* node-blacklist.threshold */
    SVC_KEY_FAILURE_WINDOW_S,        /* failure-count-reset.window */
    SVC_KEY_READINESS_INTERVAL_S,    /* readiness-check-interval.seconds */
    SVC_KEY_DEFAULT_READINESS,       /* default-readiness-check.enabled: bool */
    SVC_KEY_RECOVERY_TIMEOUT_MS,     /* container-recovery.timeout.ms */
    SVC_KEY_HEALTH_PERCENT,          /* container-health-threshold.percent */
    SVC_KEY_HEALTH_POLL_S,           /* container-health-threshold.poll-frequency-secs */
    SVC_KEY_HEALTH_WINDOW_S,         /* container-health-threshold.window-secs */
    SVC_KEY_HEALTH_DELAY_S,          /* container-health-threshold.init-delay-secs */
    SVC_KEY_STATE_FOLLOWS_CONTAINER, /* container-state-report-as-service-state: bool */
    SVC_KEY_AM_ATTEMPTS,             /* am-restart.max-attempts */
    SVC_KEY_AM_VALIDITY_MS,          /* am-failure.validity-interval-ms */
    SVC_KEY_AM_MEMORY_MB,            /* am-resource.memory */
    SVC_KEY_AM_PORT_RANGE,           /* am.client.port-range: text */
    SVC_KEY_QUEUE,                   /* queue: text */
    SVC_KEY_LOG_INCLUDE,             /* log.include-pattern: text */
    SVC_KEY_LOG_EXCLUDE,             /* log.exclude-pattern: text */
    SVC_KEY_ROLLING_INCLUDE,         /* rolling-log.include-pattern: text */
    SVC_KEY_ROLLING_EXCLUDE,         /* rolling-log.exclude-pattern: text */
    SVC_KEY_UPGRADE_ENABLED,         /* upgrade.enabled: bool */
    SVC_KEY_MASTER,                  /* selvedge.service.master: enum svc_master_kind */
    SVC_KEY_ALL_HOSTS,               /* selvedge.service.hosts.all: bool */
    SVC_KEY_PROFILE,                 /* selvedge.service.container.profile: 0 = the node's */
    SVC_KEY_NETWORK,                 /* selvedge.service.container.network: 0 = the node's */
    SVC_KEY_PIDS_MAX,                /* selvedge.service.container.pids.max: 0 = the node's */
    SVC_KEYS_N,
};

enum svc_key_type { SVC_KEY_INT, SVC_KEY_BOOL, SVC_KEY_TEXT, SVC_KEY_CHOICE };
#define SVC_OF_NODE "node" /* first name of a CHOICE: the node's own */
enum svc_master_kind { SVC_MASTER_SELVEDGE, SVC_MASTER_HADOOP };
struct svc_key_row {
    const char *name;
    enum svc_key_type type;
    const char *def;          /* "" = none */
    int64_t min, max;         /* of an INT */
    bool per_component;       /* else a component's value is not looked at */
    const char *text;         /* for the documentation: what it does, one sentence */
    const char *const *names; /* of a CHOICE, NULL-terminated */
};
const struct svc_key_row *svc_key_row(enum svc_key k);

/* `c` may be NULL: the service's. `site` may be NULL: none. -EINVAL: err says where the value
 * stands and its rule; svc_definition_check() found those of the definition already. */
int svc_key_int(enum svc_key k, const struct svc_definition *d, const struct svc_component *c,
                struct sv_conf *site, int64_t *ret, struct sv_error *err) _must_use_;
int svc_key_bool(enum svc_key k, const struct svc_definition *d, const struct svc_component *c,
                 struct sv_conf *site, bool *ret, struct sv_error *err) _must_use_;
/* Index of the value in the row's names. */
int svc_key_choice(enum svc_key k, const struct svc_definition *d, const struct svc_component *c,
                   struct sv_conf *site, unsigned *ret, struct sv_error *err) _must_use_;
/* Never NULL; owned by the definition, the configuration or the table. */
const char *svc_key_text(enum svc_key k, const struct svc_definition *d,
                         const struct svc_component *c, struct sv_conf *site);

/* Checks the values of these properties; `path` is that of the map, for messages. */
int svc_keys_check(const struct svc_map *properties, const char *path, struct sv_error *err)
    _must_use_;
/* Refuses names that begin with "yarn.service." or "selvedge." and mean nothing, so that a mistyped
 * one does not go unnoticed. */
int svc_keys_known(const struct svc_map *properties, const char *path, struct sv_error *err)
    _must_use_;

#endif
