/* Whether a port accepts connections, without blocking. */
#ifndef SELVEDGE_SERVICE_AM_CHECK_PROBE_PORT_H
#define SELVEDGE_SERVICE_AM_CHECK_PROBE_PORT_H

#include <systemd/sd-event.h>

#include "service/am/check/probe-target.h"

struct svc_port_probe;

/* 0: connected; -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH, -EPERM: an address to which nothing may
 * connect (fs/policy.h). Runs once, from the loop; the probe is free then. */
typedef void (*svc_port_done)(int status, void *userdata);

int svc_port_probe_start(sd_event *event, const struct svc_probe_target *target, int64_t timeout_ms,
                         svc_port_done done, void *userdata, struct svc_port_probe **ret)
    _must_use_;
/* Ends it without a result. Accepts NULL, returns NULL. */
struct svc_port_probe *svc_port_probe_free(struct svc_port_probe *p);

#endif
