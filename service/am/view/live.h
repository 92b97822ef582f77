/* Slider's lists of all containers, of all nodes and of a component's containers as text. A service
 * of few instances is listed as it is now; one of more in turns of the loop, and that text is
 * served for SVC_LIVE_FRESH_MS, as Slider served its own. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_LIVE_H
#define SELVEDGE_SERVICE_AM_VIEW_LIVE_H

#include <systemd/sd-event.h>

#include "service/am/view/slider-view.h"

#define SVC_LIVE_TURN 2000 /* instances */
#define SVC_LIVE_FRESH_MS 500
#define SVC_LIVE_MAX ((size_t)256 << 20) /* bytes of a text */
#define SVC_LIVE_NAME_MAX 256            /* bytes of a component's name, with the NUL */

struct svc_live;
enum svc_live_list {
    SVC_LIVE_CONTAINERS,
    SVC_LIVE_NODES,
    SVC_LIVE_COMPONENT,     /* its record, with the ids of its containers */
    SVC_LIVE_COMPONENT_IDS, /* these ids alone */
};

struct svc_live_config {
    void (*view)(void *userdata, struct svc_slider_view *ret); /* the state of this turn */
    void *view_userdata;
    void (*done)(void *userdata); /* a text that was being built is there, or could not be */
    void *userdata;
};

int svc_live_new(sd_event *event, const struct svc_live_config *cfg, struct svc_live **ret)
    _must_use_;
struct svc_live *svc_live_free(struct svc_live *l);
/* `component`: its name, for the last two. The text lives until the next call or turn. -EAGAIN: a
 * text is being built, ask again when it is done; -ENOENT: no such component; -EMSGSIZE,
 * -ENOMEM. */
int svc_live_text(struct svc_live *l, enum svc_live_list which, const char *component,
                  const char **ret, size_t *ret_len) _must_use_;

#endif
