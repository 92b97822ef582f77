/* Starts a process for each request: a process of one thread, forked before the server has any
 * thread, connection or secret of a caller, from which requests' processes are forked. They have
 * the configuration in memory, and nothing is executed. */
#ifndef SELVEDGE_SERVICE_SERVER_SPAWNER_H
#define SELVEDGE_SERVICE_SERVER_SPAWNER_H

#include "service/server/conf.h"

struct svc_spawner;

/* At the start of the program. `conf` is the configuration of all requests. */
int svc_spawner_new(const struct svc_conf *conf, struct svc_spawner **ret, struct sv_error *err)
    _must_use_;
struct svc_spawner *svc_spawner_free(struct svc_spawner *s);
/* Becomes readable, at its end, when the process has ended: nothing works any more. */
int svc_spawner_fd(const struct svc_spawner *s);
/* Starts a request (svc_request_put(), which the caller keeps). Returns the descriptor where its
 * answer comes, non-blocking; its end without an answer: the process has ended. -EAGAIN: too many
 * were started at once. */
int svc_spawner_start(struct svc_spawner *s, int request) _must_use_;

#endif
