/* SchedulingRequests as objects, the tags that containers have of them, and the constraints that an
 * application registers for a tag. Requests are ApplicationMasters'; the limits are in scheduler.h.
 * Pure; Hadoop: SingleConstraintAppPlacementAllocator, MemoryPlacementConstraintManager. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rm-lite/scheduler/scheduler-impl.h"

typedef Hadoop__Yarn__SchedulingRequestProto Request;

/* ------------------------------------------------------------------------- tags */

static bool has_tag(const struct rm_placement *p, const struct rm_word *w)
{
    for (size_t i = 0; i < p->n_tags; i++)
        if (p->tags[i] == w)
            return true;
    return false;
}

/* n <= RM_TAGS_MAX */
static void set_tags(struct rm_sched *s, struct rm_placement *p, char *const *tags, size_t n)
{
    p->tags = calloc(n + 1, sizeof(struct rm_word *));
    p->tag_names = calloc(n + 1, sizeof(const char *));
    if (!p->tags || !p->tag_names)
        sv_out_of_memory();
    for (size_t i = 0; i < n; i++) {
        struct rm_word *w = rm_word_get(s, tags[i]);

        if (has_tag(p, w)) {
            rm_word_put(s, w);
            continue;
        }
        p->tag_names[p->n_tags] = w->name;
        p->tags[p->n_tags++] = w;
    }
}

static int check_tags(const Request *m, struct sv_error *err)
{
    if (m->n_allocationtags > RM_TAGS_MAX)
        return sv_error_set(err, -E2BIG, "SchedulingRequest: %zu allocation tags, more than %d",
                            m->n_allocationtags, RM_TAGS_MAX);
    for (size_t i = 0; i < m->n_allocationtags; i++) {
        size_t len = strlen(m->allocationtags[i]);

        if (len == 0 || len > RM_TAG_BYTES)
            return sv_error_set(err, -EINVAL,
                                "SchedulingRequest: an allocation tag has %zu bytes, not 1 to %d",
                                len, RM_TAG_BYTES);
    }
    return 0;
}

/* ---------------------------------------------------------------------- objects */

static struct rm_placement *find(const struct rm_sched_app *app, const uint8_t *bytes, size_t len)
{
    struct rm_placement *p;

    HASH_FIND(hh, app->placements, bytes, len, p);
    return p;
}

static struct rm_placement *new (struct rm_sched_app *app, uint8_t *bytes, size_t len)
{
    struct rm_placement *p = calloc(1, sizeof(*p));

    if (!p)
        sv_out_of_memory();
    p->app = app;
    p->refs = 1;
    p->bytes = bytes;
    p->len = len;
    return p;
}

static void enter(struct rm_placement *p)
{
    p->app->placement_bytes += p->len;
    HASH_ADD_KEYPTR(hh, p->app->placements, p->bytes, p->len, p);
}

static void dispose(struct rm_sched *s, struct rm_placement *p)
{
    rm_constraint_free(s, p->constraint);
    for (size_t i = 0; i < p->n_tags; i++)
        rm_word_put(s, p->tags[i]);
    free(p->tags);
    free(p->tag_names);
    free(p->bytes);
    free(p);
}

void rm_placement_put(struct rm_sched *s, struct rm_placement *p)
{
    if (!p || --p->refs > 0)
        return;
    p->app->placement_bytes -= p->len;
    HASH_DELETE(hh, p->app->placements, p);
    dispose(s, p);
}

/* The request without its number of allocations: what makes two the same. */
static uint8_t *identity(const Request *m, size_t *ret_len)
{
    Hadoop__Yarn__ResourceSizingProto sizing = *m->resourcesizing;
    Request copy = *m;
    uint8_t *bytes;

    sizing.has_numallocations = false;
    copy.resourcesizing = &sizing;
    *ret_len = hadoop__yarn__scheduling_request_proto__get_packed_size(&copy);
    bytes = malloc(*ret_len + 1);
    if (!bytes)
        sv_out_of_memory();
    (void)hadoop__yarn__scheduling_request_proto__pack(&copy, bytes);
    return bytes;
}

/* Sums over all asks fit 64 bits. */
static bool within_int(struct rm_res r)
{
    bool in = r.mem <= INT32_MAX && r.vcores <= INT32_MAX;

    for (int i = 0; i < RM_RES_EXTRA; i++)
        in &= r.extra[i] <= INT32_MAX;
    return in;
}

static int fill(struct rm_sched *s, const Request *m, struct rm_placement *p, struct sv_error *err)
{
    int r = check_tags(m, err);

    if (r < 0)
        return r;
    p->request = true;
    p->key.priority = m->priority ? m->priority->priority : 0;
    p->key.allocation_id = m->allocationrequestid;
    if (rm_res_from(m->resourcesizing->resources, &p->capability) < 0 ||
        rm_res_is_zero(p->capability) || !within_int(p->capability))
        return sv_error_set(err, -EINVAL, "SchedulingRequest: its resources are not valid");
    if (m->placementconstraint)
        r = rm_constraint_read(s, m->placementconstraint, &p->constraint, err);
    if (r >= 0)
        set_tags(s, p, m->allocationtags, m->n_allocationtags);
    return r;
}

int rm_placement_read(struct rm_sched *s, struct rm_sched_app *app, const Request *m,
                      struct rm_placement **ret, struct sv_error *err)
{
    struct rm_placement *p;
    uint8_t *bytes;
    size_t len;
    int r;

    if (!m->resourcesizing || !m->resourcesizing->resources)
        return sv_error_set(err, -EINVAL,
                            "No ResourceSizing found in the scheduling request, please double "
                            "check");
    if (m->resourcesizing->numallocations < 0)
        return sv_error_set(err, -EINVAL,
                            "numAllocation in ResourceSizing field must be >= 0, updating "
                            "schedulingRequest failed.");
    bytes = identity(m, &len);
    p = find(app, bytes, len);
    if (p) {
        free(bytes);
        p->refs++;
        *ret = p;
        return 0;
    }
    p = new (app, bytes, len);
    r = fill(s, m, p, err);
    if (r >= 0 && app->placement_bytes + len > RM_PLACEMENT_BYTES)
        r = sv_error_set(err, -E2BIG,
                         "SchedulingRequest: the application's requests that wait or have "
                         "containers have more than %d bytes together",
                         RM_PLACEMENT_BYTES);
    if (r < 0) {
        dispose(s, p);
        return r;
    }
    enter(p);
    *ret = p;
    return 0;
}

struct rm_placement *rm_placement_of_tags(struct rm_sched *s, struct rm_sched_app *app,
                                          const char *const *tags, size_t n)
{
    Hadoop__Yarn__ResourceSizingProto sizing = HADOOP__YARN__RESOURCE_SIZING_PROTO__INIT;
    Request m = HADOOP__YARN__SCHEDULING_REQUEST_PROTO__INIT;
    struct rm_placement *p;
    uint8_t *bytes;
    size_t len;

    m.resourcesizing = &sizing; /* no request has none: the object is of recovered ones alone */
    m.allocationtags = (char **)(uintptr_t)tags;
    m.n_allocationtags = SV_MIN(n, (size_t)RM_TAGS_MAX);
    if (n == 0 || check_tags(&m, NULL) < 0 || !rm_tags_fit(app, m.n_allocationtags))
        return NULL;
    bytes = identity(&m, &len);
    p = find(app, bytes, len);
    if (p) {
        free(bytes);
        p->refs++;
        return p;
    }
    p = new (app, bytes, len);
    set_tags(s, p, m.allocationtags, m.n_allocationtags);
    enter(p);
    return p;
}

/* ------------------------------------------------------------------- containers */

void rm_placement_join(struct rm_sched *s, struct rm_sched_container *c, struct rm_placement *p)
{
    p->refs++;
    c->placement = p;
    c->placed = true;
    if (p->n_tags > 0)
        rm_tags_count(s, c, 1);
}

void rm_placement_leave(struct rm_sched *s, struct rm_sched_container *c)
{
    if (c->placement->n_tags > 0)
        rm_tags_count(s, c, -1);
    rm_placement_put(s, c->placement);
    c->placement = NULL;
    c->placed = false;
}

/* ------------------------------------------------------------------------ rules */

const struct rm_rule *rm_rule_of(const struct rm_placement *p)
{
    const struct rm_rule *rule = NULL;

    if (p->n_tags == 1)
        HASH_FIND_PTR(p->app->rules, &p->tags[0], rule);
    return rule;
}

struct rm_rule *rm_rule_free(struct rm_sched *s, struct rm_rule *rule)
{
    rm_constraint_free(s, rule->constraint);
    rm_word_put(s, rule->tag);
    free(rule);
    return NULL;
}

void rm_rules_free(struct rm_sched *s, struct rm_rule **rules)
{
    struct rm_rule *rule, *tmp;

    HASH_ITER (hh, *rules, rule, tmp) {
        HASH_DEL(*rules, rule);
        rm_rule_free(s, rule);
    }
}
