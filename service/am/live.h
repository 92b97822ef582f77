/* Slider's lists of all containers and of all nodes as text. A service of few instances is listed
 * as it is now; one of more in turns of the loop, and that text is served for SVC_LIVE_FRESH_MS, as
 * Slider served its own. */
#ifndef SELVEDGE_SERVICE_AM_LIVE_H
#define SELVEDGE_SERVICE_AM_LIVE_H

#include <systemd/sd-event.h>

#include "service/am/slider-view.h"

#define SVC_LIVE_TURN 2000 /* instances */
#define SVC_LIVE_FRESH_MS 500
#define SVC_LIVE_MAX ((size_t)256 << 20) /* bytes of a text */

struct svc_live;
enum svc_live_list { SVC_LIVE_CONTAINERS, SVC_LIVE_NODES };

struct svc_live_config {
    void (*view)(void *userdata, struct svc_slider_view *ret); /* the state of this turn */
    void *view_userdata;
    void (*done)(void *userdata); /* a text that was being built is there, or could not be */
    void *userdata;
};

int svc_live_new(sd_event *event, const struct svc_live_config *cfg, struct svc_live **ret)
    _must_use_;
struct svc_live *svc_live_free(struct svc_live *l);
/* The text lives until the next call or turn. -EAGAIN: a text is being built, ask again when it is
 * done; -EMSGSIZE, -ENOMEM. */
int svc_live_text(struct svc_live *l, enum svc_live_list which, const char **ret, size_t *ret_len)
    _must_use_;

#endif
