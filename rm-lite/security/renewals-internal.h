/* The tables of renewals.c and renewals-due.c. A token is in one of three places: in its service's
 * queue, when a call is due; in no list, while the call is open; or in the heap of times, until its
 * next renewal. */
#ifndef SELVEDGE_RM_LITE_SECURITY_RENEWALS_INTERNAL_H
#define SELVEDGE_RM_LITE_SECURITY_RENEWALS_INTERNAL_H

#include <uthash.h>
#include <utlist.h>

#include "rm-lite/security/renewals.h"

struct renewal_app_key {
    int64_t cluster_ts, id;
};

struct renewal_holder { /* an application that has a token */
    struct renewal_holder *prev, *next;
    struct renewal_app *app;
    struct rm_renewal *token;
};

struct renewal_service {
    UT_hash_handle hh;                   /* by name */
    struct renewal_service *prev, *next; /* those that take turns */
    bool in_turn;
    struct rm_renewal *queue;
    unsigned open;
    size_t n_tokens; /* a service is freed with its last one */
    char name[];
};

enum renewal_place { PLACE_NONE, PLACE_QUEUE, PLACE_OPEN, PLACE_HEAP };

struct rm_renewal {
    UT_hash_handle hh;              /* by key */
    struct rm_renewal *prev, *next; /* in the service's queue */
    struct rm_renewals *all;
    struct renewal_service *service;
    struct renewal_holder *holders; /* the first brought it */
    enum renewal_place place;
    size_t heap_at;
    int64_t due_ms, expires_ms;
    int64_t retry_ms;
    int tries_left;
    bool live; /* was renewed once, or is new */
    bool told; /* expires_ms is from a renewal */
    bool keep; /* not to be cancelled at the end */
    bool left; /* replaced by another: never to be cancelled */
    bool cancelling;
    bool failing;            /* the last renewal failed */
    void *kept;              /* the user's: rm_renewal_keep() */
    struct yarn_token token; /* points into `bytes` */
    size_t key_len;
    uint8_t bytes[]; /* kind, service, identifier (the key), password */
};

struct renewal_app {
    UT_hash_handle hh;
    struct renewal_app_key key;
    struct yarn_app_id id;
    struct renewal_holder *v; /* [n] */
    size_t n, n_waiting;      /* tokens that are not live yet */
    bool recovered, ended;
    int64_t until_ms;                /* of one that has ended */
    struct renewal_app *prev, *next; /* those that have ended */
};

struct rm_renewals {
    struct rm_renewals_settings settings;
    struct rm_renewals_ops ops;
    struct rm_renewal *tokens;
    struct renewal_app *apps, *ended;
    struct renewal_service *services, *turns;
    struct rm_renewal **heap;
    size_t n_heap, room_heap, open, failing;
    bool starting; /* inside of rm_renewals_start() */
    uint64_t renewed, failed, cancelled;
    int64_t now_ms;
};

/* ---- renewals-due.c ---- */

/* NULL: out of memory. It is freed with its last token. */
struct renewal_service *rm_renewal_service_of(struct rm_renewals *r, const char *name);
void rm_renewal_service_drop(struct rm_renewals *r, struct renewal_service *s);
/* Room for n tokens in the heap: -ENOMEM. */
int rm_renewals_reserve(struct rm_renewals *r, size_t n) _must_use_;
void rm_renewal_due_at(struct rm_renewal *t, int64_t due_ms);
void rm_renewal_due_now(struct rm_renewal *t);
/* Out of heap and queue. */
void rm_renewal_not_due(struct rm_renewal *t);
/* A call of the token has ended. */
void rm_renewal_closed(struct rm_renewal *t);
/* Begins calls while there may be more. */
void rm_renewals_start(struct rm_renewals *r);

#endif
