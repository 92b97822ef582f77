/* One master's allocate request as one for each member. Pure. Hostile: the request.
 *
 * Resource requests by the policy; releases and updates to the member that the container is of;
 * blacklist changes to the member of the node, to all where no list knows the node; scheduling
 * requests, whose constraints hold inside one sub-cluster, to the home. */
#ifndef SELVEDGE_FEDERATION_AMRM_SPLIT_H
#define SELVEDGE_FEDERATION_AMRM_SPLIT_H

#include "federation/amrm/asks.h"
#include "wire/ids.h"

struct fed_part { /* of one member */
    /* Its request: always with progress and tracking URL, without a response id. Its lists may be
     * shared with the other parts. */
    Hadoop__Yarn__AllocateRequestProto *request;
    bool has_asks; /* with resource or scheduling requests: the member is to have a master */
};

struct fed_split_notes {
    size_t n_unowned; /* releases and updates of containers that no member has, dropped */
};

/* Index of the member that a container is of; negative: none. */
typedef int (*fed_owner)(void *userdata, struct yarn_container_id id);

struct fed_split; /* in the making, in the arena */

struct fed_splitting_of { /* outlives the split, but for what fed_asks_begin() copies */
    const struct fed_asking *in;
    const Hadoop__Yarn__AllocateRequestProto *m;
    fed_owner owner;
    void *userdata;
    struct sv_arena *arena;
};

/* Errors as of fed_asks_begin(). */
int fed_split_begin(const struct fed_splitting_of *of, struct fed_split **ret, struct sv_error *err)
    _must_use_;
/* Fills ret[in->n_targets]. 0: done; FED_MORE; errors as of fed_asks_run(). */
int fed_split_run(struct fed_split *s, struct fed_budget *b, struct fed_part *ret,
                  struct fed_split_notes *ret_notes, struct sv_error *err) _must_use_;
/* Frees its tables; the rest is the arena's. Accepts NULL, returns NULL. */
struct fed_split *fed_split_end(struct fed_split *s);
/* All at once. */
int fed_split(const struct fed_asking *in, const Hadoop__Yarn__AllocateRequestProto *m,
              fed_owner owner, void *userdata, struct sv_arena *a, struct fed_part *ret,
              struct fed_split_notes *ret_notes, struct sv_error *err) _must_use_;

#endif
