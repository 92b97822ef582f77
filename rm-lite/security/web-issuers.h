/* The HTTP services that issue delegation tokens and renew them: WebHDFS of the cluster's NameNodes
 * and its key servers (KMS), as the operator's files name them. The ResourceManager logs in at
 * these alone. Hostile: the token's service. */
#ifndef SELVEDGE_RM_LITE_SECURITY_WEB_ISSUERS_H
#define SELVEDGE_RM_LITE_SECURITY_WEB_ISSUERS_H

#include "common/conf.h"
#include "fs/kms-messages.h"
#include "rm-lite/security/known-hosts.h"

#define RM_KIND_WEBHDFS "WEBHDFS delegation"
#define RM_KIND_SWEBHDFS "SWEBHDFS delegation"
#define RM_KIND_KMS "kms-dt"

struct rm_web_issuers;

/* One service: its servers, any of which may answer. */
struct rm_web_issuer {
    bool secure; /* https */
    const char *path;
    unsigned n; /* > 0 */
    struct hdfs_server servers[FS_KMS_HOSTS_MAX];
};

bool rm_web_issuers_kind(const char *kind);
/* Reads the keys; hdfs-site.xml is loaded. -ENOMEM, or -EINVAL with the key. */
int rm_web_issuers_new(sd_event *event, struct sv_conf *conf, struct rm_web_issuers **ret,
                       struct sv_error *err) _must_use_;
/* Accepts NULL, returns NULL. */
struct rm_web_issuers *rm_web_issuers_free(struct rm_web_issuers *w);
/* The service of a token. -EACCES: none that the files name; -EAGAIN: names are being looked up;
 * another with the reason. */
int rm_web_issuers_find(struct rm_web_issuers *w, const char *kind, const char *service,
                        struct rm_web_issuer *ret, struct sv_error *err) _must_use_;

#endif
