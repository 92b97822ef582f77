/* Requests in flight: each is answered by a process of its own; one user has one request at a time
 * that changes something. */
#ifndef SELVEDGE_SERVICE_SERVER_FLIGHT_H
#define SELVEDGE_SERVICE_SERVER_FLIGHT_H

#include <systemd/sd-event.h>

#include "service/server/conf.h"
#include "service/server/spawner.h"

struct svc_flight;
struct svc_flights {
    sd_event *event;
    const struct svc_conf *conf;
    struct svc_spawner *spawner;
    void (*ended)(void *userdata); /* one has: those that wait may be retried */
    void *userdata;
    struct svc_flight *list;
};

/* -EAGAIN: the user changes something already: later; -EBUSY: too many, and *ret_why says of
 * what. */
int svc_flight_new(struct svc_flights *all, const struct svc_request *q, struct svc_flight **ret,
                   const char **ret_why) _must_use_;
/* False: not answered yet. Moves the answer out. */
bool svc_flight_take(struct svc_flight *f, struct svc_answer *ret);
/* Nobody waits for the answer any more: it ends by itself, or now if it is answered. */
void svc_flight_leave(struct svc_flight *f);
void svc_flights_free(struct svc_flights *all);

#endif
