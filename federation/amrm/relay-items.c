/* The table of a relay; see relay-items.h. Hostile: names and messages. */
#include "federation/amrm/relay-items.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "federation/amrm/relay.h"

/* ---- Keys ---- */

char *fed_item_ask_key(enum fed_item_kind kind, const struct fed_item_ask *ask,
                       char key[FED_ITEM_KEY])
{
    (void)snprintf(key, FED_ITEM_KEY, "%c %" PRId32 " %" PRId32 " %" PRId64,
                   kind == FED_ITEM_ASK ? 'a' : 's', ask->priority, ask->execution, ask->id);
    return key;
}

char *fed_item_container_key(enum fed_item_kind kind, struct yarn_container_id id,
                             char key[FED_ITEM_KEY])
{
    (void)snprintf(key, FED_ITEM_KEY, "%c %" PRId32 " %" PRId64,
                   kind == FED_ITEM_RELEASE ? 'r' : 'u', id.attempt.attempt, id.id);
    return key;
}

/* ---- Lists ---- */

static void unlink_from(struct fed_item_link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = l;
}

static void append(struct fed_item_link *head, struct fed_item_link *l)
{
    unlink_from(l);
    l->prev = head->prev;
    l->next = head;
    head->prev->next = l;
    head->prev = l;
}

/* Moves all of `from` behind the last one of `to`. */
static void join(struct fed_item_link *to, struct fed_item_link *from)
{
    if (from->next == from)
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    from->prev = from->next = from;
}

void fed_items_init(struct fed_items *all)
{
    *all = (struct fed_items){ .round = 1 };
    for (int i = 0; i < FED_ITEM_LISTS; i++)
        all->lists[i].prev = all->lists[i].next = &all->lists[i];
    all->movable.prev = all->movable.next = &all->movable;
}

bool fed_item_is_any(const struct fed_item *it)
{
    return it->kind == FED_ITEM_ASK && strcmp(it->name, "*") == 0;
}

struct fed_item *fed_items_first(const struct fed_items *all, enum fed_item_list list)
{
    const struct fed_item_link *head = &all->lists[list];

    return head->next == head ? NULL : (struct fed_item *)head->next;
}

struct fed_item *fed_items_first_movable(const struct fed_items *all)
{
    uint8_t *p = (uint8_t *)all->movable.next;

    return all->movable.next == &all->movable
               ? NULL
               : (struct fed_item *)(void *)(p - offsetof(struct fed_item, movable));
}

bool fed_items_is_news(const struct fed_items *all, const struct fed_item *it)
{
    return it->told != all->round;
}

void fed_items_set_news(struct fed_items *all, struct fed_item *it, bool open)
{
    bool is_there = it->link.next != &it->link && fed_items_is_news(all, it) && it->open == open;

    it->open = open;
    it->told = 0;
    if (!is_there)
        append(&all->lists[open ? FED_ITEMS_NEW : FED_ITEMS_CLOSED], &it->link);
    if (open && fed_item_is_any(it))
        append(&all->movable, &it->movable);
    else
        unlink_from(&it->movable);
}

void fed_items_set_sent(struct fed_items *all, struct fed_item *it)
{
    it->told = all->round;
    append(&all->lists[FED_ITEMS_SENT], &it->link);
}

void fed_items_set_told(struct fed_items *all, struct fed_item *it)
{
    it->told = all->round;
    append(&all->lists[FED_ITEMS_TOLD], &it->link);
}

void fed_items_set_staying(struct fed_item *it)
{
    unlink_from(&it->movable);
}

void fed_items_settle(struct fed_items *all)
{
    join(&all->lists[FED_ITEMS_TOLD], &all->lists[FED_ITEMS_SENT]);
}

void fed_items_renew(struct fed_items *all)
{
    fed_items_settle(all);
    join(&all->lists[FED_ITEMS_NEW], &all->lists[FED_ITEMS_TOLD]);
    all->round++;
}

/* ---- The table ---- */

static size_t item_bytes(const struct fed_item *it)
{
    return sizeof(*it) + strlen(it->key) + 1 + it->n_packed;
}

struct fed_item *fed_items_find(const struct fed_items *all, const char *head, const char *name)
{
    char key[FED_ITEM_KEY + FED_ITEM_NAME_MAX + 2];
    struct fed_item *it;
    int n = snprintf(key, sizeof(key), "%s %s", head, name);

    if (n < 0 || (size_t)n >= sizeof(key))
        return NULL;
    HASH_FIND(hh, all->by_key, key, (size_t)n, it);
    return it;
}

static struct fed_item *make_item(const struct fed_item_words *w)
{
    size_t n = strlen(w->head) + 1 + strlen(w->name);
    struct fed_item *it = calloc(1, sizeof(*it) + n + 1);

    if (!it)
        return NULL;
    it->link.prev = it->link.next = &it->link;
    it->movable.prev = it->movable.next = &it->movable;
    it->kind = w->kind;
    (void)snprintf(it->key, n + 1, "%s %s", w->head, w->name);
    it->name = it->key + strlen(w->head) + 1;
    return it;
}

/* ---- Groups ---- */

static struct fed_item_group *get_group(struct fed_items *all, const char *head)
{
    struct fed_item_group *g;
    size_t n = strlen(head);

    HASH_FIND_STR(all->groups, head, g);
    if (g)
        return g;
    g = calloc(1, sizeof(*g) + n + 1);
    if (!g)
        return NULL;
    memcpy(g->head, head, n + 1);
    HASH_ADD_KEYPTR(hh, all->groups, g->head, n, g);
    if (g->hh.tbl)
        return g;
    free(g);
    return NULL;
}

static void drop_empty(struct fed_items *all, struct fed_item_group *g)
{
    if (g->rows)
        return;
    HASH_DEL(all->groups, g);
    free(g);
}

static void leave_group(struct fed_items *all, struct fed_item *it)
{
    if (!it->group)
        return;
    DL_DELETE2(it->group->rows, it, prev_row, next_row);
    it->group->n--;
    drop_empty(all, it->group);
}

static int add_item(struct fed_items *all, struct fed_item *it, const char *head)
{
    struct fed_item_group *g = NULL;

    if (it->kind == FED_ITEM_ASK) {
        g = get_group(all, head);
        if (!g)
            return -ENOMEM;
        if (g->n >= FED_ITEM_GROUP_MAX)
            return -E2BIG;
    }
    HASH_ADD_KEYPTR(hh, all->by_key, it->key, strlen(it->key), it);
    if (!it->hh.tbl) {
        if (g)
            drop_empty(all, g);
        return -ENOMEM;
    }
    it->group = g;
    if (g) {
        DL_APPEND2(g->rows, it, prev_row, next_row);
        g->n++;
    }
    all->n++;
    all->bytes += item_bytes(it);
    return 0;
}

/* ---- Items ---- */

static void set_message(struct fed_items *all, struct fed_item *it, uint8_t *packed, size_t n)
{
    all->bytes += n;
    all->bytes -= it->n_packed;
    free(it->packed);
    it->packed = packed;
    it->n_packed = n;
}

static int pack(const ProtobufCMessage *m, uint8_t **ret, size_t *ret_n)
{
    size_t n = m ? protobuf_c_message_get_packed_size(m) : 0;

    if (n > FED_ITEM_MESSAGE_MAX)
        return -E2BIG;
    *ret = malloc(n + 1);
    if (!*ret)
        return -ENOMEM;
    *ret_n = m ? protobuf_c_message_pack(m, *ret) : 0;
    return 0;
}

/* Adds the item, or replaces its message if it is not `made`. */
static int put_item(struct fed_items *all, struct fed_item *it, bool made, const char *head,
                    size_t n_packed)
{
    if (made && all->n >= FED_RELAY_ITEMS_MAX)
        return -E2BIG;
    if (all->bytes + (made ? item_bytes(it) : 0) + n_packed > FED_RELAY_BYTES_MAX)
        return -E2BIG;
    return made ? add_item(all, it, head) : 0;
}

int fed_items_put(struct fed_items *all, const struct fed_item_words *w)
{
    struct fed_item *it, *made = NULL;
    _cleanup_free_ uint8_t *packed = NULL;
    size_t n;
    int r;

    if (strnlen(w->name, FED_ITEM_NAME_MAX + 1) > FED_ITEM_NAME_MAX)
        return -ENAMETOOLONG;
    r = pack(w->m, &packed, &n);
    if (r < 0)
        return r;
    it = fed_items_find(all, w->head, w->name);
    if (!it)
        it = made = make_item(w);
    if (!it)
        return -ENOMEM;
    r = put_item(all, it, made != NULL, w->head, n);
    if (r < 0) {
        free(made);
        return r;
    }
    set_message(all, it, SV_TAKE(packed), n);
    it->count = it->packed_count = w->count;
    fed_items_set_news(all, it, w->open);
    return 0;
}

void fed_items_drop(struct fed_items *all, struct fed_item *it)
{
    unlink_from(&it->link);
    unlink_from(&it->movable);
    leave_group(all, it);
    HASH_DEL(all->by_key, it);
    all->n--;
    all->bytes -= item_bytes(it);
    free(it->packed);
    free(it);
}

size_t fed_items_drop_group(struct fed_items *all, struct fed_item *it)
{
    struct fed_item *row, *next;
    struct fed_item_group *g = it->group;
    size_t n = g->n;

    for (row = g->rows; row; row = next) {
        next = row->next_row;
        fed_items_drop(all, row); /* the last one frees the group */
    }
    return n;
}

void fed_items_clear(struct fed_items *all)
{
    struct fed_item *it, *next;

    HASH_ITER (hh, all->by_key, it, next)
        fed_items_drop(all, it);
}
