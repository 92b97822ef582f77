/* Target addresses of the proxy of ApplicationMasters' pages: a job registers any tracking URL, and
 * the ResourceManager reaches hosts that the job does not. Pure functions. */
#ifndef SELVEDGE_RM_LITE_SECURITY_PROXY_TARGET_H
#define SELVEDGE_RM_LITE_SECURITY_PROXY_TARGET_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/error.h"

/* Path and query of a browser's request without ?delegation=TOKEN, however it is written: a job
 * must not get the token of whoever looks at its page. malloc'd; NULL without memory. */
char *rm_proxy_without_tokens(const char *rest);
/* The URL to fetch: the tracking URL ("host:port/ui" or with http:// or https://), then `rest`,
 * path and query as the browser sent them after /proxy/APPLICATION. malloc'd. -EINVAL: not such a
 * URL, or one with a user name. */
int rm_proxy_url(const char *tracking_url, const char *rest, char **ret, struct sv_error *err)
    _must_use_;
/* Rewrites a Location header of the answer for the browser: below the tracking URL it becomes
 * /proxy/APPLICATION/…; others are unchanged. malloc'd; NULL without memory. */
char *rm_proxy_location(const char *tracking_url, const char *application, const char *location);
/* False for addresses that no ApplicationMaster has: unspecified, multicast, link-local, those of
 * clouds' metadata services, and loopback unless the master itself is on this host. */
bool rm_proxy_may_connect(const struct sockaddr *to, bool master_is_here);
/* True for loopback and for addresses that a socket can be bound to. */
bool rm_proxy_is_local(const struct in6_addr *ip); /* IPv4 as mapped */

#endif
