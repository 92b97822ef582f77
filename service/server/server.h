/* The two web servers of selvedge-services: the port, whose callers a gate identifies, and the
 * socket of a ResourceManager, which says who calls. Both give requests to processes of their own
 * (flight.h) and parse nothing of them. Hostile: every client of the port. */
#ifndef SELVEDGE_SERVICE_SERVER_SERVER_H
#define SELVEDGE_SERVICE_SERVER_SERVER_H

#include <systemd/sd-event.h>

#include "service/server/conf.h"
#include "service/server/spawner.h"

struct sv_listen_fds;
struct svc_server;

#define SVC_WEB_SOCKET "web" /* FileDescriptorName= of selvedge-services.socket */

/* `conf`, `held` (or NULL) and the spawner must outlive it. */
int svc_server_new(sd_event *event, const struct svc_conf *conf, const struct sv_listen_fds *held,
                   struct svc_spawner *spawner, struct svc_server **ret, struct sv_error *err)
    _must_use_;
struct svc_server *svc_server_free(struct svc_server *s);
uint16_t svc_server_port(const struct svc_server *s);

#endif
