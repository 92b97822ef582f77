/* Localized resources of one container: what it has from the start, what was added while it runs,
 * and while it is re-initialized those of its next and its last launch context. Each set is one
 * request to the cache (a part). Texts come from applications and are never interpreted here. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_CONTAINER_RESOURCES_H
#define SELVEDGE_NODEMANAGER_SERVICES_CONTAINER_RESOURCES_H

#include "common/arena.h"
#include "common/base.h"
#include "executor/script.h"
#include "localizer/cache.h"
#include "wire/ipc/methods.h"

struct nm_container;

enum nm_resources_role {
    NM_RESOURCES_CURRENT,
    NM_RESOURCES_NEXT,     /* of a re-initialization */
    NM_RESOURCES_PREVIOUS, /* for a rollback */
};

struct nm_localizing {
    struct nm_localizing *prev,
        *next;     /* utlist at container->localizing, in the order of requests */
    unsigned part; /* unique in the daemon's life */
    enum nm_resources_role role;
    bool late;   /* added to a running container */
    bool linked; /* late: its link is made, or asked for, or was in a launch script */
    bool ready;
    unsigned n;
    char **keys;  /* by index of the request, which is freed when the container runs */
    char **paths; /* by the same index; NULL until localized */
    struct loc_counters counters;
    char *failed; /* diagnostics */
};

typedef Hadoop__Yarn__StringLocalResourceMapProto *const *nm_resource_rows;

/* Adds a part without paths; -ENOMEM. */
int nm_resources_add(struct nm_container *c, unsigned part, enum nm_resources_role role,
                     nm_resource_rows rows, size_t n, struct nm_localizing **ret) _must_use_;
struct nm_localizing *nm_resources_find(const struct nm_container *c, unsigned part);
/* The first part of a role; NULL: none. */
struct nm_localizing *nm_resources_of(const struct nm_container *c, enum nm_resources_role role);
void nm_resources_drop(struct nm_container *c, struct nm_localizing *z); /* not in the cache */
/* True while a resource added to the running container is neither ready nor failed. */
bool nm_resources_pending(const struct nm_container *c);

/* True while one that a launch needs is neither ready nor failed: of a context that has replaced
 * another before a restart of the daemon. */
bool nm_resources_to_come(const struct nm_container *c);

/* Links of a launch, in the arena; counts late ones as linked, and omits those that are not ready.
 * -ENOENT: one that the launch needs is not localized. */
int nm_resources_links(const struct nm_container *c, struct sv_arena *a, struct exe_link **ret,
                       size_t *ret_n) _must_use_;
/* "NAME\0TARGET\0" of the ready late ones without a link, malloc'd, which count as linked from now
 * on. *ret_len 0: none. */
int nm_resources_unlinked(struct nm_container *c, size_t max, char **ret, size_t *ret_len)
    _must_use_;
/* "bytes missed,bytes cached,files missed,files cached,ms" of what it had from the start. */
const char *nm_resources_counters(const struct nm_container *c, struct sv_arena *a);
/* For getLocalizationStatuses: NULL when the arena is exhausted. */
Hadoop__Yarn__ContainerLocalizationStatusesProto *nm_resources_status(const struct nm_container *c,
                                                                      struct sv_arena *a);

#endif
