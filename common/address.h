/* Properties of network addresses that jobs name or influence. Pure. */
#ifndef SELVEDGE_COMMON_ADDRESS_H
#define SELVEDGE_COMMON_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/base.h"

/* True for addresses to which nothing connects on behalf of a job: clouds' metadata services, which
 * give the machine's credentials to whoever asks, and the link-local networks where most of them
 * are; an IPv4 address also in an IPv6 form. At least what the connect filter refuses by default
 * (setuid-helper/connect-rules.c; a unit test compares), at every port. `a` holds a whole
 * sockaddr_in or sockaddr_in6. */
bool sv_address_is_metadata(const struct sockaddr *a);
/* True if `a` is an IPv4 address in IPv6 form: mapped (::ffff:1.2.3.4), compatible (::1.2.3.4) or
 * of NAT64 (64:ff9b::1.2.3.4, RFC 6052). *ret_v4 is in host order. */
bool sv_address_v4_within(const struct in6_addr *a, uint32_t *ret_v4);
/* The network of an address, which limits for each client count, because a peer chooses freely
 * within it: of IPv6 the first 64 bits (RFC 4291, 2.5.4: the rest is the host's); IPv4 is mapped
 * into IPv6; another family is "::". */
struct in6_addr sv_address_network(const struct sockaddr *a);
/* sv_address_network(), with 127.0.0.0/8 and ::1 as 127.0.0.1: any process of this machine. */
struct in6_addr sv_address_client(const struct sockaddr *a);
bool sv_address_is_loopback(const struct in6_addr *client); /* of sv_address_client() */

/* "*", an address, or ADDRESS/BITS; IPv4 as mapped into IPv6. */
struct sv_network {
    struct in6_addr ip;
    unsigned bits;
};
/* -EINVAL, -ENOMEM. */
int sv_network_parse(const char *text, struct sv_network *ret) _must_use_;
bool sv_network_has(const struct sv_network *n, const struct in6_addr *ip);

#endif
