/* The configuration of the NodeManager: each key is one row of a table in conf.c or one of its
 * parts (conf-parts.h), with Hadoop's name and default. Read at start; a reload changes only the
 * fields that reload.c lists. An invalid value prevents the start with a message. The files are the
 * operator's: trusted, but possibly wrong. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_H

#include <stdio.h>

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"
#include "common/web/http-filters.h"
#include "common/web/web-auth.h"
#include "common/web/web-login.h"
#include "executor/request.h"
#include "nodemanager/conf/conf-amrmproxy.h"
#include "nodemanager/conf/conf-health.h"
#include "nodemanager/conf/conf-kerberos.h"
#include "nodemanager/conf/conf-labels.h"
#include "nodemanager/conf/conf-localizer.h"
#include "nodemanager/conf/conf-logs.h"
#include "nodemanager/conf/hardware.h"
#include "wire/ids.h"
#include "wire/ipc/proxy.h"
#include "wire/token/token.h"

#define NM_LAUNCH_FAILURES_MAX 64 /* applications; see health/launch-failures.h */

struct nm_conf {
    struct sv_conf *conf; /* owns every const char * below */
    int log_level;        /* enum sv_log_level; -1: that of the environment */

    /* addresses */
    const char *hostname;     /* host in the node's id; never a wildcard address */
    const char *bind_host;    /* to listen on */
    uint16_t port;            /* 0 = any */
    char *own_address;        /* storage of node_address */
    const char *node_address; /* numeric address of hostname; hostname itself if it has none */
    const char *web_host;     /* to listen on */
    bool web_host_bound;      /* yarn.nodemanager.bind-host says so */
    uint16_t web_port;
    struct nm_conf_web {
        bool logs_enabled;
        bool container_metrics; /* /jmx has a bean of each container */
        bool https;             /* alone; the port is that of webapp.https.address */
        struct sv_http_filters filters;
        struct sv_web_auth auth;
        struct sv_web_login login;
        bool tickets;    /* are taken, for kerberos.own.web_principal */
        char *principal; /* owned; storage of that */
    } web;
    struct { /* sessions in containers */
        bool enabled, claimed_names;
        int64_t idle_ms;
    } exec;
    struct yarn_resource resource;
    struct yarn_types types;     /* of its extra[] */
    bool detect_hardware;        /* memory and vcores that are not set follow from it */
    struct nm_hardware hardware; /* memory_mb 0: the kernel does not tell */
    struct nm_conf_labels labels[NM_DESCRIBED];

    /* ResourceManagers: one, or an active one among several */
    struct ipc_proxy_config rm; /* of the resource tracker */
    int64_t track_stopped_ms;
    const char *rm_minimum_version;

    /* directories */
    char **local_dirs, **log_dirs; /* NULL-terminated, owned */
    bool disk_check_enabled;
    int64_t disk_check_ms;
    double min_healthy_disks;
    bool utilization_checked, free_space_checked;      /* the next four count */
    double max_disk_utilization, low_disk_utilization; /* percent: bad above, good again up to */
    int64_t min_free_mb, high_free_mb;                 /* bad below, good again from */
    int64_t min_free_inodes;
    bool content_checked;
    struct nm_conf_health health;             /* scripts */
    int64_t launch_failures, launch_retry_ms; /* health/launch-failures.h */

    /* auxiliary services; the keys of each are read by aux-services/ */
    char **aux_services; /* names, owned */
    int64_t aux_start_timeout_ms, aux_event_timeout_ms;
    const char *aux_programs; /* directory */
    const char *aux_hadoop_classpath;

    /* launch */
    const char *executor_path;
    const char *executor_socket; /* NULL: setuid */
    const char *dbus;            /* "system", "off" or an address */
    const char *cgroup_root;     /* NULL = below the daemon's own group */
    bool unenforced_allowed;
    bool selinux_labels;
    bool limit_users; /* run as local_user; never with Kerberos */
    const char *local_user;
    char **env_whitelist;
    const char *admin_env;
    const char *force_path;
    const char *user_home;
    const char *add_opens; /* NULL = by the version of the container's Java */
    bool debug_info;
    int niceness; /* of jobs: 0 to 19 */
    int64_t stderr_tail_bytes;
    const char *stderr_pattern;
    enum exe_profile profile;
    enum exe_network network;
    bool bandwidth_enabled;                /* outbound, in private networks */
    int64_t bandwidth_mbit;                /* of all containers together */
    int64_t bandwidth_shares;              /* each container is guaranteed 1/N of the bandwidth */
    uint32_t net_rate_kbit, net_ceil_kbit; /* per container; 0: no limit */
    bool gpus;                             /* yarn.nodemanager.resource-plugins has yarn.io/gpu */
    const char *gpus_allowed, *gpu_discovery, *gpu_cdi;
    int64_t gpu_major, gpu_check_ms;

    /* limits */
    int64_t pids_max;
    int64_t cpu_percent; /* of the machine's processors, for all containers */
    bool strict_cpu;
    bool memory_enforced, memory_node_limit, elastic;
    int64_t elastic_timeout_ms;
    int64_t memory_high_percent, swap_percent;
    double memory_soft_percent;
    bool disk_enabled;
    int64_t io_weight, hugetlb_mb, localizers_mb, localizers_pids;
    char **io_max; /* "PATH rbps=… …" each, owned */
    bool numa, numa_read_topology;
    char **numa_nodes; /* owned */

    /* resources/container-scheduler.h */
    int64_t queue_max; /* opportunistic containers; 0: none waits, none runs */
    enum nm_queue_policy { NM_QUEUE_BY_LENGTH, NM_QUEUE_BY_RESOURCES } queue_policy;
    bool queue_pauses; /* in the place of kills */

    /* kill and delete */
    int64_t sigkill_delay_ms, kill_wait_ms;
    int64_t delete_debug_delay_ms; /* -1 = never delete */
    struct nm_conf_logs logs;
    int64_t log_retain_ms;

    /* localization */
    int64_t fetch_threads;
    uint64_t cache_target_bytes;
    int64_t cache_cleanup_ms;
    struct nm_conf_localizer localizer;

    /* monitor */
    int64_t monitor_ms;
    bool pmem_check, vmem_check;
    double vmem_ratio; /* at least 1 */
    bool log_check;    /* the next three count */
    int64_t log_check_ms, log_dir_bytes, log_total_bytes;
    int64_t diagnostics_max;
    int64_t retry_minimum_ms;

    struct nm_conf_kerberos kerberos;
    struct nm_conf_amrmproxy amrmproxy;

    /* who may connect to the NodeManager's port; NULL: whoever has a token */
    struct sv_policy *policy; /* owned; a reload replaces it */
    bool policy_missing;      /* there is no hadoop-policy.xml */

    /* recovery */
    bool recovery;
    bool recovery_supervised;
    bool work_preserving; /* RESYNC leaves containers alone */
    const char *recovery_dir;

    enum yarn_hmac hmac;
};

/* dir NULL = $HADOOP_CONF_DIR; overrides: NULL-terminated "key=value". */
int nm_conf_load(struct nm_conf *c, const char *dir, char *const *overrides, struct sv_error *err)
    _must_use_;
/* As nm_conf_load() for a running daemon: this node's name, address and hardware are copied from
 * `known`, not looked up again. */
int nm_conf_load_again(struct nm_conf *c, const struct nm_conf *known, const char *dir,
                       char *const *overrides, struct sv_error *err) _must_use_;
void nm_conf_free(struct nm_conf *c);
/* Reads hadoop-policy.xml beside the files of `c`; *ret is NULL where service authorization is off.
 * 1 in place of 0: there is no such file. */
int nm_conf_policy_load(struct sv_conf *c, struct sv_policy **ret, struct sv_error *err) _must_use_;
/* Warns of a service policy that admits everybody, or nobody. */
void nm_conf_policy_log(const struct nm_conf *c);

/* Rows of the keys of the fields above; NULL at the end. */
const struct sv_conf_key *nm_conf_row(size_t i);
bool nm_conf_has_row(const char *name);
/* All keys, the node's own first, then those of other components, each once. */
void nm_conf_each_key(void (*fn)(const struct sv_conf_key *k, void *userdata), void *userdata);
/* For --print-config: rows and the keys of other components, each once. */
void nm_conf_print(FILE *out);
/* True for a key that this program reads: a row, or another component's. */
bool nm_conf_is_read(const char *name);

#endif
