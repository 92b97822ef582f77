/* Path and query of a request as sent, split before it is decoded: a "%2F" is part of a name and
 * no separator. Pure. Hostile: all of it. */
#ifndef SELVEDGE_SERVICE_API_URI_H
#define SELVEDGE_SERVICE_API_URI_H

#include "common/arena.h"
#include "common/base.h"

#define SVC_URI_PARTS_MAX 8
#define SVC_URI_PAIRS_MAX 256

struct svc_uri {
    const char *parts[SVC_URI_PARTS_MAX]; /* decoded */
    size_t n_parts;
    struct svc_uri_pair {
        const char *name, *value;
    } pairs[SVC_URI_PAIRS_MAX];
    size_t n_pairs;
};

/* -EINVAL: a bad escape, a NUL, an empty part, or too many parts or pairs. */
int svc_uri_parse(struct sv_arena *a, const char *uri, struct svc_uri *ret) _must_use_;
/* The first value of this name, or NULL. */
const char *svc_uri_value(const struct svc_uri *u, const char *name);
/* All values of this name, which may be a list in Hadoop's form: repeated. */
size_t svc_uri_values(const struct svc_uri *u, const char *name, const char **ret, size_t max);

#endif
