/* Our own keys of localization: the limits of one resource. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_LOCALIZER_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_LOCALIZER_H

#include "common/conf.h"
#include "localizer/channel.h"

struct nm_conf_localizer {
    struct loc_limits limits;
    int64_t timeout_ms; /* for one resource */
    bool verify_size;
    uint32_t parallel; /* downloads of all private localizers together */
};

int nm_conf_localizer_read(struct sv_conf *c, struct nm_conf_localizer *ret, struct sv_error *err)
    _must_use_;
const struct sv_conf_key *nm_conf_localizer_keys(size_t *ret_n);

#endif
