/* See model.h. */
#include "service/engine/model.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "service/engine/policy.h"

#define TEXT_MAX 512 /* bytes of a container's diagnostics, which are the application's */

void svc_set_text(char **text, const char *value)
{
    free(*text);
    *text = value && *value ? strndup(value, TEXT_MAX) : NULL;
    if (value && *value && !*text)
        sv_out_of_memory();
}

void svc_dirty(struct svc_comp *c)
{
    if (c->dirty)
        return;
    c->dirty = true;
    DL_APPEND2(c->engine->dirty, c, d_prev, d_next);
}

struct svc_comp *svc_comp_named(const struct svc_engine *e, const char *name)
{
    struct svc_comp *c;

    HASH_FIND_STR(e->by_name, name, c);
    return c;
}

/* "<component>-<number>" without leading zeros. */
struct svc_comp *svc_name_split(const struct svc_engine *e, const char *name, uint32_t *ret_number)
{
    const char *dash = strrchr(name, '-');
    char component[64];
    uint64_t number;

    if (!dash || (size_t)(dash - name) >= sizeof(component) || (dash[1] == '0' && dash[2]) ||
        sv_parse_u64(dash + 1, 0, SVC_NUMBERS_MAX - 1, &number) < 0)
        return NULL;
    memcpy(component, name, (size_t)(dash - name));
    component[dash - name] = '\0';
    *ret_number = (uint32_t)number;
    return svc_comp_named(e, component);
}

struct svc_inst *svc_inst_named(const struct svc_engine *e, const char *name)
{
    uint32_t number;
    struct svc_comp *c = svc_name_split(e, name, &number);

    return c && number < c->n_slots ? c->slots[number] : NULL;
}

/* ---- lists -----------------------------------------------------------------------------------*/

static void unlist(struct svc_inst *i)
{
    struct svc_list *l = &i->comp->lists[i->list];

    DL_DELETE(l->head, i);
    l->n--;
}

static void enlist(struct svc_inst *i, enum svc_list_kind to)
{
    struct svc_list *l = &i->comp->lists[to];

    i->list = (uint8_t)to;
    DL_APPEND(l->head, i);
    l->n++;
}

static void tell_moved(struct svc_inst *i, int from, int to)
{
    const struct svc_policy *p = i->comp->engine->policy;

    if (p->moved)
        p->moved(i, from, to);
}

void svc_move(struct svc_inst *i, enum svc_list_kind to)
{
    int from = i->list;

    unlist(i);
    enlist(i, to);
    svc_dirty(i->comp);
    tell_moved(i, from, (int)to);
}

void svc_list_version(struct svc_inst *i, struct svc_list *to)
{
    if (i->versions) {
        DL_DELETE2(i->versions->head, i, v_prev, v_next);
        i->versions->n--;
    }
    i->versions = to;
    if (to) {
        DL_APPEND2(to->head, i, v_prev, v_next);
        to->n++;
    }
}

/* ---- instances -------------------------------------------------------------------------------*/

static void make_room(struct svc_comp *c, size_t number)
{
    size_t n = c->n_slots ? c->n_slots : 8;

    if (number < c->n_slots)
        return;
    while (n <= number)
        n *= 2;
    c->slots = reallocarray(c->slots, n, sizeof(*c->slots));
    if (!c->slots)
        sv_out_of_memory();
    memset(c->slots + c->n_slots, 0, (n - c->n_slots) * sizeof(*c->slots));
    c->n_slots = n;
}

static struct svc_inst *make(struct svc_comp *c, uint32_t number)
{
    struct svc_inst *i = calloc(1, sizeof(*i));

    if (!i)
        sv_out_of_memory();
    i->comp = c;
    i->number = number;
    i->state = SVC_INSTANCE_INIT;
    (void)snprintf(i->name, sizeof(i->name), "%.63s-%u", c->name, number);
    make_room(c, number);
    c->slots[number] = i;
    enlist(i, SVC_PENDING);
    c->high = SV_MAX(c->high, (size_t)number + 1);
    svc_dirty(c);
    tell_moved(i, -1, SVC_PENDING);
    return i;
}

/* It was removed while its container ends, and is wanted again. */
static struct svc_inst *take_back(struct svc_inst *i)
{
    svc_move(i, SVC_RESTARTING);
    i->taken_back = true;
    i->comp->high = SV_MAX(i->comp->high, (size_t)i->number + 1);
    return i;
}

struct svc_inst *svc_inst_new(struct svc_comp *c)
{
    uint32_t number;

    while (svc_number_take(&c->numbers, &number) >= 0) {
        struct svc_inst *i = number < c->n_slots ? c->slots[number] : NULL;

        if (!i)
            return make(c, number);
        if (!svc_is_wanted(i))
            return take_back(i);
        /* A recovered one took the number while it was among the free ones. */
    }
    return NULL;
}

struct svc_inst *svc_inst_at(struct svc_comp *c, uint32_t number)
{
    struct svc_inst *i = number < c->n_slots ? c->slots[number] : NULL;

    if (i || number >= SVC_NUMBERS_MAX || svc_number_is_retired(&c->numbers, number))
        return i;
    svc_number_take_at(&c->numbers, number);
    return make(c, number);
}

void svc_inst_remove(struct svc_inst *i)
{
    struct svc_comp *c = i->comp;

    svc_list_version(i, NULL);
    unlist(i);
    c->slots[i->number] = NULL;
    svc_dirty(c);
    tell_moved(i, i->list, -1);
    i->next = c->engine->dead;
    c->engine->dead = i;
}

void svc_inst_free(struct svc_inst *i)
{
    free(i->task);
    free(i->decided);
    free(i->diagnostics);
    free(i);
}

void svc_bury(struct svc_engine *e)
{
    while (e->dead) {
        struct svc_inst *i = e->dead;

        e->dead = i->next;
        svc_inst_free(i);
    }
}

/* ---- containers ------------------------------------------------------------------------------*/

static void key_of(const struct yarn_container_id *id, int64_t *key)
{
    key[0] = id->attempt.app.cluster_ts;
    key[1] =
        (int64_t)((uint64_t)(uint32_t)id->attempt.app.id << 32 | (uint32_t)id->attempt.attempt);
    key[2] = id->id;
}

struct yarn_container_id svc_container_id(const struct svc_container *c)
{
    uint64_t both = (uint64_t)c->key[1];

    return (struct yarn_container_id){
        .attempt = { .app = { .cluster_ts = c->key[0], .id = (int32_t)(uint32_t)(both >> 32) },
                     .attempt = (int32_t)(uint32_t)both },
        .id = c->key[2],
    };
}

static void populate(struct svc_engine *e, struct svc_node *n, int more)
{
    n->live += more;
    if (e->policy->populated)
        e->policy->populated(e, n);
}

void svc_container_add(struct svc_engine *e, struct svc_container *c,
                       const struct yarn_container_id *id, struct svc_node *node, int32_t port)
{
    key_of(id, c->key);
    c->node = node;
    c->port = port;
    HASH_ADD(hh, e->containers, key, sizeof(c->key), c);
    if (!c->inst) {
        DL_APPEND(e->surplus, c);
        return;
    }
    e->n_containers++;
    populate(e, node, 1);
}

void svc_container_remove(struct svc_engine *e, struct svc_container *c)
{
    HASH_DEL(e->containers, c);
    if (c->inst) {
        e->n_containers--;
        populate(e, c->node, -1);
    } else {
        DL_DELETE(e->surplus, c);
        free(c);
    }
}

struct svc_container *svc_container_find(const struct svc_engine *e,
                                         const struct yarn_container_id *id)
{
    struct svc_container *c;
    int64_t key[3];

    key_of(id, key);
    HASH_FIND(hh, e->containers, key, sizeof(key), c);
    return c;
}

struct svc_op *svc_container_op(struct svc_engine *e, enum svc_op_type type,
                                const struct svc_container *c)
{
    struct svc_op *op = svc_op_add(&e->ops, type);

    op->container = svc_container_id(c);
    op->host = c->node->host;
    op->port = c->port;
    if (c->inst) {
        op->instance = c->inst->name;
        op->component = svc_spec_of(c->inst)->component;
    }
    return op;
}
