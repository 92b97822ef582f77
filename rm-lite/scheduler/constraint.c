/* Reads a placement constraint (PlacementConstraintProto) into a tree. ApplicationMasters send
 * them: depth, number of constraints, values and the length of each are bounded in scheduler.h.
 * Pure; Hadoop: PlacementConstraintFromProtoConverter, TargetApplicationsNamespace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/scheduler/scheduler-impl.h"

#define PARTITION "yarn_node_partition/"
#define CENTRAL "rm.yarn.io/" /* prefix of an attribute that is named without one */

#define TARGET(x) HADOOP__YARN__PLACEMENT_CONSTRAINT_TARGET_PROTO__TARGET_TYPE__##x
#define COMPOSITE(x) HADOOP__YARN__COMPOSITE_PLACEMENT_CONSTRAINT_PROTO__COMPOSITE_TYPE__##x
#define OPERATION(x) HADOOP__YARN__NODE_ATTRIBUTE_OP_CODE_PROTO__##x

typedef Hadoop__Yarn__PlacementConstraintProto Tree;
typedef Hadoop__Yarn__SimplePlacementConstraintProto Simple;
typedef Hadoop__Yarn__CompositePlacementConstraintProto Composite;
typedef Hadoop__Yarn__PlacementConstraintTargetProto Target;

struct reading {
    struct rm_sched *s;
    size_t n_constraints, n_values;
    struct sv_error *err;
};

static int bad_name(struct reading *r, const char *what, const char *name)
{
    size_t len = strlen(name);

    if (len == 0)
        return sv_error_set(r->err, -EINVAL, "placement constraint: %s is empty", what);
    if (len > RM_TAG_BYTES)
        return sv_error_set(r->err, -E2BIG,
                            "placement constraint: %s has %zu bytes, more than %d: %.40s...", what,
                            len, RM_TAG_BYTES, name);
    return 0;
}

/* ------------------------------------------------------------------- namespaces */

/* Splits "PREFIX" or "PREFIX/VALUE"; further and repeated slashes separate nothing. */
static int split(const char *key, char prefix[16], char value[RM_TAG_BYTES + 1])
{
    size_t n;

    *value = 0;
    key += strspn(key, "/");
    n = strcspn(key, "/");
    if (n == 0 || n >= 16)
        return -EINVAL;
    memcpy(prefix, key, n);
    prefix[n] = 0;
    key += n + strspn(key + n, "/");
    n = strcspn(key, "/");
    if (n > RM_TAG_BYTES || key[n + strspn(key + n, "/")])
        return -EINVAL;
    memcpy(value, key, n);
    value[n] = 0;
    return 0;
}

static int read_namespace(struct reading *r, const char *key, struct rm_target *t)
{
    static const char *const names[] = { [RM_NS_SELF] = "self",
                                         [RM_NS_NOT_SELF] = "not-self",
                                         [RM_NS_ALL] = "all",
                                         [RM_NS_APP_ID] = "app-id",
                                         [RM_NS_APP_TAG] = "app-tag" };
    char prefix[16], value[RM_TAG_BYTES + 1];
    size_t ns = 0;

    t->ns = RM_NS_SELF;
    if (!key || !*key)
        return 0;
    if (split(key, prefix, value) < 0)
        return sv_error_set(r->err, -EINVAL,
                            "placement constraint: invalid namespace %.64s: it is PREFIX or "
                            "PREFIX/VALUE",
                            key);
    while (ns < SV_ARRAY_LEN(names) && !sv_streq(names[ns], prefix))
        ns++;
    if (ns == SV_ARRAY_LEN(names))
        return sv_error_set(r->err, -EINVAL,
                            "placement constraint: invalid namespace prefix %s: valid are self, "
                            "not-self, all, app-id, app-tag",
                            prefix);
    t->ns = (enum rm_namespace)ns;
    if (t->ns == RM_NS_APP_ID && yarn_app_id_parse(value, &t->app) < 0)
        return sv_error_set(r->err, -EINVAL,
                            "placement constraint: invalid application ID in namespace %.64s", key);
    if (t->ns == RM_NS_APP_TAG && !*value)
        return sv_error_set(r->err, -EINVAL,
                            "placement constraint: no application tag in namespace %.64s", key);
    if (t->ns == RM_NS_APP_TAG)
        t->app_tag = rm_word_get(r->s, value);
    return 0;
}

/* ---------------------------------------------------------------------- targets */

static int read_values(struct reading *r, const char *what, const Target *m, struct rm_target *t)
{
    r->n_values += m->n_targetvalues;
    if (r->n_values > RM_CONSTRAINT_VALUES)
        return sv_error_set(r->err, -E2BIG,
                            "placement constraint: more than %d tags and values of attributes",
                            RM_CONSTRAINT_VALUES);
    t->words = calloc(m->n_targetvalues + 1, sizeof(struct rm_word *));
    if (!t->words)
        sv_out_of_memory();
    for (size_t i = 0; i < m->n_targetvalues; i++) {
        int q = bad_name(r, what, m->targetvalues[i]);

        if (q < 0)
            return q;
        t->words[t->n_words++] = rm_word_get(r->s, m->targetvalues[i]);
    }
    return 0;
}

static int read_attribute(struct reading *r, const Target *m, struct rm_target *t)
{
    char name[sizeof(CENTRAL) + RM_TAG_BYTES];
    int q = bad_name(r, "the name of an attribute", m->targetkey ? m->targetkey : "");

    if (q < 0)
        return q;
    if (sv_streq(m->targetkey, PARTITION)) {
        t->kind = RM_TARGET_PARTITION;
        if (m->n_targetvalues > 1)
            return sv_error_set(r->err, -EINVAL,
                                "placement constraint: %zu node partitions in one target, more "
                                "than 1",
                                m->n_targetvalues);
        /* An empty value is the default partition, as none is. */
        if (m->n_targetvalues == 1 && !*m->targetvalues[0])
            return 0;
        return read_values(r, "a node partition", m, t);
    }
    t->kind = RM_TARGET_ATTRIBUTE;
    if (m->n_targetvalues == 0)
        return sv_error_set(r->err, -EINVAL,
                            "placement constraint: no value for the node attribute %s",
                            m->targetkey);
    (void)snprintf(name, sizeof(name), "%s%s", strchr(m->targetkey, '/') ? "" : CENTRAL,
                   m->targetkey);
    t->key = rm_word_get(r->s, name);
    return read_values(r, "a value of a node attribute", m, t);
}

static int read_target(struct reading *r, const Target *m, struct rm_target *t)
{
    int q;

    switch (m->targettype) {
    case TARGET(NODE_ATTRIBUTE):
        return read_attribute(r, m, t);
    case TARGET(SELF):
        t->kind = RM_TARGET_TAGS;
        t->own = true;
        r->n_values += RM_TAGS_MAX;
        return 0;
    case TARGET(ALLOCATION_TAG):
        t->kind = RM_TARGET_TAGS;
        if (m->n_targetvalues == 0)
            return sv_error_set(r->err, -EINVAL,
                                "placement constraint: a target of allocation tags names none");
        q = read_namespace(r, m->targetkey, t);
        return q < 0 ? q : read_values(r, "an allocation tag", m, t);
    default:
        return sv_error_set(r->err, -EINVAL, "placement constraint: a target of unknown type");
    }
}

/* --------------------------------------------------------------------- the tree */

static int read_simple(struct reading *r, const Simple *m, struct rm_constraint *c)
{
    c->kind = RM_CONSTRAINT_SIMPLE;
    c->rack = sv_streq(m->scope, "rack");
    c->min = m->mincardinality;
    c->max = m->maxcardinality;
    c->unequal = m->has_attributeopcode && m->attributeopcode == OPERATION(NE);
    if (!c->rack && !sv_streq(m->scope, "node"))
        return sv_error_set(r->err, -EINVAL,
                            "placement constraint: scope %.64s is neither node nor rack", m->scope);
    r->n_values += m->n_targetexpressions;
    if (r->n_values > RM_CONSTRAINT_VALUES)
        return sv_error_set(r->err, -E2BIG,
                            "placement constraint: more than %d targets, tags and values",
                            RM_CONSTRAINT_VALUES);
    c->targets = calloc(m->n_targetexpressions + 1, sizeof(*c->targets));
    if (!c->targets)
        sv_out_of_memory();
    for (size_t i = 0; i < m->n_targetexpressions; i++) {
        int q = read_target(r, m->targetexpressions[i], &c->targets[c->n_targets++]);

        if (q < 0)
            return q;
        if (c->targets[i].kind == RM_TARGET_TAGS && (c->max < 0 || c->min > c->max))
            return sv_error_set(r->err, -EINVAL,
                                "placement constraint: no number is between the minimum %d and the "
                                "maximum %d",
                                c->min, c->max);
    }
    return 0;
}

static int read_tree(struct reading *r, const Tree *m, int depth, struct rm_constraint *c);

static int read_composite(struct reading *r, const Composite *m, int depth, struct rm_constraint *c)
{
    bool delayed = m->compositetype == COMPOSITE(DELAYED_OR);
    size_t n = delayed ? m->n_timedchildconstraints : m->n_childconstraints;

    if (!delayed && m->compositetype != COMPOSITE(AND) && m->compositetype != COMPOSITE(OR))
        return sv_error_set(r->err, -EINVAL, "placement constraint: one of unknown type");
    c->kind = delayed                              ? RM_CONSTRAINT_NEVER
              : m->compositetype == COMPOSITE(AND) ? RM_CONSTRAINT_AND
                                                   : RM_CONSTRAINT_OR;
    if (n > RM_CONSTRAINT_NODES)
        return sv_error_set(r->err, -E2BIG, "placement constraint: more than %d in one",
                            RM_CONSTRAINT_NODES);
    c->children = calloc(n + 1, sizeof(*c->children));
    if (!c->children)
        sv_out_of_memory();
    for (size_t i = 0; i < n; i++) {
        const Tree *child =
            delayed ? m->timedchildconstraints[i]->placementconstraint : m->childconstraints[i];
        int q = read_tree(r, child, depth + 1, &c->children[c->n_children++]);

        if (q < 0)
            return q;
    }
    return 0;
}

static int read_tree(struct reading *r, const Tree *m, int depth, struct rm_constraint *c)
{
    if (!m || !m->simpleconstraint == !m->compositeconstraint)
        return sv_error_set(r->err, -EINVAL,
                            "placement constraint: it is not either simple or composite");
    if (depth > RM_CONSTRAINT_DEPTH)
        return sv_error_set(r->err, -E2BIG, "placement constraint: nested deeper than %d",
                            RM_CONSTRAINT_DEPTH);
    if (++r->n_constraints > RM_CONSTRAINT_NODES)
        return sv_error_set(r->err, -E2BIG, "placement constraint: more than %d in one",
                            RM_CONSTRAINT_NODES);
    return m->simpleconstraint ? read_simple(r, m->simpleconstraint, c)
                               : read_composite(r, m->compositeconstraint, depth, c);
}

static void target_clear(struct rm_sched *s, struct rm_target *t)
{
    rm_word_put(s, t->app_tag);
    rm_word_put(s, t->key);
    for (size_t i = 0; i < t->n_words; i++)
        rm_word_put(s, t->words[i]);
    free(t->words);
}

/* Its depth is bounded: it was read. */
static void tree_clear(struct rm_sched *s, struct rm_constraint *c)
{
    for (size_t i = 0; i < c->n_targets; i++)
        target_clear(s, &c->targets[i]);
    for (size_t i = 0; i < c->n_children; i++)
        tree_clear(s, &c->children[i]);
    free(c->targets);
    free(c->children);
}

struct rm_constraint *rm_constraint_free(struct rm_sched *s, struct rm_constraint *c)
{
    if (!c)
        return NULL;
    tree_clear(s, c);
    free(c);
    return NULL;
}

int rm_constraint_read(struct rm_sched *s, const Tree *m, struct rm_constraint **ret,
                       struct sv_error *err)
{
    struct reading r = { .s = s, .err = err };
    struct rm_constraint *c = calloc(1, sizeof(*c));
    int q;

    if (!c)
        sv_out_of_memory();
    q = read_tree(&r, m, 1, c);
    if (q < 0) {
        rm_constraint_free(s, c);
        return q;
    }
    c->cost = (int64_t)(r.n_constraints + r.n_values);
    *ret = c;
    return 0;
}
