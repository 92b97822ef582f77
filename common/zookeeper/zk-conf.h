/* The keys of Hadoop's ZooKeeper clients (hadoop.zk.*). */
#ifndef SELVEDGE_COMMON_ZOOKEEPER_ZK_CONF_H
#define SELVEDGE_COMMON_ZOOKEEPER_ZK_CONF_H

#include "common/conf.h"
#include "common/zookeeper/zk.h"

struct sv_zk_settings {
    const char *servers;                 /* hadoop.zk.address, the configuration's; NULL: not set */
    uint32_t session_ms;                 /* hadoop.zk.timeout-ms */
    int64_t retries;                     /* hadoop.zk.num-retries */
    int64_t retry_ms;                    /* hadoop.zk.retry-interval-ms */
    struct sv_zk_acl acl[SV_ZK_ACL_MAX]; /* hadoop.zk.acl */
    size_t n_acl;
    char *acl_text; /* that the list points into */
};

/* The table of keys, for printing. */
const struct sv_conf_key *sv_zk_conf_keys(size_t *ret_n);
/* -EINVAL, -EOPNOTSUPP (hadoop.zk.auth): err names key, value and rule. Freed in any case. */
int sv_zk_settings_read(struct sv_conf *conf, struct sv_zk_settings *ret, struct sv_error *err)
    _must_use_;
void sv_zk_settings_free(struct sv_zk_settings *s);
#define _cleanup_zk_settings_ _cleanup_(sv_zk_settings_free)

/* Splits "SCHEME:ID:PERMISSIONS,…" as Hadoop does: permissions of r, w, c, d, a. The entries point
 * into the text, which is changed. -EINVAL: err names the entry. */
int sv_zk_acl_parse(char *text, struct sv_zk_acl ret[SV_ZK_ACL_MAX], size_t *ret_n,
                    struct sv_error *err) _must_use_;

#endif
