/* Policy of a caller: decides what it may reach, for every url, redirect and address. Pure. */
#ifndef SELVEDGE_FS_POLICY_H
#define SELVEDGE_FS_POLICY_H

#include "common/base.h"
#include "common/error.h"
#include "fs/url.h"

struct sockaddr;

struct fs_policy {
    unsigned schemes;         /* bits 1 << enum fs_scheme; 0: all */
    const char *const *hosts; /* ends with NULL; NULL: any */
    bool no_loopback;         /* nothing at 127.0.0.0/8 or ::1 */
    unsigned redirects;       /* followed, at most; each is checked like the first url */
};

/* The rules of a job's resources: every scheme and host, FS_REDIRECTS_MAX redirects. */
#define FS_REDIRECTS_MAX 5
extern const struct fs_policy fs_policy_jobs;

/* -EINVAL with a text. */
int fs_policy_url(const struct fs_policy *p, const struct fs_url *url, struct sv_error *err)
    _must_use_;
/* The target of redirect number `hops` (from 0): a valid url of the same scheme, http or https.
 * -ELOOP: too many; -EPROTO: another scheme; -EBADMSG, -EINVAL. */
int fs_policy_redirect(const struct fs_policy *p, const char *to, enum fs_scheme of, unsigned hops,
                       struct sv_error *err) _must_use_;
/* False for addresses to which nothing connects: other families than IP's, clouds' metadata
 * services, and loopback ones if they are refused. */
bool fs_policy_address(const struct fs_policy *p, const struct sockaddr *a);

#endif
