/* The things that a relay remembers, each by its key: a table, and the news in order. */
#ifndef SELVEDGE_FEDERATION_AMRM_RELAY_ITEMS_H
#define SELVEDGE_FEDERATION_AMRM_RELAY_ITEMS_H

#include <protobuf-c/protobuf-c.h>

#include "federation/hash.h"
#include "wire/ids.h"

enum fed_item_kind {
    FED_ITEM_ASK,        /* open while the master wants any */
    FED_ITEM_SCHEDULING, /* open until all is allocated or rejected */
    FED_ITEM_RELEASE,    /* open until the container has ended */
    FED_ITEM_UPDATE,     /* open until it is done, has failed, or the container has ended */
    FED_ITEM_NAME,       /* of the blacklist: open while it is in it */
};

struct fed_item_group { /* asks of one head: they end together */
    struct fed_item *rows;
    UT_hash_handle hh;
    char head[];
};

struct fed_item {
    enum fed_item_kind kind;
    int32_t count;   /* of containers still wanted */
    bool open;       /* told again after a restart */
    bool news;       /* in fed_items.news */
    uint8_t *packed; /* the message; of FED_ITEM_NAME none */
    size_t n_packed;
    struct fed_item *prev, *next;         /* in fed_items.news */
    struct fed_item_group *group;         /* of an ask */
    struct fed_item *prev_row, *next_row; /* in the group */
    UT_hash_handle hh;
    const char *name; /* in the key: of the place or node */
    char key[];
};

struct fed_items {
    struct fed_item *by_key, *news;
    struct fed_item_group *groups;
    size_t n, bytes;
};

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

/* The key is the head and the name. NULL: there is none, or out of memory. */
struct fed_item *fed_items_find(const struct fed_items *all, const char *head, const char *name);
/* Finds or makes the item and replaces its message (NULL: none); it is news. -E2BIG, -ENOMEM:
 * nothing has changed. */
int fed_items_put(struct fed_items *all, enum fed_item_kind kind, const char *head,
                  const char *name, const ProtobufCMessage *m, struct fed_item **ret) _must_use_;
void fed_items_set_news(struct fed_items *all, struct fed_item *it);
void fed_items_set_told(struct fed_items *all, struct fed_item *it);
void fed_items_drop(struct fed_items *all, struct fed_item *it);
/* Drops the ask and all of its group. */
void fed_items_drop_group(struct fed_items *all, struct fed_item *it);
void fed_items_clear(struct fed_items *all);

#endif
