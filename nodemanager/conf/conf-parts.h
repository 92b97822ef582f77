/* The parts of struct nm_conf: each file conf-PART.c has the keys of one part and reads them. For
 * conf.c, and its tables for conf-check.c. Readers return a negative errno with a message that
 * names file, line and key. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_PARTS_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_PARTS_H

#include "nodemanager/conf/conf.h"

/* Default of a key that refers to it, which set_base_defaults() sets. */
#define NM_MAX_UTILIZATION                                                                         \
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage"

/* For a reader with `c`, `err` and `int r`: reads the file's key number k by the function fn. */
#define NM_CONF_GET(fn, k, p)                                                                      \
    do {                                                                                           \
        r = fn(c->conf, &keys[k], p, err);                                                         \
        if (r < 0)                                                                                 \
            return r;                                                                              \
    } while (0)

/* `known`: see nm_conf_load_again. */
int nm_conf_node_read(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
    _must_use_;
/* Must follow the node, whose web address it may replace. */
int nm_conf_web_read(struct nm_conf *c, struct sv_error *err) _must_use_;
/* How callers of the web server are known; behind nm_conf_web_read(). */
int nm_conf_web_login_read(struct nm_conf *c, struct sv_error *err) _must_use_;
int nm_conf_directories_read(struct nm_conf *c, struct sv_error *err) _must_use_;
int nm_conf_aux_services_read(struct nm_conf *c, struct sv_error *err) _must_use_;
int nm_conf_launch_read(struct nm_conf *c, struct sv_error *err) _must_use_;
/* Must precede the limits, which use its results. */
int nm_conf_isolation_read(struct nm_conf *c, struct sv_error *err) _must_use_;
int nm_conf_limits_read(struct nm_conf *c, struct sv_error *err) _must_use_;
/* Adds resource-types.xml and node-resources.xml, where they are there, before the overrides. */
int nm_conf_resource_load(struct sv_conf *c, struct sv_error *err) _must_use_;
/* Must follow launch, isolation and limits, whose results it uses. */
int nm_conf_resource_read(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
    _must_use_;
int nm_conf_monitor_read(struct nm_conf *c, struct sv_error *err) _must_use_;

int nm_conf_exec_read(struct nm_conf *c, struct sv_error *err) _must_use_;
int nm_conf_policy_read(struct nm_conf *c, struct sv_error *err) _must_use_;

const struct sv_conf_key *nm_conf_node_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_web_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_directories_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_aux_services_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_launch_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_isolation_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_limits_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_resource_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_monitor_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_exec_keys(size_t *ret_n);
const struct sv_conf_key *nm_conf_policy_keys(size_t *ret_n);

#endif
