/* Requests in flight: each is answered by a process of its own; one user has one request at a time
 * that changes something. */
#ifndef SELVEDGE_SERVICE_SERVER_FLIGHT_H
#define SELVEDGE_SERVICE_SERVER_FLIGHT_H

#include <systemd/sd-event.h>

#include "common/histogram.h"
#include "service/server/conf.h"
#include "service/server/spawner.h"

struct svc_flight;

enum svc_method { SVC_GET, SVC_PUT, SVC_POST, SVC_DELETE, SVC_OTHER, SVC_METHODS };
struct svc_flight_stats { /* since the start */
    struct sv_histogram times[SVC_METHODS];
    uint64_t answers[6]; /* by the first digit of the status */
    uint64_t refused;    /* requests for which there was no process */
};
const char *svc_method_name(enum svc_method m); /* "GET"; "other" */

struct svc_flights {
    sd_event *event;
    const struct svc_conf *conf;
    struct svc_spawner *spawner;
    void (*ended)(void *userdata); /* one has: those that wait may be retried */
    void *userdata;
    struct svc_flight *list;
    struct svc_flight_stats stats;
};

/* -EAGAIN: the user changes something already: later; -EBUSY: too many, and *ret_why says of
 * what. */
int svc_flight_new(struct svc_flights *all, const struct svc_request *q, struct svc_flight **ret,
                   const char **ret_why) _must_use_;
bool svc_flight_answered(const struct svc_flight *f);
bool svc_flights_change(const struct svc_flights *all, const char *user); /* something, now */
/* False: not answered yet. Moves the answer out. */
bool svc_flight_take(struct svc_flight *f, struct svc_answer *ret);
/* Nobody waits for the answer any more: it ends by itself, or now if it is answered. */
void svc_flight_leave(struct svc_flight *f);
void svc_flights_free(struct svc_flights *all);
size_t svc_flights_open(const struct svc_flights *all); /* those that are not answered yet */

#endif
