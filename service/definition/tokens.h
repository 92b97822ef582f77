/* Tokens "${NAME}" in texts of a definition: a set of names and values, which are put in in one
 * pass. A value is never scanned again, so that nothing recurses; a token without a value stays as
 * it is. Hostile: texts and values. */
#ifndef SELVEDGE_SERVICE_DEFINITION_TOKENS_H
#define SELVEDGE_SERVICE_DEFINITION_TOKENS_H

#include "common/buf.h"

#define SVC_TOKEN_NAME_MAX 128    /* bytes; a longer "${…}" is no token */
#define SVC_TOKENS_MAX (1u << 20) /* of one set */

/* Names of Apache's tokens that are known without a look at other instances. */
#define SVC_TOKEN_SERVICE_NAME "SERVICE_NAME"
#define SVC_TOKEN_SERVICE_NAME_LC "SERVICE_NAME.lc"
#define SVC_TOKEN_USER "USER"
#define SVC_TOKEN_DOMAIN "DOMAIN"
#define SVC_TOKEN_SERVICE_ZK_PATH "SERVICE_ZK_PATH"
#define SVC_TOKEN_SERVICE_HDFS_DIR "SERVICE_HDFS_DIR"
#define SVC_TOKEN_CLUSTER_ZK_QUORUM "CLUSTER_ZK_QUORUM"
#define SVC_TOKEN_CLUSTER_FS_URI "CLUSTER_FS_URI"
#define SVC_TOKEN_CLUSTER_FS_HOST "CLUSTER_FS_HOST"
#define SVC_TOKEN_COMPONENT_NAME "COMPONENT_NAME"
#define SVC_TOKEN_COMPONENT_NAME_LC "COMPONENT_NAME.lc"
#define SVC_TOKEN_COMPONENT_ID "COMPONENT_ID"
#define SVC_TOKEN_COMPONENT_INSTANCE_NAME "COMPONENT_INSTANCE_NAME"
#define SVC_TOKEN_CONTAINER_ID "CONTAINER_ID"
/* In the url of a readiness check of type HTTP alone. */
#define SVC_TOKEN_THIS_HOST "THIS_HOST"

struct svc_tokens;
/* `base`, or NULL: looked into for names that the new set lacks (the service's, for an instance's);
 * it must outlive it. NULL: out of memory. */
struct svc_tokens *svc_tokens_new(const struct svc_tokens *base);
struct svc_tokens *svc_tokens_free(struct svc_tokens *t);
static inline void svc_tokens_freep(struct svc_tokens **t)
{
    *t = svc_tokens_free(*t);
}
#define _cleanup_tokens_ _cleanup_(svc_tokens_freep)

/* Sets the value of a name, without "${" and "}"; both are copied. -EINVAL: not a token's name (the
 * bytes of Apache's names, an environment variable's or a property's, no braces); -E2BIG. */
int svc_tokens_set(struct svc_tokens *t, const char *name, const char *value) _must_use_;
/* Sets "NAME_HOST" and "NAME_IP" of an instance or a component, its name in upper case as Apache's
 * ("${ZOOKEEPER-0_HOST}"). NULL: not set. */
int svc_tokens_set_peer(struct svc_tokens *t, const char *name, const char *host, const char *ip)
    _must_use_;
/* The value, or NULL. */
const char *svc_tokens_get(const struct svc_tokens *t, const char *name);

/* Appends the text with its tokens replaced. -EMSGSIZE: more than the buffer's maximum. */
int svc_tokens_replace(const struct svc_tokens *t, const char *text, size_t n, struct sv_buf *out)
    _must_use_;
/* As a malloc'd text of at most `max` bytes. */
int svc_tokens_text(const struct svc_tokens *t, const char *text, size_t max, char **ret)
    _must_use_;

#endif
