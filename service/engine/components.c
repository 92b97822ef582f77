/* See components.h. */
#include "service/engine/components.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/str.h"
#include "service/engine/nodes.h"

#define NAME_MAX_BYTES 63 /* a name is part of DNS names */

static ssize_t index_of(const struct svc_definition *d, const char *name)
{
    for (size_t i = 0; i < d->n_components; i++)
        if (sv_streq(d->components[i].name, name))
            return (ssize_t)i;
    return -1;
}

static int check_component(const struct svc_definition *d, size_t at, struct sv_error *err)
{
    const struct svc_component *c = &d->components[at];

    if (!c->name || !*c->name || strlen(c->name) > NAME_MAX_BYTES)
        return sv_error_set(err, -EINVAL, "components[%zu].name: 1 to %d bytes are allowed", at,
                            NAME_MAX_BYTES);
    if (index_of(d, c->name) != (ssize_t)at)
        return sv_error_set(err, -EINVAL, "components[%zu].name: \"%s\" is used twice", at,
                            c->name);
    if (c->count < 0 || c->count > SVC_INSTANCES_MAX)
        return sv_error_set(
            err, -EINVAL, "components[%zu].number_of_containers: %" PRId64 ": 0 to %d are allowed",
            at, c->count, SVC_INSTANCES_MAX);
    if (c->n_decommissioned > SVC_INSTANCES_MAX)
        return sv_error_set(err, -EINVAL,
                            "components[%zu].decommissioned_instances: %zu: at most %d", at,
                            c->n_decommissioned, SVC_INSTANCES_MAX);
    for (size_t i = 0; i < c->n_dependencies; i++)
        if (index_of(d, c->dependencies[i]) < 0)
            return sv_error_set(err, -EINVAL,
                                "components[%zu].dependencies: \"%s\" is no component", at,
                                c->dependencies[i]);
    return 0;
}

/* Depth first, without recursion: dependencies may form a chain of all components. Fills order[]
 * with dependencies first. */
static int sort(const struct svc_definition *d, size_t *order, struct sv_error *err)
{
    enum { NEW, OPEN, DONE } state[SVC_COMPONENTS_MAX] = { 0 };
    size_t stack[SVC_COMPONENTS_MAX], next[SVC_COMPONENTS_MAX], depth, n = 0;

    for (size_t root = 0; root < d->n_components; root++) {
        if (state[root] != NEW)
            continue;
        stack[0] = root;
        next[0] = 0;
        state[root] = OPEN;
        for (depth = 1; depth;) {
            size_t at = stack[depth - 1];
            const struct svc_component *c = &d->components[at];
            size_t to;

            if (next[depth - 1] == c->n_dependencies) {
                state[at] = DONE;
                order[n++] = at;
                depth--;
                continue;
            }
            to = (size_t)index_of(d, c->dependencies[next[depth - 1]++]);
            if (state[to] == OPEN)
                return sv_error_set(err, -EINVAL,
                                    "components[%zu].dependencies: \"%s\" depends on it in turn",
                                    at, d->components[to].name);
            if (state[to] == DONE)
                continue;
            state[to] = OPEN;
            stack[depth] = to;
            next[depth++] = 0;
        }
    }
    return 0;
}

int svc_components_check(const struct svc_definition *d, struct sv_error *err)
{
    size_t order[SVC_COMPONENTS_MAX];
    int64_t sum = 0;
    int r;

    if (d->n_components > SVC_COMPONENTS_MAX)
        return sv_error_set(err, -EINVAL, "components: %zu: at most %d are allowed",
                            d->n_components, SVC_COMPONENTS_MAX);
    for (size_t i = 0; i < d->n_components; i++) {
        r = check_component(d, i, err);
        if (r < 0)
            return r;
        sum += d->components[i].count;
    }
    if (sum > SVC_INSTANCES_MAX)
        return sv_error_set(err, -EINVAL,
                            "components: %" PRId64
                            " instances of all together: at most %d are allowed",
                            sum, SVC_INSTANCES_MAX);
    return sort(d, order, err);
}

struct svc_options svc_options_at(const struct svc_options *options, size_t i)
{
    return options ? options[i] : (struct svc_options)SVC_OPTIONS_DEFAULT;
}

static void retire_numbers(struct svc_engine *e, struct svc_comp *c)
{
    const struct svc_component *d = c->spec[0].component;

    for (size_t i = 0; i < d->n_decommissioned; i++) {
        uint32_t number;

        if (svc_name_split(e, d->decommissioned[i], &number) == c)
            svc_number_retire(&c->numbers, number);
    }
}

static void add(struct svc_engine *e, const struct svc_component *d, struct svc_options options)
{
    struct svc_comp *c = calloc(1, sizeof(*c));
    size_t n = e->n_comps + 1;

    e->comps = reallocarray(e->comps, n, sizeof(struct svc_comp *));
    e->order = reallocarray(e->order, n, sizeof(struct svc_comp *));
    if (!c || !e->comps || !e->order || !(c->name = strdup(d->name)))
        sv_out_of_memory();
    c->engine = e;
    c->rank = e->n_comps;
    c->index = e->n_comps;
    c->state = SVC_COMPONENT_INIT;
    c->spec[0] = (struct svc_spec){ .component = d, .options = options };
    c->target = d->count;
    e->comps[e->n_comps] = e->order[e->n_comps] = c;
    e->n_comps++;
    e->n_waiting++;
    HASH_ADD_KEYPTR(hh, e->by_name, c->name, strlen(c->name), c);
    retire_numbers(e, c);
    svc_dirty(c);
}

static void add_dependencies(struct svc_engine *e, struct svc_comp *c)
{
    const struct svc_component *d = c->spec[0].component;

    c->dependencies = calloc(d->n_dependencies + 1, sizeof(*c->dependencies));
    if (!c->dependencies)
        sv_out_of_memory();
    for (size_t i = 0; i < d->n_dependencies; i++)
        c->dependencies[c->n_dependencies++] = svc_comp_named(e, d->dependencies[i])->index;
}

void svc_components_add(struct svc_engine *e, const struct svc_definition *d,
                        const struct svc_options *options)
{
    size_t order[SVC_COMPONENTS_MAX], had = e->n_comps, at = e->n_comps;

    if (sort(d, order, NULL) < 0)
        return; /* svc_components_check() was called */
    for (size_t i = 0; i < d->n_components; i++)
        if (!svc_comp_named(e, d->components[i].name))
            add(e, &d->components[i], svc_options_at(options, i));
    for (size_t i = had; i < e->n_comps; i++)
        add_dependencies(e, e->comps[i]);
    for (size_t i = 0; i < d->n_components; i++) {
        struct svc_comp *c = svc_comp_named(e, d->components[order[i]].name);

        if (c->index < had)
            continue;
        c->rank = at;
        e->order[at++] = c;
    }
}

static void free_component(struct svc_comp *c)
{
    for (size_t i = 0; i < c->n_slots; i++)
        if (c->slots[i])
            svc_inst_free(c->slots[i]);
    free(c->slots);
    svc_numbers_free(&c->numbers);
    svc_entries_free(c);
    free(c->dependencies);
    free(c->reason);
    free(c->name);
    free(c);
}

void svc_components_free(struct svc_engine *e)
{
    HASH_CLEAR(hh, e->by_name);
    for (size_t i = 0; i < e->n_comps; i++)
        free_component(e->comps[i]);
    free(e->comps);
    free(e->order);
}
