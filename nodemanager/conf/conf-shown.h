/* Which paths of the host a sandbox profile shows, and the line of container-executor.cfg that
 * shows more. container-executor decides; this foresees what it accepts. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_SHOWN_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_SHOWN_H

#include "nodemanager/conf/conf.h"

enum nm_shown_result {
    NM_SHOWN_SEEN,
    NM_SHOWN_ADDED,   /* to the line */
    NM_SHOWN_ABSENT,  /* not on this host */
    NM_SHOWN_REFUSED, /* no line can show it */
};

struct nm_shown;
/* For the profile and the directories of `c`, which must live on. `cfg`: container-executor.cfg,
 * which may be missing. NULL: no memory. */
struct nm_shown *nm_shown_new(const struct nm_conf *c, const char *cfg);
struct nm_shown *nm_shown_free(struct nm_shown *s);
static inline void nm_shown_freep(struct nm_shown **s)
{
    *s = nm_shown_free(*s);
}
/* Adds what a container needs to find the absolute `path`: the directories of links on the way,
 * and what it leads to. An enum nm_shown_result, with the path at fault and a reason where it is
 * refused; -ENOMEM. `ret_at` has PATH_MAX bytes. */
int nm_shown_add(struct nm_shown *s, const char *path, char *ret_at, const char **ret_why)
    _must_use_;
/* "selvedge.sandbox.read-only-paths=…" with what the file has already, malloc'd; NULL: nothing was
 * added, or no memory. */
char *nm_shown_line(const struct nm_shown *s) _must_use_;

#endif
