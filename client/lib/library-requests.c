/* See library.h: requests by name, locality and placement, and changes of containers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/library-internal.h"
#include "common/str.h"

/* ---- Constraints ---- */

struct copy {
    struct sv_arena *a;
    size_t n; /* parts so far */
};

static int constraint_of(struct copy *k, const struct selvedge_constraint *from, int depth,
                         struct cli_constraint *ret);

static int children_of(struct copy *k, const struct selvedge_constraint *from, int depth,
                       struct cli_constraint *ret)
{
    struct cli_constraint *list;
    size_t n = 0;

    while (from->children && from->children[n] && n <= CLI_CONSTRAINTS_MAX)
        n++;
    if (n > CLI_CONSTRAINTS_MAX)
        return -EINVAL;
    list = sv_newn(k->a, struct cli_constraint, n + 1);
    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        int r = constraint_of(k, from->children[i], depth + 1, &list[i]);

        if (r < 0)
            return r;
    }
    ret->children = list;
    ret->n_children = n;
    return 0;
}

/* Copies the shape; cli_constraint_check() has the rules. */
static int constraint_of(struct copy *k, const struct selvedge_constraint *from, int depth,
                         struct cli_constraint *ret)
{
    static const enum cli_constraint_type types[] = {
        [SELVEDGE_AFFINITY] = CLI_AFFINITY,
        [SELVEDGE_ANTI_AFFINITY] = CLI_ANTI_AFFINITY,
        [SELVEDGE_CARDINALITY] = CLI_CARDINALITY,
        [SELVEDGE_ALL_OF] = CLI_AND,
        [SELVEDGE_ANY_OF] = CLI_OR,
    };
    const char **partition;

    if (from->struct_size != sizeof(*from) || from->type < SELVEDGE_AFFINITY ||
        from->type > SELVEDGE_ANY_OF || depth > CLI_CONSTRAINT_DEPTH_MAX ||
        ++k->n > CLI_CONSTRAINTS_MAX)
        return -EINVAL;
    *ret = (struct cli_constraint){ .type = types[from->type],
                                    .scope = from->rack ? CLI_SCOPE_RACK : CLI_SCOPE_NODE,
                                    .tags = from->tags,
                                    .n_tags = sv_strv_len((char *const *)from->tags),
                                    .min = from->min,
                                    .max = from->max };
    if (from->partition) {
        partition = sv_newn(k->a, const char *, 1);
        if (!partition)
            return -ENOMEM;
        partition[0] = from->partition;
        ret->partitions = partition;
        ret->n_partitions = 1;
    }
    return children_of(k, from, depth, ret);
}

/* ---- Requests ---- */

static int place(struct cli_am *am, const struct selvedge_request *q, struct yarn_resource resource,
                 struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct cli_scheduling_request own = {
        .request_id = q->request_id,
        .priority = q->priority,
        .resource = resource,
        .count = q->count,
        .tags = q->tags,
        .n_tags = sv_strv_len((char *const *)q->tags),
    };
    struct copy k = { .a = a };
    struct cli_constraint constraint;
    int r;

    if (q->n_places || q->label || q->strict)
        return sv_error_set(err, -EINVAL,
                            "request: tags cannot be combined with places, strict or a label");
    if (!a)
        return sv_error_errno(err, -ENOMEM, "request");
    if (q->constraint) {
        r = constraint_of(&k, q->constraint, 0, &constraint);
        if (r == -EINVAL)
            return sv_error_set(err, r,
                                "request: the constraint is not made with SELVEDGE_CONSTRAINT, of "
                                "no known type, or too large");
        if (r < 0)
            return sv_error_errno(err, r, "request");
        own.constraint = &constraint;
    }
    return cli_am_schedule(am, &own, err);
}

static int ask(struct cli_am *am, const struct selvedge_request *q, struct yarn_resource resource,
               struct sv_error *err)
{
    _cleanup_free_ struct cli_locality *places = calloc(q->n_places + 1, sizeof(*places));
    const struct cli_ask own = {
        .request_id = q->request_id,
        .priority = q->priority,
        .resource = resource,
        .count = q->count,
        .places = places,
        .n_places = q->n_places,
        .strict = q->strict != 0,
        .label = q->label,
    };

    if (q->constraint)
        return sv_error_set(err, -EINVAL, "request: a constraint needs tags");
    if (!places)
        return sv_error_errno(err, -ENOMEM, "request");
    for (size_t i = 0; i < q->n_places; i++)
        places[i] = (struct cli_locality){ .host = q->places[i].host, .rack = q->places[i].rack };
    return cli_am_ask(am, &own, err);
}

int selvedge_am_request(selvedge_am handle, const struct selvedge_request *from,
                        struct selvedge_error *err)
{
    struct lib_am *a = cli_lib_am(handle);
    struct selvedge_request q = SELVEDGE_REQUEST;
    struct yarn_resource resource;
    struct sv_error own = { 0 };
    int r;

    if (!a)
        return -EBADF;
    if (!from || from->struct_size < offsetof(struct selvedge_request, resources) ||
        from->struct_size > sizeof(q))
        return -EINVAL;
    memcpy(&q, from, from->struct_size);
    if (q.n_places && !q.places)
        return -EINVAL;
    r = cli_lib_resource(q.memory_mb, q.vcores, q.resources, q.n_resources, &resource);
    if (r < 0)
        r = sv_error_set(&own, r, "request: a resource without a name, below 0, or too many types");
    else if (q.count > 0 && (q.memory_mb <= 0 || q.vcores <= 0))
        r = sv_error_set(&own, -EINVAL, "request: memory_mb and vcores are more than 0");
    else
        r = q.tags ? place(a->am, &q, resource, &own) : ask(a->am, &q, resource, &own);
    if (r < 0)
        (void)cli_lib_error(err, &own);
    return r;
}

int selvedge_am_cancel(selvedge_am handle, int32_t priority, int64_t request_id)
{
    struct lib_am *a = cli_lib_am(handle);

    return a ? cli_am_cancel(a->am, priority, request_id) : -EBADF;
}

int selvedge_am_blacklist(selvedge_am handle, const char *host, int on)
{
    struct lib_am *a = cli_lib_am(handle);

    if (!a)
        return -EBADF;
    return host ? cli_am_blacklist(a->am, host, on != 0) : -EINVAL;
}

/* ---- Containers ---- */

int selvedge_am_update(selvedge_am handle, const char *container, int64_t memory_mb, int32_t vcores)
{
    struct lib_am *a = cli_lib_am(handle);
    const struct cli_allocation *c;
    struct yarn_container_id id;
    struct yarn_resource wanted;
    bool more, less;

    if (!a)
        return -EBADF;
    if (!container || yarn_container_id_parse(container, &id) < 0 || memory_mb <= 0 || vcores <= 0)
        return -EINVAL;
    c = cli_am_container(a->am, id);
    if (!c)
        return -ENOENT;
    more = memory_mb > c->resource.memory_mb || vcores > c->resource.vcores;
    less = memory_mb < c->resource.memory_mb || vcores < c->resource.vcores;
    if (more == less)
        return -EINVAL;
    wanted = c->resource; /* other resources stay */
    wanted.memory_mb = memory_mb;
    wanted.vcores = vcores;
    return cli_am_update(a->am, id, more ? CLI_INCREASE : CLI_DECREASE, wanted);
}
