/* Readiness checks of containers: when each is done, and what it says. Checks are spread in time,
 * and at most SVC_CHECKS_OPEN are open; a container that is not ready is checked sooner, up to the
 * interval. A result is reported when it differs from the one before. */
#ifndef SELVEDGE_SERVICE_AM_CHECK_READINESS_H
#define SELVEDGE_SERVICE_AM_CHECK_READINESS_H

#include <systemd/sd-event.h>

#include "service/am/check/probe-target.h"

#define SVC_CHECKS_OPEN 64
#define SVC_CHECK_INTERVAL_MS 30000 /* yarn.service.readiness-check-interval.seconds */

struct svc_checks;

/* From the loop. `why`: of a check that failed, else "". May add and remove checks. */
typedef void (*svc_check_fn)(struct yarn_container_id id, bool ready, const char *why,
                             void *userdata);

struct svc_checks_config {
    int64_t interval_ms;
    bool http; /* some component has HTTP checks: libcurl is loaded now */
    svc_check_fn report;
    void *userdata;
};
int svc_checks_new(sd_event *event, const struct svc_checks_config *cfg, struct svc_checks **ret,
                   struct sv_error *err) _must_use_;
/* Accepts NULL, returns NULL. */
struct svc_checks *svc_checks_free(struct svc_checks *c);

/* Begins the checks of a container; the probe and the addresses are copied. One that has checks
 * already begins anew. NONE: ready with the next turn of the loop; DEFAULT: with an ip. */
int svc_checks_add(struct svc_checks *c, struct yarn_container_id id, const struct svc_probe *probe,
                   const struct svc_probe_addresses *a) _must_use_;
/* The next check is done after this time: an old process may answer until then. */
void svc_checks_delay(struct svc_checks *c, struct yarn_container_id id, int64_t ms);
/* Other addresses of a container that has checks. */
int svc_checks_address(struct svc_checks *c, struct yarn_container_id id,
                       const struct svc_probe_addresses *a) _must_use_;
void svc_checks_remove(struct svc_checks *c, struct yarn_container_id id);
size_t svc_checks_open(const struct svc_checks *c);

#endif
