/* The services that the operator's files name, found by a name and a port, or by an address that
 * the name has: clients write addresses into their tokens. Looked up again each five minutes.
 * Hostile: what is looked for. */
#ifndef SELVEDGE_RM_LITE_SECURITY_KNOWN_HOSTS_H
#define SELVEDGE_RM_LITE_SECURITY_KNOWN_HOSTS_H

#include <systemd/sd-event.h>

#include "hdfs/servers.h"
#include "wire/ipc/resolve.h"

struct rm_known_hosts;

/* `servers` are copied; `what` is for messages: "NameNode". -ENOMEM. */
int rm_known_hosts_new(sd_event *event, const char *what, const struct hdfs_server *servers,
                       size_t n, struct rm_known_hosts **ret) _must_use_;
/* Accepts NULL, returns NULL. */
struct rm_known_hosts *rm_known_hosts_free(struct rm_known_hosts *k);
/* The service as it is configured. -ENOENT: there is none; -EAGAIN: not all names are looked up. */
int rm_known_hosts_find(const struct rm_known_hosts *k, const struct hdfs_server *at,
                        const struct hdfs_server **ret) _must_use_;
/* The addresses of a configured one. -EAGAIN: not known yet; -EHOSTUNREACH: it has none. */
int rm_known_hosts_addresses(const struct rm_known_hosts *k, const struct hdfs_server *at,
                             const struct ipc_addresses **ret) _must_use_;

#endif
