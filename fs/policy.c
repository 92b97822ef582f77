/* See policy.h. */
#include "fs/policy.h"

#include <errno.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/address.h"

const struct fs_policy fs_policy_jobs = { .redirects = FS_REDIRECTS_MAX };

static bool has_host(const char *const *hosts, const char *host)
{
    for (; *hosts; hosts++)
        if (strcasecmp(*hosts, host) == 0)
            return true;
    return false;
}

int fs_policy_url(const struct fs_policy *p, const struct fs_url *url, struct sv_error *err)
{
    if (p->schemes && !(p->schemes & 1u << url->scheme))
        return sv_error_set(err, -EINVAL, "its scheme is not allowed");
    if (p->hosts && url->host[0] && !has_host(p->hosts, url->host))
        return sv_error_set(err, -EINVAL, "its host %s is not allowed", url->host);
    return 0;
}

int fs_policy_redirect(const struct fs_policy *p, const char *to, enum fs_scheme of, unsigned hops,
                       struct sv_error *err)
{
    struct fs_url next;
    int r;

    if (hops >= p->redirects)
        return sv_error_set(err, -ELOOP, "more than %u redirects", p->redirects);
    if (!to)
        return sv_error_set(err, -EBADMSG, "redirect without a target");
    r = fs_url_parse(to, &next, err);
    if (r < 0)
        return sv_error_wrap(err, "redirect");
    if (next.scheme != of)
        return sv_error_set(err, -EPROTO, "redirect to another scheme");
    r = p->hosts && !has_host(p->hosts, next.host) ? -EBADMSG : 0;
    return r < 0 ? sv_error_set(err, r, "redirect to %s, which is not allowed", next.host) : 0;
}

static bool is_loopback(const struct sockaddr *a)
{
    struct in6_addr client = sv_address_client(a);

    return sv_address_is_loopback(&client);
}

bool fs_policy_address(const struct fs_policy *p, const struct sockaddr *a)
{
    if (a->sa_family != AF_INET && a->sa_family != AF_INET6)
        return false;
    return !sv_address_is_metadata(a) && !(p->no_loopback && is_loopback(a));
}
