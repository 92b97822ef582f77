/* Names of services and components (definition.h), and where a definition has them (check.h). */
#include <stdlib.h>
#include <string.h>

#include "service/definition/check.h"

bool svc_name_valid(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return *name >= 'a' && *name <= 'z' && !name[n] && n <= SVC_NAME_MAX;
}

const struct svc_component *svc_component_named(const struct svc_definition *d, const char *name)
{
    for (size_t i = 0; i < d->n_components; i++)
        if (!strcmp(d->components[i].name, name))
            return &d->components[i];
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct svc_position *x = a, *y = b;
    int c = strcmp(x->name, y->name);

    return c ? c : (x->at > y->at) - (x->at < y->at);
}

int svc_names_of(const struct svc_definition *d, struct svc_names *ret, struct sv_error *err)
{
    struct svc_path path;

    *ret = (struct svc_names){ .n = d->n_components };
    if (d->n_components > SVC_COMPONENTS_MAX)
        return svc_refuse(err, "components", NULL, "%zu of them: at most %d", d->n_components,
                          SVC_COMPONENTS_MAX);
    for (size_t i = 0; i < ret->n; i++) {
        ret->sorted[i] = (struct svc_position){ d->components[i].name, i };
        ret->open = ret->open || d->components[i].artifact.type == SVC_ARTIFACT_SERVICE;
    }
    qsort(ret->sorted, ret->n, sizeof *ret->sorted, by_name);
    for (size_t i = 1; i < ret->n; i++) {
        if (strcmp(ret->sorted[i - 1].name, ret->sorted[i].name))
            continue;
        path = svc_path("components[%zu].name", ret->sorted[i].at);
        return svc_refuse(err, path.text, ret->sorted[i].name, "components[%zu] has this name too",
                          ret->sorted[i - 1].at);
    }
    return 0;
}

static int is_name(const void *name, const void *position)
{
    return strcmp(name, ((const struct svc_position *)position)->name);
}

size_t svc_names_find(const struct svc_names *n, const char *name)
{
    const struct svc_position *p = bsearch(name, n->sorted, n->n, sizeof *n->sorted, is_name);

    return p ? p->at : SIZE_MAX;
}
