/* The target of a readiness check for one container. Pure. Hostile: the definition, and the
 * addresses that nodes tell.
 *
 * A check goes to the address of its container and nowhere else: the host of a URL is
 * ${THIS_HOST}, the container's or its node's name or address, else the check is refused; no
 * redirect is followed. */
#ifndef SELVEDGE_SERVICE_AM_CHECK_PROBE_TARGET_H
#define SELVEDGE_SERVICE_AM_CHECK_PROBE_TARGET_H

#include "common/error.h"
#include "service/definition/probe.h"

#define SVC_PROBE_URL_MAX 2048
#define SVC_PROBE_HOST_MAX 256
/* Addresses of a container; "" or NULL: not known. */
struct svc_probe_addresses {
    const char *ip, *host, *node;
};
struct svc_probe_target {
    char url[SVC_PROBE_URL_MAX + SVC_PROBE_HOST_MAX]; /* HTTP */
    char address[SVC_PROBE_HOST_MAX]; /* to connect to: an IP address, or the node's name */
    uint16_t port;
};
/* -EADDRNOTAVAIL: no address is known yet; -EPERM: the URL is another host's. */
int svc_probe_aim(const struct svc_probe *p, const struct svc_probe_addresses *a,
                  struct svc_probe_target *ret, struct sv_error *err) _must_use_;

#endif
