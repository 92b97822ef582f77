/* See address.h. */
#include "common/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

bool sv_address_is_link_local(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, a, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 16 == 0xa9fe; /* 169.254/16 */
    }
    if (a->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, a, sizeof(in6));
        if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
            return in6.sin6_addr.s6_addr[12] == 169 && in6.sin6_addr.s6_addr[13] == 254;
        return IN6_IS_ADDR_LINKLOCAL(&in6.sin6_addr);
    }
    return false;
}
