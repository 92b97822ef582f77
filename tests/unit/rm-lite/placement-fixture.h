/* SchedulingRequests and placement constraints as messages, in an arena of the test. */
#ifndef SELVEDGE_TESTS_UNIT_RM_LITE_PLACEMENT_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_RM_LITE_PLACEMENT_FIXTURE_H

#include <limits.h>
#include <stdarg.h>

#include "common/arena.h"
#include "proto/yarn.pb-c.h"
#include "wire/ids.h"

typedef Hadoop__Yarn__PlacementConstraintProto Constraint;
typedef Hadoop__Yarn__PlacementConstraintTargetProto Target;
typedef Hadoop__Yarn__SchedulingRequestProto Request;

#define TARGET(x) HADOOP__YARN__PLACEMENT_CONSTRAINT_TARGET_PROTO__TARGET_TYPE__##x
#define COMPOSITE(x) HADOOP__YARN__COMPOSITE_PLACEMENT_CONSTRAINT_PROTO__COMPOSITE_TYPE__##x

static inline Target *target(struct sv_arena *a, int type, const char *key, const char *value)
{
    Target *t = sv_new(a, Target);

    hadoop__yarn__placement_constraint_target_proto__init(t);
    t->targettype = (Hadoop__Yarn__PlacementConstraintTargetProto__TargetType)type;
    t->targetkey = key ? sv_arena_strdup(a, key) : NULL;
    t->targetvalues = sv_newn(a, char *, 1);
    if (value)
        t->targetvalues[t->n_targetvalues++] = sv_arena_strdup(a, value);
    return t;
}

static inline Constraint *simple(struct sv_arena *a, const char *scope, int min, int max,
                                 Target *one)
{
    Constraint *c = sv_new(a, Constraint);
    Hadoop__Yarn__SimplePlacementConstraintProto *s =
        sv_new(a, Hadoop__Yarn__SimplePlacementConstraintProto);

    hadoop__yarn__placement_constraint_proto__init(c);
    hadoop__yarn__simple_placement_constraint_proto__init(s);
    c->simpleconstraint = s;
    s->scope = sv_arena_strdup(a, scope);
    s->has_mincardinality = s->has_maxcardinality = true;
    s->mincardinality = min;
    s->maxcardinality = max;
    s->targetexpressions = sv_newn(a, Target *, 1);
    s->targetexpressions[s->n_targetexpressions++] = one;
    return c;
}

/* Between min and max containers with the tag, of the namespace; NULL: self. */
static inline Constraint *tags(struct sv_arena *a, const char *scope, int min, int max,
                               const char *ns, const char *tag)
{
    return simple(a, scope, min, max, target(a, TARGET(ALLOCATION_TAG), ns, tag));
}

static inline Constraint *away_from(struct sv_arena *a, const char *tag)
{
    return tags(a, "node", 0, 0, NULL, tag);
}

static inline Constraint *near(struct sv_arena *a, const char *tag)
{
    return tags(a, "node", 1, INT_MAX, NULL, tag);
}

/* The list of children ends with NULL. */
static inline Constraint *composite(struct sv_arena *a, int type, ...)
{
    Constraint *c = sv_new(a, Constraint), *child;
    Hadoop__Yarn__CompositePlacementConstraintProto *m =
        sv_new(a, Hadoop__Yarn__CompositePlacementConstraintProto);
    va_list ap;

    hadoop__yarn__placement_constraint_proto__init(c);
    hadoop__yarn__composite_placement_constraint_proto__init(m);
    c->compositeconstraint = m;
    m->compositetype = (Hadoop__Yarn__CompositePlacementConstraintProto__CompositeType)type;
    m->childconstraints = sv_newn(a, Constraint *, 128);
    va_start(ap, type);
    while ((child = va_arg(ap, Constraint *)))
        m->childconstraints[m->n_childconstraints++] = child;
    va_end(ap);
    return c;
}

/* Asks for containers of 1 GiB and one core, and at most one tag. */
static inline Request *request(struct sv_arena *a, int64_t id, int count, const char *tag,
                               Constraint *constraint)
{
    Request *q = sv_new(a, Request);
    Hadoop__Yarn__ResourceSizingProto *size = sv_new(a, Hadoop__Yarn__ResourceSizingProto);

    hadoop__yarn__scheduling_request_proto__init(q);
    hadoop__yarn__resource_sizing_proto__init(size);
    q->has_allocationrequestid = true;
    q->allocationrequestid = id;
    q->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    hadoop__yarn__priority_proto__init(q->priority);
    q->priority->has_priority = true;
    q->priority->priority = 1;
    q->resourcesizing = size;
    size->has_numallocations = true;
    size->numallocations = count;
    size->resources = yarn_resource_to(a, (struct yarn_resource){ 1024, 1, 0 });
    q->allocationtags = sv_newn(a, char *, 32);
    if (tag)
        q->allocationtags[q->n_allocationtags++] = sv_arena_strdup(a, tag);
    q->placementconstraint = constraint;
    return q;
}

static inline Hadoop__Yarn__PlacementConstraintMapEntryProto *
rule(struct sv_arena *a, const char *tag, Constraint *constraint)
{
    Hadoop__Yarn__PlacementConstraintMapEntryProto *m =
        sv_new(a, Hadoop__Yarn__PlacementConstraintMapEntryProto);

    hadoop__yarn__placement_constraint_map_entry_proto__init(m);
    m->allocation_tags = sv_newn(a, char *, 1);
    m->allocation_tags[m->n_allocation_tags++] = sv_arena_strdup(a, tag);
    m->placement_constraint = constraint;
    return m;
}

#endif
