/* A relay's memory: one item for each thing that a ResourceManager tells apart. Hostile:
 * names and messages, a master's; their number and bytes are bounded.
 *
 * An item is in one list. To be told: NEW while it is open, CLOSED once it only ends an earlier
 * one. Told: SENT in the request that is not answered yet, TOLD in an earlier one; those are open.
 */
#ifndef SELVEDGE_FEDERATION_AMRM_RELAY_ITEMS_H
#define SELVEDGE_FEDERATION_AMRM_RELAY_ITEMS_H

#include <protobuf-c/protobuf-c.h>

#include "federation/hash.h"
#include "wire/ids.h"

#define FED_ITEM_NAME_MAX 4096       /* bytes of a place's or node's name */
#define FED_ITEM_MESSAGE_MAX 1048576 /* and of a message */
/* Rows of one ask, its places: they end together, in one go, which takes some milliseconds. */
#define FED_ITEM_GROUP_MAX 32768

enum fed_item_kind {
    FED_ITEM_ASK,        /* a resource request: open until all of "*" is allocated */
    FED_ITEM_SCHEDULING, /* open until all is allocated or rejected */
    FED_ITEM_RELEASE,    /* open until the container has ended */
    FED_ITEM_UPDATE,     /* open until it is done, has failed, or the container has ended */
    FED_ITEM_NAME,       /* of the blacklist: open while it is in it */
};

enum fed_item_list {
    FED_ITEMS_NEW,
    FED_ITEMS_CLOSED,
    FED_ITEMS_SENT,
    FED_ITEMS_TOLD,
    FED_ITEM_LISTS,
};

struct fed_item_link { /* of a ring around its list's head */
    struct fed_item_link *prev, *next;
};

struct fed_item_group { /* asks of one head: they end together */
    struct fed_item *rows;
    size_t n;
    UT_hash_handle hh;
    char head[];
};

struct fed_item {
    struct fed_item_link link;    /* first */
    struct fed_item_link movable; /* an open ask for any place, in fed_items.movable; else alone */
    enum fed_item_kind kind;
    int32_t count;        /* of containers still wanted */
    int32_t packed_count; /* that the message says */
    bool open;            /* told again after a restart */
    uint32_t told;        /* the fed_items.round in which it was; another one: it is news */
    uint8_t *packed;      /* the message; of FED_ITEM_NAME none */
    size_t n_packed;
    struct fed_item_group *group;         /* of an ask */
    struct fed_item *prev_row, *next_row; /* in the group */
    UT_hash_handle hh;
    const char *name; /* in the key: of the place or node */
    char key[];
};

struct fed_items {
    struct fed_item *by_key;
    struct fed_item_group *groups;
    struct fed_item_link lists[FED_ITEM_LISTS], movable;
    uint32_t round; /* from 1 */
    size_t n, bytes;
};

/* Empties it; it must not move afterwards. */
void fed_items_init(struct fed_items *all);
void fed_items_clear(struct fed_items *all);

/* The head of a key, of FED_ITEM_KEY bytes. Returns it. */
#define FED_ITEM_KEY 96
struct fed_item_ask {            /* what a ResourceManager tells requests apart by */
    int32_t priority, execution; /* ExecutionTypeProto */
    int64_t id;                  /* allocation request id */
};
char *fed_item_ask_key(enum fed_item_kind kind, const struct fed_item_ask *ask,
                       char key[FED_ITEM_KEY]);
char *fed_item_container_key(enum fed_item_kind kind, struct yarn_container_id id,
                             char key[FED_ITEM_KEY]);
#define FED_ITEM_NAME_KEY "n"

bool fed_item_is_any(const struct fed_item *it); /* an ask for any place */
/* The first of a list, NULL: it is empty. */
struct fed_item *fed_items_first(const struct fed_items *all, enum fed_item_list list);
struct fed_item *fed_items_first_movable(const struct fed_items *all);
/* The key is the head and the name. NULL: there is none. */
struct fed_item *fed_items_find(const struct fed_items *all, const char *head, const char *name);

struct fed_item_words { /* of a master on an item */
    enum fed_item_kind kind;
    const char *head, *name;
    const ProtobufCMessage *m; /* NULL: none */
    int32_t count;
    bool open;
};
/* Finds or makes the item and replaces its message; it is news. -E2BIG, -ENAMETOOLONG, -ENOMEM:
 * nothing has changed. */
int fed_items_put(struct fed_items *all, const struct fed_item_words *w) _must_use_;

/* It is to be told. */
bool fed_items_is_news(const struct fed_items *all, const struct fed_item *it);
void fed_items_set_news(struct fed_items *all, struct fed_item *it, bool open);
/* It is in the request that goes out. */
void fed_items_set_sent(struct fed_items *all, struct fed_item *it);
void fed_items_set_told(struct fed_items *all, struct fed_item *it);
/* It is no longer in fed_items.movable until it is put again. */
void fed_items_set_staying(struct fed_item *it);
/* All that was sent is told; all that was told and sent is news again. Both take a moment, however
 * much there is. */
void fed_items_settle(struct fed_items *all);
void fed_items_renew(struct fed_items *all);

void fed_items_drop(struct fed_items *all, struct fed_item *it);
/* Drops the ask and all of its group; returns how many. */
size_t fed_items_drop_group(struct fed_items *all, struct fed_item *it);

#endif
