/* The answers of members to one master's heartbeat as one answer. Hostile: the answers.
 *
 * No container is dropped and none is told twice; a member's word counts for its own containers
 * alone. Completed, updated and preempted containers, nodes and NM tokens are joined; free
 * resources, nodes and load are the sums of what each member said last, each counted once.
 * Priority, command and collector are the home's. */
#ifndef SELVEDGE_FEDERATION_AMRM_MERGE_H
#define SELVEDGE_FEDERATION_AMRM_MERGE_H

#include "federation/amrm/containers.h"
#include "federation/amrm/figures.h"

struct fed_merge; /* of one application */

struct fed_merge *fed_merge_new(struct yarn_app_id app); /* NULL: out of memory */
struct fed_merge *fed_merge_free(struct fed_merge *m);   /* accepts NULL, returns NULL */

/* As fed_merge_free(), in turns: 0: it is gone, FED_MORE. `merge` is a struct fed_merge. */
int fed_merge_leave(void *merge, struct fed_budget *b);

struct fed_reply { /* one of the three */
    size_t member; /* below FED_MEMBERS_MAX */
    const Hadoop__Yarn__AllocateResponseProto *answer;
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *registration;
    const char *lost; /* its ResourceManager has lost all containers, which have ended so */
};

struct fed_replies { /* in the order in which they came */
    const struct fed_reply *v;
    size_t n;
    size_t home;        /* member */
    const bool *silent; /* by member: not in the sums; n_silent of them */
    size_t n_silent;
    bool again; /* registrations: the master has registered before: fed_join_begin() */
};

/* A container that the master cannot have: its id is that of another member's container (two
 * members with one epoch), or there are too many. The caller releases it in its member, and
 * requests another one there. */
struct fed_clash {
    size_t member;
    const Hadoop__Yarn__ContainerProto *container;
};

struct fed_merged {
    /* Without a response id and without an AMRMToken: tokens are the caller's, from each answer. It
     * points into the replies. */
    Hadoop__Yarn__AllocateResponseProto *answer;
    const struct fed_clash *clashes;
    size_t n_clashes;
    size_t n_repeated; /* containers and ends that the master knows already, left out */
    size_t n_foreign;  /* statements about another member's or application's containers, left out */
    size_t n_broken;   /* containers without a whole id, left out */
};

struct fed_merging; /* in the making, in the arena */

/* Merges any number of replies, none too, in turns: fed_merge_begin(), fed_merge_run() until it is
 * done, fed_merge_keep() until it is done. One merge of an application at a time. On failure
 * (-ENOMEM), and after fed_merge_undo() in the place of fed_merge_keep(), nothing has changed but
 * the figures of members: the same replies are merged again later. `replies` outlives it. */
int fed_merge_begin(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
                    struct fed_merging **ret) _must_use_;
/* 0: *ret is there; FED_MORE. */
int fed_merge_run(struct fed_merging *j, struct fed_budget *b, struct fed_merged *ret) _must_use_;
/* 0: done; FED_MORE. */
int fed_merge_keep(struct fed_merge *m, struct fed_budget *b);
void fed_merge_undo(struct fed_merge *m);
/* All at once. */
int fed_merge(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
              struct fed_merged *ret) _must_use_;

struct fed_registered {
    /* The home's, with the containers and NM tokens of all. It points into the replies. */
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *response;
    const struct fed_clash *clashes;
    size_t n_clashes;
};
struct fed_joining; /* in the making, in the arena */

/* Merges the registrations of members that a master's earlier attempt has left behind, the home's
 * among them, for the master's own registration: it is told all containers, also those that it was
 * told before. A master that registers `again` is told of none: it has those that it was told of,
 * and the others come with a heartbeat. In turns, as fed_merge_begin(). -EINVAL: there is none of
 * the home; -ENOMEM: nothing has changed. */
int fed_join_begin(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
                   struct fed_joining **ret) _must_use_;
/* 0: *ret is there, and fed_merge_keep() or fed_merge_undo() follows; FED_MORE. */
int fed_join_run(struct fed_joining *j, struct fed_budget *b, struct fed_registered *ret)
    _must_use_;
/* All at once. */
int fed_merge_registered(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
                         struct fed_registered *ret) _must_use_;

struct fed_containers *fed_merge_containers(struct fed_merge *m);
const struct fed_figure *fed_merge_figure(const struct fed_merge *m, size_t member);
/* The member's figures no longer count. */
void fed_merge_forget(struct fed_merge *m, size_t member);

#endif
