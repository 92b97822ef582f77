/* See definition-diff.h. */
#include "service/engine/definition-diff.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

static bool same_map(const struct svc_map *a, const struct svc_map *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!sv_streq(a->pairs[i].name, b->pairs[i].name) ||
            !sv_streq(a->pairs[i].value, b->pairs[i].value))
            return false;
    return true;
}

static bool same_texts(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++)
        if (!sv_streq(a[i], b[i]))
            return false;
    return true;
}

static bool same_artifact(const struct svc_artifact *a, const struct svc_artifact *b)
{
    return a->type == b->type && sv_streq(a->id, b->id);
}

static bool same_file(const struct svc_file *a, const struct svc_file *b)
{
    return a->type == b->type && sv_streq(a->dest, b->dest) && sv_streq(a->src, b->src) &&
           same_map(&a->properties, &b->properties);
}

static bool same_configuration(const struct svc_configuration *a, const struct svc_configuration *b)
{
    if (a->n_files != b->n_files || !same_map(&a->properties, &b->properties) ||
        !same_map(&a->env, &b->env))
        return false;
    for (size_t i = 0; i < a->n_files; i++)
        if (!same_file(&a->files[i], &b->files[i]))
            return false;
    return true;
}

static bool same_resource(const struct yarn_resource *a, const struct yarn_resource *b)
{
    return a->memory_mb == b->memory_mb && a->vcores == b->vcores && a->gpus == b->gpus &&
           !memcmp(a->extra, b->extra, sizeof(a->extra));
}

static bool same_constraint(const struct svc_constraint *a, const struct svc_constraint *b)
{
    return sv_streq(a->name, b->name) && a->type == b->type && a->scope == b->scope &&
           a->min_cardinality == b->min_cardinality && a->max_cardinality == b->max_cardinality &&
           same_texts(a->target_tags, a->n_target_tags, b->target_tags, b->n_target_tags) &&
           same_texts(a->node_partitions, a->n_node_partitions, b->node_partitions,
                      b->n_node_partitions) &&
           same_map(&a->node_attributes, &b->node_attributes);
}

static bool same_placement(const struct svc_component *a, const struct svc_component *b)
{
    if (a->n_constraints != b->n_constraints)
        return false;
    for (size_t i = 0; i < a->n_constraints; i++)
        if (!same_constraint(&a->constraints[i], &b->constraints[i]))
            return false;
    return true;
}

bool svc_component_needs_upgrade(const struct svc_component *from, const struct svc_component *to)
{
    return !same_artifact(&from->artifact, &to->artifact) ||
           !sv_streq(from->launch_command, to->launch_command) ||
           !same_configuration(&from->configuration, &to->configuration);
}

const struct svc_component *svc_component_in(const struct svc_definition *d, const char *name,
                                             size_t *ret_i)
{
    for (size_t i = 0; i < d->n_components; i++)
        if (sv_streq(d->components[i].name, name)) {
            *ret_i = i;
            return &d->components[i];
        }
    return NULL;
}

static int refuse(struct sv_error *err, const char *component, const char *what)
{
    return sv_error_set(err, -EINVAL, "%s%s%s: upgrades do not change it; stop the service first",
                        component ? "components." : "", component ?: "", what);
}

static int check_component(const struct svc_component *from, const struct svc_component *to,
                           struct sv_error *err)
{
    if (!same_texts(from->dependencies, from->n_dependencies, to->dependencies, to->n_dependencies))
        return refuse(err, to->name, ".dependencies");
    if (from->readiness.type != to->readiness.type ||
        !same_map(&from->readiness.properties, &to->readiness.properties))
        return refuse(err, to->name, ".readiness_check");
    if (!same_resource(&from->resource, &to->resource))
        return refuse(err, to->name, ".resource");
    if (!same_placement(from, to))
        return refuse(err, to->name, ".placement_policy");
    if (from->restart != to->restart)
        return refuse(err, to->name, ".restart_policy");
    return 0;
}

static int check_service(const struct svc_definition *from, const struct svc_definition *to,
                         struct sv_error *err)
{
    if (sv_streq(from->version, to->version))
        return sv_error_set(err, -EINVAL, "version: \"%s\" runs already; an upgrade needs another",
                            to->version);
    if (from->n_components != to->n_components)
        return refuse(err, NULL, "components");
    if (!sv_streq(from->principal, to->principal) || !sv_streq(from->keytab, to->keytab))
        return refuse(err, NULL, "kerberos_principal");
    if (!sv_streq(from->queue, to->queue))
        return refuse(err, NULL, "queue");
    if (!sv_streq(from->description, to->description))
        return refuse(err, NULL, "description");
    if (!same_map(&from->quicklinks, &to->quicklinks))
        return refuse(err, NULL, "quicklinks");
    if (from->lifetime_s != to->lifetime_s)
        return refuse(err, NULL, "lifetime");
    return 0;
}

int svc_upgrade_is_supported(const struct svc_definition *from, const struct svc_definition *to,
                             struct sv_error *err)
{
    int r = check_service(from, to, err);

    for (size_t i = 0, at; r >= 0 && i < to->n_components; i++) {
        const struct svc_component *had = svc_component_in(from, to->components[i].name, &at);

        r = had ? check_component(had, &to->components[i], err)
                : refuse(err, to->components[i].name, "");
    }
    return r;
}
