/* Properties of a readiness check, with their ranges and defaults in one table: those of Hadoop's
 * MonitorKeys. Hostile: their values. */
#ifndef SELVEDGE_SERVICE_DEFINITION_PROBE_H
#define SELVEDGE_SERVICE_DEFINITION_PROBE_H

#include "service/definition/definition.h"

struct svc_probe {
    enum svc_readiness_type type;
    const char *url; /* HTTP; may hold ${THIS_HOST} */
    int64_t port;    /* PORT */
    int64_t timeout_ms, min_success, max_success;
    bool dns_check;
    const char *dns_address; /* "" = the node's resolver */
};
/* `path`: that of the readiness check, for messages. Texts are those of the map. */
int svc_probe_of(const struct svc_readiness *r, const char *path, struct svc_probe *ret,
                 struct sv_error *err) _must_use_;

struct svc_probe_row {
    const char *name, *types; /* types: "HTTP, PORT", for the documentation */
    int64_t min, max;         /* both 0: not a number */
    const char *def, *text;   /* def NULL = required */
};
const struct svc_probe_row *svc_probe_rows(size_t *ret_n);

#endif
