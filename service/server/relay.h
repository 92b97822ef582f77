/* The socket for a ResourceManager of this machine: its connections belong to the account that
 * the configuration names, and say who calls in the header SVC_RELAY_USER. Hostile: other
 * accounts, which may connect and are turned away. */
#ifndef SELVEDGE_SERVICE_SERVER_RELAY_H
#define SELVEDGE_SERVICE_SERVER_RELAY_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

#define SVC_RELAY_USER "Selvedge-User"

struct sv_http;
struct svc_relay;

/* Listens at `path`, whose directory exists, and feeds `http` (sv_http_new_fed()). `user`: the
 * account; unknown: root and the own account are left. */
int svc_relay_new(sd_event *event, const char *path, const char *user, struct sv_http *http,
                  struct svc_relay **ret, struct sv_error *err) _must_use_;
struct svc_relay *svc_relay_free(struct svc_relay *r);

#endif
