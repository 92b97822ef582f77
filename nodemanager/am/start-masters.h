/* The ApplicationMasters among the containers of a startContainers call, and which of them the
 * AMRMProxy serves: a federation's state store knows, which answers later. Hostile: the requests.
 */
#ifndef SELVEDGE_NODEMANAGER_AM_START_MASTERS_H
#define SELVEDGE_NODEMANAGER_AM_START_MASTERS_H

#include "common/arena.h"
#include "common/error.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

struct nm_am;

#define NM_MASTERS_MAX 4 /* of one call; a ResourceManager starts one at a time */

struct nm_master {
    size_t row; /* in the call */
    struct yarn_container_token token;
    int served; /* 1, 0, or -errno and why; nm_amrm_ask() */
    char why[256];
};

struct nm_masters {
    struct nm_master *v; /* in the call's arena */
    size_t n, at;        /* the next one to ask about */
    const struct nm_am *am;
    void (*done)(void *userdata);
    void *userdata;
};

/* Those whose tokens are good, and none without an AMRMProxy. More than NM_MASTERS_MAX, or no
 * memory: their rows are refused. */
void nm_cm_masters_find(const struct nm_am *am,
                        Hadoop__Yarn__StartContainerRequestProto *const *requests, size_t n,
                        struct sv_arena *a, struct nm_masters *ret);
/* Asks about each, then calls `done`, once, perhaps from inside. Must not move until then. */
void nm_cm_masters_ask(const struct nm_am *am, struct nm_masters *m, void (*done)(void *userdata),
                       void *userdata);
/* NULL: the row is not such a master. */
const struct nm_master *nm_cm_master(const struct nm_masters *m, size_t row);

#endif
