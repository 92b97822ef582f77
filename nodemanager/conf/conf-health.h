/* Keys of the health scripts. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_HEALTH_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_HEALTH_H

#include "common/conf.h"

#define NM_HEALTH_SCRIPTS_MAX 4 /* Hadoop's */

struct nm_conf_health {
    char **names; /* owned */
    int64_t interval_ms, timeout_ms;
    bool before_startup;
    size_t n; /* those with a path */
    struct nm_conf_script {
        const char *name;                /* of `names` */
        char **argv;                     /* path and options; owned */
        int64_t interval_ms, timeout_ms; /* 0: those of all scripts */
    } scripts[NM_HEALTH_SCRIPTS_MAX];
};

int nm_conf_health_read(struct sv_conf *c, struct nm_conf_health *ret, struct sv_error *err)
    _must_use_;
void nm_conf_health_free(struct nm_conf_health *h);
const struct sv_conf_key *nm_conf_health_keys(size_t *ret_n);

#endif
