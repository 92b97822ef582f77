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

/* ---- The table ---- */

static size_t item_bytes(const struct fed_item *it)
{
    return sizeof(*it) + strlen(it->key) + 1 + it->n_packed;
}

struct fed_item *fed_items_find(const struct fed_items *all, const char *head, const char *name)
{
    _cleanup_free_ char *key = NULL;
    struct fed_item *it = NULL;

    if (asprintf(&key, "%s %s", head, name) < 0)
        return NULL;
    HASH_FIND_STR(all->by_key, key, it);
    return it;
}

static struct fed_item *make_item(enum fed_item_kind kind, const char *head, const char *name)
{
    size_t n = strlen(head) + 1 + strlen(name);
    struct fed_item *it = calloc(1, sizeof(*it) + n + 1);

    if (!it)
        return NULL;
    it->kind = kind;
    (void)snprintf(it->key, n + 1, "%s %s", head, name);
    it->name = it->key + strlen(head) + 1;
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
    drop_empty(all, it->group);
}

static int add_item(struct fed_items *all, struct fed_item *it, const char *head)
{
    struct fed_item_group *g = NULL;

    if (it->kind == FED_ITEM_ASK) {
        g = get_group(all, head);
        if (!g)
            return -ENOMEM;
    }
    HASH_ADD_KEYPTR(hh, all->by_key, it->key, strlen(it->key), it);
    if (!it->hh.tbl) {
        if (g)
            drop_empty(all, g);
        return -ENOMEM;
    }
    it->group = g;
    if (g)
        DL_APPEND2(g->rows, it, prev_row, next_row);
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

    if (n > FED_RELAY_BYTES_MAX)
        return -E2BIG;
    *ret = malloc(n + 1);
    if (!*ret)
        return -ENOMEM;
    *ret_n = m ? protobuf_c_message_pack(m, *ret) : 0;
    return 0;
}

int fed_items_put(struct fed_items *all, enum fed_item_kind kind, const char *head,
                  const char *name, const ProtobufCMessage *m, struct fed_item **ret)
{
    struct fed_item *it = fed_items_find(all, head, name), *made = NULL;
    _cleanup_free_ uint8_t *packed = NULL;
    size_t n;
    int r = pack(m, &packed, &n);

    if (r == 0 && !it)
        it = made = make_item(kind, head, name);
    if (r == 0 && !it)
        r = -ENOMEM;
    if (r == 0 && ((made && all->n >= FED_RELAY_ITEMS_MAX) ||
                   all->bytes + (made ? item_bytes(made) : 0) + n > FED_RELAY_BYTES_MAX))
        r = -E2BIG;
    if (r == 0 && made)
        r = add_item(all, made, head);
    if (r < 0) {
        free(made);
        return r;
    }
    set_message(all, it, SV_TAKE(packed), n);
    fed_items_set_news(all, it);
    *ret = it;
    return 0;
}

void fed_items_set_news(struct fed_items *all, struct fed_item *it)
{
    if (!it->news)
        DL_APPEND(all->news, it);
    it->news = true;
}

void fed_items_set_told(struct fed_items *all, struct fed_item *it)
{
    if (it->news)
        DL_DELETE(all->news, it);
    it->news = false;
}

void fed_items_drop(struct fed_items *all, struct fed_item *it)
{
    fed_items_set_told(all, it);
    leave_group(all, it);
    HASH_DEL(all->by_key, it);
    all->n--;
    all->bytes -= item_bytes(it);
    free(it->packed);
    free(it);
}

void fed_items_drop_group(struct fed_items *all, struct fed_item *it)
{
    struct fed_item *row, *next;
    struct fed_item_group *g = it->group;

    for (row = g->rows; row; row = next) {
        next = row->next_row;
        fed_items_drop(all, row); /* the last one frees the group */
    }
}

void fed_items_clear(struct fed_items *all)
{
    struct fed_item *it, *next;

    HASH_ITER (hh, all->by_key, it, next)
        fed_items_drop(all, it);
}
