/* The containers of one application in all members: whose each is, and whether the master was told.
 * A merge looks here so that it neither drops nor doubles one. Pure. Hostile: the ids that members
 * answer.
 *
 * Changes are staged, and kept or undone together: a merge that fails changes nothing. */
#ifndef SELVEDGE_FEDERATION_AMRM_CONTAINERS_H
#define SELVEDGE_FEDERATION_AMRM_CONTAINERS_H

#include "federation/amrm/budget.h"
#include "wire/ids.h"

#define FED_CONTAINERS_MAX 262144 /* live ones of an application */
#define FED_ENDED_MAX 4096        /* ended ones that are known, to detect repetitions */

struct fed_containers;

struct fed_containers *fed_containers_new(struct yarn_app_id app);    /* NULL: out of memory */
struct fed_containers *fed_containers_free(struct fed_containers *c); /* accepts NULL */

/* Forgets all, before it is freed: 0: none is left, FED_MORE. */
int fed_containers_leave(struct fed_containers *c, struct fed_budget *b);

enum fed_seen {
    FED_FRESH,    /* to be told to the master */
    FED_REPEATED, /* the master knows; drop it */
    FED_FOREIGN,  /* another member's, or of another application; drop it */
    FED_FULL,     /* more than FED_CONTAINERS_MAX; not kept */
};

/* A member has the container; *ret_seen says what to do with the message. -ENOMEM. */
int fed_containers_live(struct fed_containers *c, struct yarn_container_id id, size_t member,
                        enum fed_seen *ret_seen) _must_use_;
/* As above, where the master is not told of it here: whether it knows the container stays as it
 * was.
 */
int fed_containers_has(struct fed_containers *c, struct yarn_container_id id, size_t member,
                       enum fed_seen *ret_seen) _must_use_;
/* A member's container has ended. One that is unknown is FED_FRESH. */
int fed_containers_end(struct fed_containers *c, struct yarn_container_id id, size_t member,
                       enum fed_seen *ret_seen) _must_use_;
/* True unless the container is known to be another member's, or of another application. */
bool fed_containers_may(const struct fed_containers *c, struct yarn_container_id id, size_t member);
/* Keeps what was staged since: 0: done; FED_MORE: nothing may be staged before the rest is. */
int fed_containers_keep(struct fed_containers *c, struct fed_budget *b);
/* Undoes it. */
void fed_containers_undo(struct fed_containers *c);

/* Learned from elsewhere, at once: a recovered container, of which the master was told or not.
 * -EEXIST: known; -EXDEV: of another application; -ENOSPC, -ENOMEM. */
int fed_containers_know(struct fed_containers *c, struct yarn_container_id id, size_t member,
                        bool told) _must_use_;
/* Learned from elsewhere, at once: the master was told of the container, or of its end. -EEXIST: it
 * is another member's; -EXDEV, -ENOSPC, -ENOMEM. */
int fed_containers_master_has(struct fed_containers *c, struct yarn_container_id id, size_t member,
                              bool ended) _must_use_;
/* The member of a live container, -ENOENT if there is none. */
int fed_containers_owner(const struct fed_containers *c, struct yarn_container_id id);
/* It has ended, and the master was told; staged ends do not count. */
bool fed_containers_has_ended(const struct fed_containers *c, struct yarn_container_id id);
size_t fed_containers_count(const struct fed_containers *c); /* live ones */
/* The next live container of a member, from *at NULL; false: there is none. Between two calls
 * containers may be staged and learned, none kept. */
bool fed_containers_next(const struct fed_containers *c, size_t member, const void **at,
                         struct yarn_container_id *ret);

#endif
