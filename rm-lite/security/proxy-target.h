/* Where the proxy of ApplicationMasters' pages connects to, and what it may not: the tracking URL
 * is whatever a job registered, and the ResourceManager reaches hosts that the job does not. Pure
 * functions. */
#ifndef SELVEDGE_RM_LITE_SECURITY_PROXY_TARGET_H
#define SELVEDGE_RM_LITE_SECURITY_PROXY_TARGET_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/error.h"

/* The URL to fetch: the tracking URL ("host:port/ui" or with http:// or https://), then `rest`,
 * path and query as the browser sent them behind /proxy/APPLICATION. malloc'd. -EINVAL: not such a
 * URL, or one with a user name in it. */
int rm_proxy_url(const char *tracking_url, const char *rest, char **ret, struct sv_error *err)
    _must_use_;
/* A Location header of the answer as the browser must see it: inside of the tracking URL it becomes
 * /proxy/APPLICATION/…; others stay. malloc'd; NULL without memory. */
char *rm_proxy_location(const char *tracking_url, const char *application, const char *location);
/* False for addresses that no ApplicationMaster has: unspecified, multicast, link-local, those of
 * clouds' metadata services, and loopback unless the master itself is on this host. */
bool rm_proxy_may_connect(const struct sockaddr *to, bool master_is_here);
/* An address of this host: loopback, or one that a socket can be bound to. */
bool rm_proxy_is_local(const struct in6_addr *ip); /* IPv4 as mapped */

#endif
