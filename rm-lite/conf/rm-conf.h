/* The ResourceManager's configuration: one table row a key, read once at start. */
#ifndef SELVEDGE_RM_LITE_CONF_RM_CONF_H
#define SELVEDGE_RM_LITE_CONF_RM_CONF_H

#include <stdio.h>

#include "common/conf.h"
#include "common/error.h"
#include "common/web/web-auth.h"
#include "rm-lite/conf/conf-kerberos.h"
#include "rm-lite/conf/conf-web.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/ipc/proxy.h"
#include "wire/token/token.h"

#define RM_DELEGATION_KEYS_MAX                                                                     \
    1000 /* delegation.token.max-lifetime / delegation.key.update-interval */

struct rm_address {
    const char *host;
    uint16_t port;
};

enum rm_placement_handler { /* of SchedulingRequests and placement constraints */
                            RM_PLACEMENT_DISABLED,
                            RM_PLACEMENT_SCHEDULER,
                            RM_PLACEMENT_PROCESSOR
};

struct rm_conf {
    struct rm_conf_kerberos kerberos; /* owned: rm_conf_free, as the next */
    struct rm_conf_web web_server;    /* its address is `web` */
    bool authorization;               /* by hadoop-policy.xml */
    struct rm_address client, scheduler, tracker, admin, web;
    const char *bind_host; /* overrides the hosts for listening, or NULL */
    const char *cluster_id;
    int64_t first_epoch, epoch_range; /* range 0: no limit */
    bool federation;
    int64_t fed_initial_ms, fed_interval_ms; /* heartbeats to the federation's state store */
    int64_t fed_retries, fed_sleep_ms;       /* attempts to register, and before the second */
    int64_t cleanup_retries, cleanup_sleep_ms;
    int64_t am_expiry_ms, nm_expiry_ms, allocation_expiry_ms;
    int64_t heartbeat_ms;
    int64_t am_max_attempts, am_global_max_attempts;
    int64_t max_completed_apps;
    int64_t history_apps, history_age_ms; /* store-history.h */
    int64_t container_key_roll_ms, nm_key_roll_ms, amrm_key_roll_ms;
    int64_t delegation_key_ms, delegation_max_ms, delegation_renew_ms, delegation_scan_ms;
    int64_t token_removal_ms, token_renew_tries; /* token-renewer.h */
    int64_t token_conf_bytes, credentials_left_ms;
    bool tokens_always_cancel;
    bool proxy_user_privileges;
    int64_t delegation_per_user;
    struct ipc_server_settings ipc; /* for all servers of the daemon */
    const char *hmac_name;
    enum yarn_hmac hmac;
    int64_t key_bits;
    bool recovery, work_preserving;
    int64_t recovery_wait_ms;
    const char *state_dir;
    const char *nodes_include, *nodes_exclude;
    const char *topology_class, *topology_script, *topology_table;
    int64_t topology_script_args;
    int64_t decommission_timeout_ms;
    int64_t untracked_ms; /* yarn.resourcemanager.node-removal-untracked.timeout-ms */
    bool schedule_on_ask;
    bool opportunistic; /* containers may become so */
    const char *placement_name;
    enum rm_placement_handler placement;
    int64_t placement_attempts;
    const char *record; /* record.h */
    uint64_t record_limit;
    int64_t max_tags, max_tag_length;
    bool user_metrics; /* queue-counters.h */
    int64_t max_priority;
    int64_t launch_retries;       /* yarn.resourcemanager.nodemanager-connect-retries */
    struct ipc_proxy_config node; /* for calls to NodeManagers; without their address and token */
    const char *minimum_nm_version;
    const char *unprotected_nodes;
    bool check_node_address;
    struct sv_web_auth auth; /* owned: rm_conf_free */
    bool acl_enable;         /* copy of a field of `auth` */
    bool web_put;            /* PUT and POST over HTTP */
    bool rest_submissions;
    bool services;               /* the services API is relayed */
    const char *services_socket; /* of selvedge-services */
    bool log_aggregation;
    int64_t log_status_timeout_ms; /* after an application's end */
    bool proxy_timeout;
    int64_t proxy_timeout_ms; /* silence of an ApplicationMaster's page */
    const char *static_user;  /* user name of anonymous browsers */
};

/* Reads every row; the strings belong to `conf`. */
int rm_conf_read(struct sv_conf *conf, struct rm_conf *ret, struct sv_error *err) _must_use_;
/* Loads the directory's capacity-scheduler.xml and resource-types.xml if they exist; NULL: none. */
int rm_conf_load_scheduler(struct sv_conf *c, const char *dir, struct sv_error *err) _must_use_;
void rm_conf_free(struct rm_conf *c);
/* Reads yarn.cluster.max-application-priority alone, from a reloaded configuration. */
int rm_conf_max_priority(struct sv_conf *conf, int64_t *ret, struct sv_error *err) _must_use_;
/* The rows behind the fields above; NULL at the end. */
const struct sv_conf_key *rm_conf_row(size_t i);
void rm_conf_print(struct sv_conf *conf, FILE *out); /* name, value, help: a line each */

#endif
