/* Host name → addresses without blocking the loop: getaddrinfo in a separate thread. Numeric
 * addresses and "localhost" (127.0.0.1) need no thread. */
#ifndef SELVEDGE_WIRE_IPC_RESOLVE_H
#define SELVEDGE_WIRE_IPC_RESOLVE_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "common/base.h"

#define IPC_RESOLVE_MAX 8

struct ipc_addresses {
    struct sockaddr_storage sa[IPC_RESOLVE_MAX];
    socklen_t len[IPC_RESOLVE_MAX];
    size_t n;
};

/* The IP address alone; IPv4 as mapped. */
struct in6_addr ipc_address_ip(const struct sockaddr_storage *sa);

struct ipc_resolve;

/* 0 and the addresses, or -EHOSTUNREACH when the name has none. */
typedef void (*ipc_resolved)(int status, const struct ipc_addresses *list, void *userdata);

/* True if no look-up is needed; fills *ret. */
bool ipc_resolve_numeric(const char *host, uint16_t port, struct ipc_addresses *ret);
/* The callback runs once, from the loop, unless cancelled before. */
int ipc_resolve_start(sd_event *event, const char *host, uint16_t port, ipc_resolved done,
                      void *userdata, struct ipc_resolve **ret) _must_use_;
/* Accepts NULL, returns NULL; may be called from the callback. */
struct ipc_resolve *ipc_resolve_free(struct ipc_resolve *r);

#endif
