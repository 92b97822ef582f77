/* HTTP requests of readiness checks, on the loop. A request goes to the address of its target
 * alone, follows no redirect, uses no proxy and ends with the first byte of the body. Hostile: the
 * servers, which are containers. */
#ifndef SELVEDGE_SERVICE_AM_CHECK_PROBE_HTTP_H
#define SELVEDGE_SERVICE_AM_CHECK_PROBE_HTTP_H

#include <systemd/sd-event.h>

#include "service/am/check/probe-target.h"

struct svc_http_probes;
struct svc_http_probe;

/* The status of the answer, or -errno: -ETIMEDOUT, -ECONNREFUSED, -EPERM, -EIO. Runs once, from the
 * loop; the request is free then. */
typedef void (*svc_http_done)(int status, void *userdata);

/* Loads libcurl: before the loop runs. */
int svc_http_probes_new(sd_event *event, struct svc_http_probes **ret, struct sv_error *err)
    _must_use_;
/* Ends all requests without a result. Accepts NULL, returns NULL. */
struct svc_http_probes *svc_http_probes_free(struct svc_http_probes *p);
int svc_http_probe_start(struct svc_http_probes *p, const struct svc_probe_target *target,
                         int64_t timeout_ms, svc_http_done done, void *userdata,
                         struct svc_http_probe **ret) _must_use_;
struct svc_http_probe *svc_http_probe_free(struct svc_http_probe *q);

#endif
