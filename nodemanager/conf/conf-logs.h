/* Settings of log aggregation (yarn.log-aggregation*, yarn.nodemanager.log-aggregation*,
 * yarn.nodemanager.remote-app-log-dir*). */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_LOGS_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_LOGS_H

#include "common/conf.h"

/* Texts are the configuration's. */
struct nm_conf_logs {
    bool aggregate;
    const char *remote;      /* as configured: a path, or with a scheme */
    char suffix[256];        /* "bucket-logs-tfile"; "logs" with the older layout */
    bool older_layout;       /* layout of Hadoop before 3.3: no bucket */
    const char *group;       /* "" */
    const char *compression; /* "none", "gz" */
    const char *policy;      /* class name */
    const char *policy_parameters;
    int64_t uploads_max;      /* concurrent uploads */
    int64_t bytes_per_second; /* for all uploads together; 0: no limit */
    bool delete_uploaded;     /* deletes local logs after the upload */
    int64_t roll_ms;          /* between uploads while an application runs; 0: none */
    const char *server;       /* URL of pages with aggregated logs; "": none */
    const char *service;      /* URL of REST with aggregated logs; "": none */
    int64_t rm_expiry_ms;     /* the ResourceManager's interval for tokens of ended applications */
    int64_t files_max;        /* files of one node in a rolling application's remote directory */
};

int nm_conf_logs_read(struct sv_conf *c, struct nm_conf_logs *ret, struct sv_error *err) _must_use_;
const struct sv_conf_key *nm_conf_logs_keys(size_t *ret_n);

#endif
