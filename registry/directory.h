/* Records in a directory of a file system, in the layout of Hadoop's FSRegistryOperationsService:
 * the record of a path is the file "_record" in a directory of that path. */
#ifndef SELVEDGE_REGISTRY_DIRECTORY_H
#define SELVEDGE_REGISTRY_DIRECTORY_H

#include <systemd/sd-event.h>

#include "common/conf.h"
#include "common/error.h"
#include "registry/backend.h"

struct reg_directory_config {
    const char *url;    /* of a directory that is there */
    const char *folder; /* a name in it, which is made when it is needed */
    /* The program, for servers' logs; the user of simple authentication. They outlive it. */
    const char *program, *user;
    int credentials; /* the job's credentials file, taken; -1: none */
};

/* The configuration is read here alone. A thread uses the file system. */
int reg_directory_open(sd_event *event, struct sv_conf *conf,
                       const struct reg_directory_config *cfg, struct reg_backend **ret,
                       struct sv_error *err) _must_use_;

#endif
