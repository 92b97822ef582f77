/* See placement.h: checks of a constraint, and its message. */
#include "client/lib/placement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/internal.h"
#include "common/str.h"
#include "proto/yarn.pb-c.h"

#define PARTITION_KEY "yarn_node_partition/" /* Hadoop's key of a target that means node labels */

/* ---- Check ---- */

struct check {
    char at[512]; /* path of the part, as "constraint.children[1]" */
    size_t n;     /* parts so far */
    struct sv_error *err;
};

static int bad(const struct check *k, const char *member, const char *rule)
{
    return sv_error_set(k->err, -EINVAL, "%s%s%s: %s", k->at, member ? "." : "",
                        member ? member : "", rule);
}

static int check_texts(const struct check *k, const char *member, const char *const *list, size_t n)
{
    if (n > CLI_CONSTRAINT_TEXTS_MAX)
        return bad(k, member, "at most 256 texts");
    if (n && !list)
        return bad(k, member, "the list is missing");
    for (size_t i = 0; i < n; i++)
        if (!list[i] || !*list[i] || strlen(list[i]) > CLI_CONSTRAINT_TEXT_MAX)
            return bad(k, member, "each text has 1 to 1024 bytes");
    return 0;
}

static int check_namespace(const struct check *k, const char *s)
{
    static const char *const names[] = { "self", "not-self", "all" };
    struct yarn_app_id id;

    if (!s)
        return 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (sv_streq(s, names[i]))
            return 0;
    if (strlen(s) > CLI_CONSTRAINT_TEXT_MAX)
        return bad(k, "tag_namespace", "at most 1024 bytes");
    if (sv_has_prefix(s, "app-id/") && yarn_app_id_parse(s + strlen("app-id/"), &id) == 0)
        return 0;
    if (sv_has_prefix(s, "app-tag/") && s[strlen("app-tag/")])
        return 0;
    return bad(k, "tag_namespace",
               "one of self, not-self, all, app-id/APPLICATION, app-tag/TAG of an application");
}

static int check_leaf(const struct check *k, const struct cli_constraint *c)
{
    int r = check_texts(k, "tags", c->tags, c->n_tags);

    if (r >= 0)
        r = check_texts(k, "partitions", c->partitions, c->n_partitions);
    if (r >= 0)
        r = check_namespace(k, c->tag_namespace);
    if (r >= 0 && c->n_attributes > CLI_CONSTRAINT_TEXTS_MAX)
        r = bad(k, "attributes", "at most 256");
    if (r >= 0 && c->n_attributes && !c->attributes)
        r = bad(k, "attributes", "the list is missing");
    for (size_t i = 0; r >= 0 && i < c->n_attributes; i++) {
        r = check_texts(k, "attributes.name", &c->attributes[i].name, 1);
        if (r >= 0)
            r = check_texts(k, "attributes.values", c->attributes[i].values,
                            c->attributes[i].n_values);
        if (r >= 0 && c->attributes[i].n_values == 0)
            r = bad(k, "attributes.values", "at least one value");
    }
    if (r < 0)
        return r;
    if (c->n_children)
        return bad(k, "children", "only AND and OR have them");
    if (c->n_tags + c->n_attributes + c->n_partitions == 0)
        return bad(k, NULL, "it names no tag, no attribute and no partition");
    if (c->scope != CLI_SCOPE_NODE && c->scope != CLI_SCOPE_RACK)
        return bad(k, "scope", "node or rack");
    if (c->type == CLI_CARDINALITY && (c->min < 0 || (c->max != -1 && c->max < c->min)))
        return bad(k, "min, max", "0 <= min <= max, or max -1 for no limit");
    return 0;
}

static int check_part(struct check *k, const struct cli_constraint *c, int depth)
{
    const size_t len = strlen(k->at);

    if (++k->n > CLI_CONSTRAINTS_MAX)
        return bad(k, NULL, "a constraint has at most 256 parts");
    if (c->type != CLI_AND && c->type != CLI_OR)
        return c->type == CLI_AFFINITY || c->type == CLI_ANTI_AFFINITY || c->type == CLI_CARDINALITY
                   ? check_leaf(k, c)
                   : bad(k, "type", "AFFINITY, ANTI_AFFINITY, CARDINALITY, AND or OR");
    if (depth == CLI_CONSTRAINT_DEPTH_MAX)
        return bad(k, NULL, "AND and OR nest at most 8 deep");
    if (c->n_children == 0 || !c->children)
        return bad(k, "children", "AND and OR have at least one");
    if (c->n_tags + c->n_attributes + c->n_partitions)
        return bad(k, NULL, "AND and OR have children alone, no tags, attributes or partitions");
    for (size_t i = 0; i < c->n_children; i++) {
        int r;

        (void)snprintf(k->at + len, sizeof(k->at) - len, ".children[%zu]", i);
        r = check_part(k, &c->children[i], depth + 1);
        if (r < 0)
            return r;
    }
    k->at[len] = '\0';
    return 0;
}

int cli_constraint_check(const struct cli_constraint *c, struct sv_error *err)
{
    struct check k = { .at = "constraint", .err = err };

    return check_part(&k, c, 0);
}

/* ---- Message ---- */

typedef Hadoop__Yarn__PlacementConstraintProto constraint;
typedef Hadoop__Yarn__SimplePlacementConstraintProto simple;
typedef Hadoop__Yarn__CompositePlacementConstraintProto composite;
typedef Hadoop__Yarn__PlacementConstraintTargetProto target;

char **cli_texts_to(struct sv_arena *a, const char *const *list, size_t n)
{
    char **copy = sv_newn(a, char *, n + 1);

    for (size_t i = 0; copy && i < n; i++)
        if (!(copy[i] = sv_arena_strdup(a, list[i])))
            return NULL;
    return copy;
}

static target *target_to(struct sv_arena *a, bool tags, const char *key, const char *const *values,
                         size_t n)
{
    target *t = sv_new(a, target);

    if (!t)
        return NULL;
    hadoop__yarn__placement_constraint_target_proto__init(t);
    t->targettype =
        tags ? HADOOP__YARN__PLACEMENT_CONSTRAINT_TARGET_PROTO__TARGET_TYPE__ALLOCATION_TAG
             : HADOOP__YARN__PLACEMENT_CONSTRAINT_TARGET_PROTO__TARGET_TYPE__NODE_ATTRIBUTE;
    if (key && !(t->targetkey = sv_arena_strdup(a, key)))
        return NULL;
    t->targetvalues = cli_texts_to(a, values, n);
    t->n_targetvalues = n;
    return t->targetvalues ? t : NULL;
}

static int targets_to(struct sv_arena *a, const struct cli_constraint *c, simple *m)
{
    m->targetexpressions = sv_newn(a, target *, c->n_attributes + 2);
    if (!m->targetexpressions)
        return -ENOMEM;
    for (size_t i = 0; i < c->n_attributes; i++)
        m->targetexpressions[m->n_targetexpressions++] = target_to(
            a, false, c->attributes[i].name, c->attributes[i].values, c->attributes[i].n_values);
    if (c->n_partitions)
        m->targetexpressions[m->n_targetexpressions++] =
            target_to(a, false, PARTITION_KEY, c->partitions, c->n_partitions);
    if (c->n_tags)
        m->targetexpressions[m->n_targetexpressions++] =
            target_to(a, true, c->tag_namespace, c->tags, c->n_tags);
    for (size_t i = 0; i < m->n_targetexpressions; i++)
        if (!m->targetexpressions[i])
            return -ENOMEM;
    return 0;
}

static simple *leaf_to(struct sv_arena *a, const struct cli_constraint *c)
{
    simple *m = sv_new(a, simple);

    if (!m)
        return NULL;
    hadoop__yarn__simple_placement_constraint_proto__init(m);
    m->scope = sv_arena_strdup(a, c->scope == CLI_SCOPE_RACK ? "rack" : "node");
    m->has_mincardinality = m->has_maxcardinality = true;
    m->mincardinality = c->type == CLI_AFFINITY ? 1 : c->type == CLI_ANTI_AFFINITY ? 0 : c->min;
    m->maxcardinality = c->type == CLI_AFFINITY        ? INT32_MAX
                        : c->type == CLI_ANTI_AFFINITY ? 0
                        : c->max == -1                 ? INT32_MAX
                                                       : c->max;
    /* Hadoop's schedulers accept no node for an attribute without an operator. */
    m->has_attributeopcode = c->n_attributes > 0;
    m->attributeopcode = c->type == CLI_ANTI_AFFINITY
                             ? HADOOP__YARN__NODE_ATTRIBUTE_OP_CODE_PROTO__NE
                             : HADOOP__YARN__NODE_ATTRIBUTE_OP_CODE_PROTO__EQ;
    return m->scope && targets_to(a, c, m) >= 0 ? m : NULL;
}

constraint *cli_constraint_to(struct sv_arena *a, const struct cli_constraint *c)
{
    constraint *m = sv_new(a, constraint);
    composite *all;

    if (!m)
        return NULL;
    hadoop__yarn__placement_constraint_proto__init(m);
    if (c->type != CLI_AND && c->type != CLI_OR) {
        m->simpleconstraint = leaf_to(a, c);
        return m->simpleconstraint ? m : NULL;
    }
    all = sv_new(a, composite);
    if (!all)
        return NULL;
    hadoop__yarn__composite_placement_constraint_proto__init(all);
    all->compositetype =
        c->type == CLI_AND ? HADOOP__YARN__COMPOSITE_PLACEMENT_CONSTRAINT_PROTO__COMPOSITE_TYPE__AND
                           : HADOOP__YARN__COMPOSITE_PLACEMENT_CONSTRAINT_PROTO__COMPOSITE_TYPE__OR;
    all->childconstraints = sv_newn(a, constraint *, c->n_children);
    if (!all->childconstraints)
        return NULL;
    for (; all->n_childconstraints < c->n_children; all->n_childconstraints++) {
        constraint *child = cli_constraint_to(a, &c->children[all->n_childconstraints]);

        if (!child)
            return NULL;
        all->childconstraints[all->n_childconstraints] = child;
    }
    m->compositeconstraint = all;
    return m;
}
