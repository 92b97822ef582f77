/* System credentials: HDFS tokens that the ResourceManager gets for the users of applications, as
 * their proxy at the NameNode, for those that bring none and in the place of those that near the
 * end of their life. Nodes get them with heartbeats and use them to localize and to upload logs.
 * yarn.resourcemanager.proxy-user-privileges.enabled, as Hadoop's DelegationTokenRenewer.
 *
 * Hostile: what the NameNode answers. Secrets: the tokens; they are never logged. */
#ifndef SELVEDGE_RM_LITE_SECURITY_SYSTEM_CREDENTIALS_H
#define SELVEDGE_RM_LITE_SECURITY_SYSTEM_CREDENTIALS_H

#include "hdfs/namenode-proxy.h"
#include "rm-lite/core/context.h"
#include "wire/token/token.h"

#define RM_CREDENTIALS_BYTES_MAX (8u << 20)  /* of all applications */
#define RM_CREDENTIALS_PER_S_MAX (32u << 20) /* in heartbeats to all nodes */
#define RM_CREDENTIALS_OPEN_MAX 8            /* requests at the NameNode */
#define RM_CREDENTIALS_RETRY_MIN_MS 1000
#define RM_CREDENTIALS_RETRY_MAX_MS 60000

struct rm_namenodes;
struct rm_system_credentials;

struct rm_system_credentials_config {
    struct rm *rm;
    struct rm_namenodes *namenodes;
    struct hdfs_login login; /* for_user is set for each request */
    /* A token has come and is stored: it is to be renewed from now on. */
    void (*received)(void *userdata, struct yarn_app_id app, const struct yarn_token *token,
                     int64_t max_ms);
    /* The first request for an application that waits for it has ended, whatever its outcome. */
    void (*first)(void *userdata, struct yarn_app_id app);
    void *userdata;
};

/* Out of memory: NULL. */
struct rm_system_credentials *
rm_system_credentials_new(const struct rm_system_credentials_config *cfg);
/* Ends open requests without a word. Accepts NULL, returns NULL. */
struct rm_system_credentials *rm_system_credentials_free(struct rm_system_credentials *s);

/* Requests a token for the application's user; nothing if one is requested already. Repeated while
 * the NameNode does not answer, until rm_system_credentials_drop(). False: there is no memory, or
 * too much is kept. */
bool rm_system_credentials_request(struct rm_system_credentials *s, struct yarn_app_id app,
                                   bool awaited);
/* The application needs none any more. */
void rm_system_credentials_drop(struct rm_system_credentials *s, struct yarn_app_id app);
/* Begins the requests that are due. Call it each second. */
void rm_system_credentials_tick(struct rm_system_credentials *s);

/* Changes with each token; nodes tell the last one that they have. */
int64_t rm_system_credentials_sequence(const struct rm_system_credentials *s);
struct rm_credentials_row {
    struct yarn_app_id app;
    const uint8_t *bytes; /* "HDTS…" */
    size_t len;
};
/* For one more heartbeat: the rows of all applications, valid until the loop goes on. False: not in
 * this one, the nodes have been sent as much as they may within this second. */
bool rm_system_credentials_take(struct rm_system_credentials *s,
                                const struct rm_credentials_row **ret, size_t *ret_n);

struct rm_credentials_counts {
    size_t applications, bytes, open, waiting;
    uint64_t received, failed;
};
void rm_system_credentials_counts(const struct rm_system_credentials *s,
                                  struct rm_credentials_counts *ret);

#endif
