/* Properties of network addresses that jobs name or influence. Pure. */
#ifndef SELVEDGE_COMMON_ADDRESS_H
#define SELVEDGE_COMMON_ADDRESS_H

#include <sys/socket.h>

#include "common/base.h"

/* True for 169.254/16, also mapped into IPv6, and fe80::/10: cloud metadata services, to which
 * nothing connects on behalf of a job. `a` holds a whole sockaddr_in or sockaddr_in6. */
bool sv_address_is_link_local(const struct sockaddr *a);

#endif
