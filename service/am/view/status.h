/* The service as JSON, in the names of Apache's records (Service, Component, Container): built once
 * a change, in turns of SVC_STATUS_TURN instances, and kept until the next change. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_STATUS_H
#define SELVEDGE_SERVICE_AM_VIEW_STATUS_H

#include <systemd/sd-event.h>

#include "common/buf.h"
#include "service/am/facts/containers.h"
#include "service/engine/engine.h"

#define SVC_STATUS_TURN 2000
#define SVC_STATUS_MAX ((size_t)256 << 20) /* bytes of the text */

struct svc_status;

/* A text that was being built is there (0), or could not be (-errno). */
typedef void (*svc_status_done)(int status, void *userdata);

/* Engine and containers outlive it. */
int svc_status_new(sd_event *event, const struct svc_engine *engine,
                   const struct svc_containers *containers, svc_status_done done, void *userdata,
                   struct svc_status **ret) _must_use_;
struct svc_status *svc_status_free(struct svc_status *s);
/* The definition that the master runs, before it was resolved: what inherits is shown as it was
 * written. It is copied. */
int svc_status_definition(struct svc_status *s, const struct svc_definition *d) _must_use_;
/* The engine or a container has changed. */
void svc_status_changed(struct svc_status *s);
/* The text, valid until the next change. -EAGAIN: it is being built, `done` is called. */
int svc_status_text(struct svc_status *s, const char **ret, size_t *ret_len) _must_use_;

#endif
