/* One auxiliary service: its process or its socket, the protocol with it, restarts with back-off.
 * Everything is bounded: bytes and events in both directions, the time to `ready` and to each
 * answer. A service that violates the protocol is killed and restarted; nothing else in the daemon
 * waits for it. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_SERVICE_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_SERVICE_H

#include <jansson.h>
#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/aux-services/aux-conf.h"

struct nm_aux_metrics;
struct nm_aux_service;
struct sv_listen_fds;

struct nm_aux_service_ops {
    /* The text of `init`, malloc'd; NULL: out of memory. */
    char *(*init)(const struct nm_aux_conf *conf, const char *const *listen, size_t n_listen,
                  void *userdata);
    /* The service is ready: posts the state of the current applications and containers. */
    void (*ready)(struct nm_aux_service *s, void *userdata);
    /* Encodes an event of nm_aux_service_post_app when it is sent. NULL: the application has ended,
     * the event is dropped. */
    json_t *(*application)(const struct nm_aux_service *s, const char *app, bool recovered,
                           void *userdata);
    const struct sv_listen_fds *held; /* sockets of systemd; NULL: none */
    void *userdata;
};

/* `conf` must outlive the service and must not have `missing`. */
int nm_aux_service_new(sd_event *event, const struct nm_aux_conf *conf, int64_t start_timeout_ms,
                       int64_t event_timeout_ms, const struct nm_aux_service_ops *ops,
                       struct nm_aux_service **ret, struct sv_error *err) _must_use_;
/* Closes its connection, upon which it exits. */
void nm_aux_service_end(struct nm_aux_service *s);
/* Call it after nm_aux_service_end; waits a moment for the exit of its process, then kills it. */
struct nm_aux_service *nm_aux_service_free(struct nm_aux_service *s);
void nm_aux_service_start(struct nm_aux_service *s);

/* Queues an event; dropped unless the service is ready, since `ready` posts the state then. Takes
 * ownership of `event` (an object without "seq", NULL: out of memory). */
void nm_aux_service_post(struct nm_aux_service *s, json_t *event);
/* Queues `application-init`, encoded when it is sent. */
void nm_aux_service_post_app(struct nm_aux_service *s, const char *app, bool recovered);

const char *nm_aux_service_name(const struct nm_aux_service *s);
bool nm_aux_service_is_ready(const struct nm_aux_service *s);
/* True until it is ready or late since its first start. */
bool nm_aux_service_is_starting(const struct nm_aux_service *s);
/* Metadata of its last `ready`; NULL: none, or empty. */
const uint8_t *nm_aux_service_metadata(const struct nm_aux_service *s, size_t *ret_n);
/* Metrics of its last answer with any; n = 0: none. */
const struct nm_aux_metrics *nm_aux_service_metrics(const struct nm_aux_service *s);
int64_t nm_aux_service_ready_since_ms(const struct nm_aux_service *s); /* wall clock; 0 = is not */
unsigned nm_aux_service_restarts(const struct nm_aux_service *s);

#endif
