/* Properties of network addresses that jobs name or influence. Pure. */
#ifndef SELVEDGE_COMMON_ADDRESS_H
#define SELVEDGE_COMMON_ADDRESS_H

#include <sys/socket.h>

#include "common/base.h"

/* 169.254/16, also mapped into IPv6, and fe80::/10: the metadata services of clouds, which nothing
 * connects to for a job. `a` holds a whole sockaddr_in or sockaddr_in6. */
bool sv_address_is_link_local(const struct sockaddr *a);

#endif
