/* The master's web port: Slider's REST API v2 below /ws/v1/slider/application, the status and
 * /metrics. Hostile: every request. */
#ifndef SELVEDGE_SERVICE_AM_SERVE_REST_H
#define SELVEDGE_SERVICE_AM_SERVE_REST_H

#include <systemd/sd-event.h>

#include "service/am/serve/web-caller.h"
#include "service/am/view/control.h"
#include "service/am/view/slider-view.h"
#include "service/am/view/status.h"

struct svc_rest;

struct svc_rest_config {
    const char *host; /* to listen on, any free port */
    struct svc_control control;
    struct svc_status *status;
    struct svc_proxies proxies;
    /* The state that is shown now; the texts live until the next event. */
    void (*view)(void *userdata, struct svc_slider_view *ret);
    void *userdata;
};
/* -EADDRNOTAVAIL: the host is not this machine's. */
int svc_rest_new(sd_event *event, const struct svc_rest_config *cfg, struct svc_rest **ret,
                 struct sv_error *err) _must_use_;
struct svc_rest *svc_rest_free(struct svc_rest *r);
uint16_t svc_rest_port(const struct svc_rest *r);
/* The text of the status that was being built is there, or could not be. Accepts NULL. */
void svc_rest_status_done(struct svc_rest *r);

#endif
