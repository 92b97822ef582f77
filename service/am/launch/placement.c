/* See placement.h. */
#include "service/am/launch/placement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "a,b,c" as a list. */
static int split_values(const char *text, struct sv_arena *a, struct cli_node_attribute *ret)
{
    const char **values, *end;
    size_t n = 1;

    for (const char *p = text; *p; p++)
        n += *p == ',';
    values = sv_newn(a, const char *, n);
    for (const char *p = text; values && *p; p = end + (*end == ',')) {
        end = p + strcspn(p, ",");
        values[ret->n_values] = sv_arena_printf(a, "%.*s", (int)(end - p), p);
        if (!values[ret->n_values++])
            return -ENOMEM;
    }
    ret->values = values;
    return values ? 0 : -ENOMEM;
}

static int attributes(const struct svc_constraint *c, struct sv_arena *a,
                      struct cli_constraint *ret)
{
    struct cli_node_attribute *list =
        sv_newn(a, struct cli_node_attribute, c->node_attributes.n + 1);
    int r = list ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < c->node_attributes.n; i++) {
        list[i].name = c->node_attributes.pairs[i].name;
        r = split_values(c->node_attributes.pairs[i].value, a, &list[i]);
    }
    ret->attributes = list;
    ret->n_attributes = c->node_attributes.n;
    return r;
}

static int translate(const struct svc_constraint *c, struct sv_arena *a, struct cli_constraint *ret)
{
    static const enum cli_constraint_type types[] = {
        [SVC_AFFINITY] = CLI_AFFINITY,
        [SVC_ANTI_AFFINITY] = CLI_ANTI_AFFINITY,
        [SVC_CARDINALITY] = CLI_CARDINALITY,
    };

    *ret = (struct cli_constraint){
        .type = types[c->type],
        .scope = c->scope == SVC_SCOPE_RACK ? CLI_SCOPE_RACK : CLI_SCOPE_NODE,
        .tags = c->target_tags,
        .n_tags = c->n_target_tags,
        .partitions = c->node_partitions,
        .n_partitions = c->n_node_partitions,
        .min = c->min_cardinality < 0 ? 0 : (int32_t)SV_MIN(c->min_cardinality, INT32_MAX),
        .max = c->max_cardinality < 0 ? -1 : (int32_t)SV_MIN(c->max_cardinality, INT32_MAX),
    };
    return attributes(c, a, ret);
}

int svc_placement(const struct svc_component *c, struct sv_arena *a,
                  const struct cli_constraint **ret, struct sv_error *err)
{
    struct cli_constraint *list = sv_newn(a, struct cli_constraint, c->n_constraints + 1);
    int r = list ? 0 : -ENOMEM;

    *ret = NULL;
    for (size_t i = 0; r == 0 && i < c->n_constraints; i++)
        r = translate(&c->constraints[i], a, &list[i + 1]);
    if (r < 0)
        return sv_error_errno(err, r, "component %s: constraints", c->name);
    if (c->n_constraints == 0)
        return 0;
    list[0] = (struct cli_constraint){ .type = CLI_AND,
                                       .children = list + 1,
                                       .n_children = c->n_constraints };
    *ret = c->n_constraints == 1 ? list + 1 : list;
    r = cli_constraint_check(*ret, err);
    return r < 0 ? sv_error_wrap(err, "component %s", c->name) : 0;
}
