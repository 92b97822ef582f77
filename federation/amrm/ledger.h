/* The book of a split by locality: which rows each member gets, and how many located containers of
 * each allocation request id, by which the rows for any place are shared out. */
#ifndef SELVEDGE_FEDERATION_AMRM_LEDGER_H
#define SELVEDGE_FEDERATION_AMRM_LEDGER_H

#include "federation/amrm/asks.h"
#include "federation/hash.h"

struct fed_share { /* of one id in one member */
    struct fed_share_key {
        int64_t id;
        int64_t target;
    } key;
    int64_t located;        /* containers of rows for nodes */
    bool solid;             /* it has a row of the id that is not a rack's */
    struct fed_share *next; /* in the id's list, by target; those with located > 0 */
    UT_hash_handle hh;
};

struct fed_request_id {
    int64_t id;
    int64_t located;    /* of all members */
    int64_t unknown_to; /* the member drawn for places that no list knows; -1: none yet */
    struct fed_share *shares;
    UT_hash_handle hh;
};

struct fed_ledger;
int fed_ledger_new(struct sv_arena *a, size_t n_targets, struct fed_ledger **ret) _must_use_;
/* Frees its tables; the rest is the arena's. */
void fed_ledger_freep(struct fed_ledger **l);

/* NULL: out of memory. */
struct fed_request_id *fed_ledger_id(struct fed_ledger *l, int64_t id);
/* All: -ENOMEM, or -E2BIG above FED_PLACED_MAX. */
int fed_ledger_put_node(struct fed_ledger *l, size_t target,
                        Hadoop__Yarn__ResourceRequestProto *row) _must_use_;
int fed_ledger_put_rack(struct fed_ledger *l, size_t target,
                        Hadoop__Yarn__ResourceRequestProto *row) _must_use_;
int fed_ledger_put_any(struct fed_ledger *l, size_t target, Hadoop__Yarn__ResourceRequestProto *row)
    _must_use_;
size_t fed_ledger_count(const struct fed_ledger *l); /* rows that were put */
/* The rows of each member, without the rack rows of ids of which it has no other row: ret[n]. 0:
 * done; FED_MORE; -ENOMEM. No row is put once it was called. */
int fed_ledger_close(struct fed_ledger *l, struct fed_budget *b, struct fed_asks *ret) _must_use_;

#endif
