/* Inheritance of components from their service (definition.h), by Apache's rules. */
#include <errno.h>

#include "service/definition/measure.h"
#include "service/definition/merge.h"
#include "service/definition/refuse.h"

static int inherit(const struct svc_definition *d, struct svc_component *c, struct sv_arena *a)
{
    if (c->artifact.type == SVC_ARTIFACT_SERVICE)
        return 0;
    if (c->artifact.type == SVC_ARTIFACT_NONE)
        c->artifact = d->artifact;
    if (!c->resource.memory_mb) {
        c->resource = d->resource;
        c->additional = d->additional;
        c->n_additional = d->n_additional;
    }
    return svc_configuration_merge(&c->configuration, &d->configuration, a);
}

int svc_definition_resolve(struct svc_definition *d, struct sv_arena *a, struct sv_error *err)
{
    int r;

    for (size_t i = 0; i < d->n_components; i++) {
        struct svc_component *c = &d->components[i];

        r = inherit(d, c, a);
        if (r == -E2BIG)
            return svc_refuse(err, svc_path("components[%zu].configuration.files", i).text, NULL,
                              "more than %d with the service's", SVC_FILES_MAX);
        if (r < 0)
            return sv_error_errno(err, r, "components[%zu]", i);
    }
    r = svc_definition_fits(d, err);
    return r < 0 ? r : svc_definition_check(d, err);
}
