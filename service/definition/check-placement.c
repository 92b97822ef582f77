/* Where instances may run (check.h). */

#include "service/definition/check.h"

static int check_cardinality(const struct svc_constraint *k, const char *path, struct sv_error *err)
{
    bool any = k->min_cardinality >= 0 || k->max_cardinality >= 0;

    if (k->type != SVC_CARDINALITY)
        return any ? svc_refuse(err, path, NULL,
                                "min_cardinality and max_cardinality are for "
                                "AFFINITY_WITH_CARDINALITY alone")
                   : 0;
    if (!any)
        return svc_refuse(
            err, path, NULL,
            "AFFINITY_WITH_CARDINALITY needs min_cardinality, max_cardinality or both");
    if (k->max_cardinality >= 0 && k->min_cardinality > k->max_cardinality)
        return svc_refuse(err, path, NULL, "min_cardinality is more than max_cardinality");
    return 0;
}

static int check_constraint(const struct svc_constraint *k, const char *path,
                            const struct svc_names *names, struct sv_error *err)
{
    struct svc_path tag;

    if (!k->n_target_tags &&
        (k->type == SVC_CARDINALITY || (!k->node_attributes.n && !k->n_node_partitions)))
        return svc_refuse(err, path, NULL,
                          "target_tags: at least one component's name, or with AFFINITY and "
                          "ANTI_AFFINITY node_attributes or node_partitions");
    for (size_t i = 0; i < k->n_target_tags; i++) {
        if (names->open || svc_names_find(names, k->target_tags[i]) != SIZE_MAX)
            continue;
        tag = svc_path("%s.target_tags[%zu]", path, i);
        return svc_refuse(err, tag.text, k->target_tags[i],
                          "no component of this service has this name");
    }
    return check_cardinality(k, path, err);
}

int svc_check_placement(const struct svc_component *c, const char *path,
                        const struct svc_names *names, struct sv_error *err)
{
    struct svc_path at;

    for (size_t i = 0; i < c->n_constraints; i++) {
        int r;

        at = svc_path("%s.placement_policy.constraints[%zu]", path, i);
        r = check_constraint(&c->constraints[i], at.text, names, err);
        if (r < 0)
            return r;
    }
    return 0;
}
