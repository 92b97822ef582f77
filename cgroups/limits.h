/* Writes rows of limits: containers' cgroups, the root's, localizers'. Private to cgroups. */
#ifndef SELVEDGE_CGROUPS_LIMITS_H
#define SELVEDGE_CGROUPS_LIMITS_H

#include "cgroups/internal.h"

#define CG_ROW_TEXT_MAX 2048

enum cg_apply {
    CG_APPLY_NEW,  /* all rows */
    CG_APPLY_LIVE, /* the `live` rows */
};

/* Writes the rows whose controllers are in `on` into the cgroup `fd`; `object` names it in
 * errors. */
int cg_apply(const struct cg_root *r, int fd, const char *object, const struct cg_row *rows,
             size_t n, const struct cg_resource *c, enum cg_apply which, struct sv_error *err)
    _must_use_;
/* Major and minor number of the whole disk of `path`; see struct cg_io_max. */
int cg_disk_of(const char *path, unsigned *ret_major, unsigned *ret_minor) _must_use_;

#endif
