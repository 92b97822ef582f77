/* Launch of a container or of an ApplicationMaster, as the programs of this tree describe it; see
 * client.h. Texts and buffers are copied by the call that takes the launch. */
#ifndef SELVEDGE_CLIENT_LIB_LAUNCH_H
#define SELVEDGE_CLIENT_LIB_LAUNCH_H

#include "common/base.h"

enum cli_resource_type { CLI_ARCHIVE = 1, CLI_FILE = 2 }; /* YARN's numbers */
enum cli_visibility { CLI_PUBLIC = 1, CLI_PRIVATE = 2, CLI_APPLICATION = 3 };

/* A file that the node fetches before the launch. Size and time must match at that time. */
struct cli_resource {
    const char *name; /* of the link in the container's work directory */
    const char *url;  /* "file:///…", "hdfs://host:port/…", "http://…" */
    int64_t size;
    int64_t timestamp; /* modification time, ms since 1970 */
    enum cli_resource_type type;
    enum cli_visibility visibility;
};

struct cli_env {
    const char *name, *value; /* the node expands {{VAR}}, <LOG_DIR> and <CPS> in values */
};

enum cli_retry_policy { /* YARN's numbers */
                        CLI_RETRY_NEVER,
                        CLI_RETRY_ALL,
                        CLI_RETRY_CODES, /* exit codes of the list alone */
};
struct cli_retry { /* the node starts a container that failed again, in place */
    enum cli_retry_policy policy;
    const int32_t *codes;
    size_t n_codes;
    int32_t max;         /* retries; -1: without limit */
    int32_t interval_ms; /* before each */
    int64_t validity_ms; /* older failures do not count; 0: all count */
};

struct cli_service_data { /* for an auxiliary service of the node, by its name */
    const char *service;
    const uint8_t *data;
    size_t len;
};

struct cli_launch {
    const struct cli_resource *resources;
    size_t n_resources;
    const struct cli_env *env;
    size_t n_env;
    /* One line for bash. The node puts it between double quotes and expands the same variables:
     * `exec /bin/bash -c "<command>"`. */
    const char *command;
    const uint8_t *tokens; /* credentials file, or NULL */
    size_t tokens_len;
    /* Further users who may view or kill the application, as "user,user group,group"; NULL:
     * nobody. */
    const char *view_acl, *modify_acl;
    const struct cli_retry *retry; /* NULL: never */
    const struct cli_service_data *service_data;
    size_t n_service_data;
};

#endif
