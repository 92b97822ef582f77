/* Names numbered in the order in which they first come. */
#ifndef SELVEDGE_ROUTER_NAMES_H
#define SELVEDGE_ROUTER_NAMES_H

#include <uthash.h>

#include "common/arena.h"

struct rtr_name {
    const char *text;
    size_t number;
    UT_hash_handle hh;
};
struct rtr_names {
    struct sv_arena *arena;
    struct rtr_name *by_text;
};

/* The name's number, as yet the count of them if it is a new one (*ret_new); -ENOMEM. The text is
 * borrowed. */
int rtr_names_number(struct rtr_names *n, const char *text, bool *ret_new) _must_use_;
void rtr_names_clear(struct rtr_names *n);

#endif
