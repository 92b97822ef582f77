/* Private declarations of the scheduler's SchedulingRequests: allocation tags and placement
 * constraints. Its files from the bottom to the top are words.c, constraint.c, allocation-tags.c,
 * placement.c and constraint-fits.c; placement-asks.c stands above asks.c. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_PLACEMENT_H
#define SELVEDGE_RM_LITE_SCHEDULER_PLACEMENT_H

#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/scheduler.h"

struct rm_ask_group;
struct rm_sched_app;
struct rm_sched_container;
struct rm_sched_node;

/* words.c: one copy of each tag, so that a tag is compared and looked up by its address. */
struct rm_word {
    char *name;
    int64_t refs;
    UT_hash_handle hh;
};
struct rm_word *rm_word_get(struct rm_sched *s, const char *name);        /* with a new reference */
struct rm_word *rm_word_find(const struct rm_sched *s, const char *name); /* NULL: nobody has it */
void rm_word_put(struct rm_sched *s, struct rm_word *w);

/* constraint.c */
enum rm_namespace { RM_NS_SELF, RM_NS_NOT_SELF, RM_NS_ALL, RM_NS_APP_ID, RM_NS_APP_TAG };

enum rm_target_kind { RM_TARGET_TAGS, RM_TARGET_PARTITION, RM_TARGET_ATTRIBUTE };

struct rm_target {
    enum rm_target_kind kind;
    enum rm_namespace ns;    /* of tags */
    bool own;                /* the tags of the request itself, not `words` */
    struct yarn_app_id app;  /* RM_NS_APP_ID */
    struct rm_word *app_tag; /* RM_NS_APP_TAG */
    struct rm_word *key;     /* name of the attribute, with its prefix */
    struct rm_word **words;  /* tags, the partition or values of the attribute */
    size_t n_words;
};

enum rm_constraint_kind {
    RM_CONSTRAINT_SIMPLE,
    RM_CONSTRAINT_AND,
    RM_CONSTRAINT_OR,
    RM_CONSTRAINT_NEVER /* DELAYED_OR */
};

struct rm_constraint {
    enum rm_constraint_kind kind;
    bool rack;    /* scope of the numbers of tags: the node's rack; else the node */
    bool unequal; /* the attribute must not have one of the values */
    int32_t min, max;
    struct rm_target *targets; /* all must be met */
    size_t n_targets;
    struct rm_constraint *children;
    size_t n_children;
    int64_t cost; /* of the root: constraints, targets and values of the tree */
};
/* -EINVAL, -E2BIG: the constraint is not one, or above the limits of scheduler.h. */
int rm_constraint_read(struct rm_sched *s, const Hadoop__Yarn__PlacementConstraintProto *m,
                       struct rm_constraint **ret, struct sv_error *err) _must_use_;
struct rm_constraint *rm_constraint_free(struct rm_sched *s, struct rm_constraint *c);

/* A SchedulingRequest without its number of allocations. It lives as long as the request
 * waits and as containers have its tags. A recovered container has one with tags alone. */
struct rm_placement {
    struct {
        int64_t priority, allocation_id;
    } key;
    struct rm_sched_app *app;
    int64_t refs;
    bool request;
    struct rm_res capability;
    struct rm_word **tags; /* each once */
    size_t n_tags;
    const char **tag_names;           /* ends with NULL */
    struct rm_constraint *constraint; /* or NULL */
    struct rm_ask_group *group;       /* the ask, while it waits */
    int64_t cost;                     /* while it waits: part of app->placed_cost */
    bool keyed;                       /* in app->placed_keys */
    bool fitted;                      /* a node satisfied it and had room, but a limit stopped it */
    int32_t attempts;                 /* RM_SCHED_ASK since the first with it */
    uint8_t *bytes;                   /* of the request without its number of allocations */
    size_t len;
    struct rm_placement *next_unplaced;
    UT_hash_handle hh; /* app->placements, by the bytes */
    UT_hash_handle hk; /* app->placed_keys */
};

struct rm_rule { /* constraint of all requests of an application whose only tag it is */
    struct rm_word *tag;
    struct rm_constraint *constraint;
    UT_hash_handle hh;
};

/* allocation-tags.c: the number of containers by owner, place and tag. Owners are the application,
 * each tag of the application, and the scheduler for all of them; places are the node and its
 * rack. */
struct rm_tag_count {
    struct {
        const void *owner, *place, *tag;
    } key;
    int64_t n;
    UT_hash_handle hh;
};
void rm_tags_count(struct rm_sched *s, const struct rm_sched_container *c, int more);
int64_t rm_tags_of(const struct rm_sched *s, const void *owner, const void *place,
                   const struct rm_word *tag);
bool rm_tags_fit(const struct rm_sched_app *app, size_t n); /* room for n more in its table */

/* placement.c */
/* With a new reference; the same object for the same request. */
int rm_placement_read(struct rm_sched *s, struct rm_sched_app *app,
                      const Hadoop__Yarn__SchedulingRequestProto *m, struct rm_placement **ret,
                      struct sv_error *err) _must_use_;
/* For a recovered container; NULL without tags. Tags above the limits are left out. */
struct rm_placement *rm_placement_of_tags(struct rm_sched *s, struct rm_sched_app *app,
                                          const char *const *tags, size_t n);
void rm_placement_put(struct rm_sched *s, struct rm_placement *p);
void rm_placement_join(struct rm_sched *s, struct rm_sched_container *c,
                       struct rm_placement *p); /* the container has its tags */
void rm_placement_leave(struct rm_sched *s, struct rm_sched_container *c);
struct rm_rule *rm_rule_free(struct rm_sched *s, struct rm_rule *rule);
void rm_rules_free(struct rm_sched *s, struct rm_rule **rules); /* leaves NULL */
const struct rm_rule *rm_rule_of(const struct rm_placement *p); /* NULL: none */

/* constraint-fits.c */
bool rm_placement_fits(struct rm_sched *s, const struct rm_placement *p,
                       const struct rm_sched_node *n);

/* placement-asks.c */
void rm_placements_forget(struct rm_sched *s); /* those of the last event's RM_DECIDE_UNPLACED */
int rm_placements_update(struct rm_sched *s, struct rm_sched_app *app, const struct rm_ev_ask *ev,
                         struct sv_error *err) _must_use_;
int rm_rules_update(struct rm_sched *s, struct rm_sched_app *app,
                    const struct rm_ev_constraints *ev, struct sv_error *err) _must_use_;

#endif
