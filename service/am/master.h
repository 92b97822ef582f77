/* The ApplicationMaster of one service: the engine with its surroundings. Owns everything. */
#ifndef SELVEDGE_SERVICE_AM_MASTER_H
#define SELVEDGE_SERVICE_AM_MASTER_H

#include <systemd/sd-event.h>

#include "common/conf.h"
#include "common/error.h"
#include "service/am/options.h"

struct svc_master;

/* Reads the definition and the journal, listens and registers. Blocks: before the loop runs. The
 * options outlive it; the configuration, too, even behind svc_master_free(). Ends the loop with 0
 * when the service was unregistered, with 1 when the ResourceManager ended the attempt. */
int svc_master_new(sd_event *event, const struct svc_am_options *options, struct sv_conf *conf,
                   struct svc_master **ret, struct sv_error *err) _must_use_;
struct svc_master *svc_master_free(struct svc_master *m);

#endif
