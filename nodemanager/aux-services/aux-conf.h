/* The configuration of auxiliary services: yarn.nodemanager.aux-services and the keys that contain
 * a service's name. The files are the operator's. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_CONF_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_CONF_H

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/conf/conf.h"

#define NM_AUX_SERVICES_MAX 16

struct nm_aux_conf {
    const char *name;  /* [A-Za-z_][A-Za-z0-9_]*; owned by nm_conf */
    char **argv;       /* NULL: use `socket` */
    char *socket;      /* socket of a service that the daemon does not start */
    uid_t socket_uid;  /* required account of its listener */
    char **prefixes;   /* prefixes of further keys passed to the service */
    char *missing;     /* reason why this node cannot run it; NULL = it can */
    int64_t memory_mb; /* 0 = no limit */
    int64_t open_files;
};

struct nm_aux_confs {
    size_t n;
    struct nm_aux_conf list[NM_AUX_SERVICES_MAX];
};

/* A service that this node cannot run has `missing`; a bad value of a key is an error. */
int nm_aux_conf_read(const struct nm_conf *conf, struct nm_aux_confs *ret, struct sv_error *err)
    _must_use_;
void nm_aux_conf_free(struct nm_aux_confs *c);

/* "properties" of init: the service's keys that are set, a JSON object as text. Malloc'd. */
int nm_aux_conf_properties(const struct nm_conf *conf, const struct nm_aux_conf *c, char **ret,
                           struct sv_error *err) _must_use_;

#endif
