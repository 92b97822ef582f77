/* How this node knows its label or its attributes (yarn.nodemanager.node-labels.…,
 * .node-attributes.…). */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_LABELS_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_LABELS_H

#include "common/conf.h"
#include "nodemanager/conf/node-labels.h"

enum nm_provider { NM_PROVIDER_NONE, NM_PROVIDER_CONFIG, NM_PROVIDER_SCRIPT };

struct nm_conf_labels {
    enum nm_provider provider;
    char **argv;               /* of the script, owned */
    int64_t fetch_interval_ms; /* -1 = once */
    int64_t fetch_timeout_ms, resync_ms;
};

const struct sv_conf_key *nm_conf_labels_keys(size_t *ret_n);
int nm_conf_labels_read(struct sv_conf *c, enum nm_described kind, struct nm_conf_labels *ret,
                        struct sv_error *err) _must_use_;
void nm_conf_labels_free(struct nm_conf_labels *l);
/* The configured value of provider `config`; NULL where it is not set. */
const char *nm_conf_labels_text(struct sv_conf *c, enum nm_described kind);

#endif
