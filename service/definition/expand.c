/* Components that stand for another service (definition.h), by Apache's rules. Hostile: the other
 * service's definition. */
#include <errno.h>
#include <string.h>

#include "service/definition/merge.h"
#include "service/definition/refuse.h"

struct grown {
    struct sv_arena *a;
    struct sv_error *err;
    struct svc_component list[SVC_COMPONENTS_MAX];
    size_t n;
};

static int append(struct grown *g, const struct svc_component *c)
{
    if (g->n == SVC_COMPONENTS_MAX)
        return svc_refuse(g->err, "components", NULL,
                          "more than %d with those of the services that they stand for",
                          SVC_COMPONENTS_MAX);
    g->list[g->n++] = *c;
    return 0;
}

static struct svc_component *named(struct svc_component *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

/* Fills what `own` leaves open. */
static int fill(struct svc_component *own, const struct svc_component *from, struct sv_arena *a)
{
    own->artifact = from->artifact;
    if (!own->resource.memory_mb) {
        own->resource = from->resource;
        own->additional = from->additional;
        own->n_additional = from->n_additional;
    }
    if (own->count < 0)
        own->count = from->count;
    if (!*own->launch_command)
        own->launch_command = from->launch_command;
    if (own->readiness.type == SVC_READY_NONE && !own->readiness.properties.n)
        own->readiness = from->readiness;
    if (!own->n_constraints) {
        own->constraints = from->constraints;
        own->n_constraints = from->n_constraints;
    }
    return svc_configuration_merge(&own->configuration, &from->configuration, a);
}

/* Adds the components of `other`, with what they inherit there; those that an own component without
 * an artifact overrides go into that. */
static int take(struct grown *g, struct svc_definition *d, const struct svc_definition *other,
                const char *service)
{
    struct svc_definition copy = *other;
    int r;

    copy.components =
        sv_arena_memdup(g->a, other->components, other->n_components * sizeof *other->components);
    if (!copy.components)
        return sv_error_errno(g->err, -ENOMEM, "service %s", service);
    r = svc_definition_resolve(&copy, g->a, g->err);
    if (r < 0)
        return g->err ? sv_error_wrap(g->err, "service %s", service) : r;
    for (size_t i = 0; i < copy.n_components; i++) {
        const struct svc_component *c = &copy.components[i];
        struct svc_component *own = named(d->components, d->n_components, c->name);

        if (c->artifact.type == SVC_ARTIFACT_SERVICE)
            return svc_refuse(g->err, svc_path("service %s: components[%zu]", service, i).text,
                              c->name, "stands for a service itself: one level is allowed");
        if (!own || own->artifact.type != SVC_ARTIFACT_NONE)
            r = append(g, c); /* of the same name as another one: the check says so */
        else if (fill(own, c, g->a) < 0)
            r = svc_refuse(g->err, svc_path("components of service %s", service).text, c->name,
                           "memory, or more than %d files", SVC_FILES_MAX);
        if (r < 0)
            return r;
    }
    return 0;
}

static int load_each(struct grown *g, struct svc_definition *d, svc_load_fn *load, void *arg)
{
    for (size_t i = 0; i < d->n_components; i++) {
        const struct svc_component *c = &d->components[i];
        const struct svc_definition *other = NULL;
        int r;

        if (c->artifact.type != SVC_ARTIFACT_SERVICE)
            continue;
        r = load(arg, c->artifact.id, g->a, &other, g->err);
        if (r == 0)
            r = take(g, d, other, c->artifact.id);
        if (r < 0)
            return g->err ? sv_error_wrap(g->err, "components[%zu]", i) : r;
    }
    return 0;
}

/* Own components come first, as Apache orders them. */
static int join(const struct grown *g, struct svc_definition *d)
{
    struct svc_component *all = sv_newn(g->a, struct svc_component, d->n_components + g->n + 1);
    size_t n = 0;

    if (!all)
        return sv_error_errno(g->err, -ENOMEM, "definition");
    for (size_t i = 0; i < d->n_components; i++)
        if (d->components[i].artifact.type != SVC_ARTIFACT_SERVICE)
            all[n++] = d->components[i];
    memcpy(all + n, g->list, g->n * sizeof *all);
    d->components = all;
    d->n_components = n + g->n;
    return 0;
}

int svc_definition_expand(struct svc_definition *d, svc_load_fn *load, void *arg,
                          struct sv_arena *a, struct sv_error *err)
{
    struct grown *g = sv_new(a, struct grown);
    int r;

    if (!g)
        return sv_error_errno(err, -ENOMEM, "definition");
    g->a = a;
    g->err = err;
    r = load_each(g, d, load, arg);
    if (r == 0)
        r = join(g, d);
    return r < 0 ? r : svc_definition_check(d, err);
}
