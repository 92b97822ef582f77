/* The ApplicationMaster of one framework of the FrameworkLauncher: the engine with its surroundings
 * (README.md). Owns everything. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_MASTER_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_MASTER_H

#include <systemd/sd-event.h>

#include "common/conf.h"
#include "common/error.h"

struct svc_fwm;

struct svc_fwm_options {
    const char *yarnfile; /* URL of the descriptor */
    const char *name;     /* of the framework */
    const char *user;     /* tasks' HADOOP_USER_NAME */
    const char *host;     /* of this container's node */
};

/* Reads the descriptor, and greets selvedge-services when the loop runs. Blocks: before the loop
 * runs. Options and configuration outlive it. The loop ends with the exit code of the
 * application's end (0, 200, 201, 202), or with 201 when the ResourceManager ended the attempt. */
int svc_fwm_new(sd_event *event, const struct svc_fwm_options *options, struct sv_conf *conf,
                struct svc_fwm **ret, struct sv_error *err) _must_use_;
struct svc_fwm *svc_fwm_free(struct svc_fwm *m);

#endif
