/* Copies a directory that is a resource's source, whatever the resource's type, as Hadoop does.
 * Rules and limits are those of archives (policy.h): entries, bytes, depth, names; a symbolic link
 * is copied as a link if its target is inside, and never followed. For PUBLIC every file must be
 * readable, and every directory readable and searchable by others.
 *
 * Hostile: names, kinds and lengths that the file system reports. */
#ifndef SELVEDGE_LOCALIZER_FETCH_TREE_H
#define SELVEDGE_LOCALIZER_FETCH_TREE_H

#include "localizer/fetch-common.h"

/* Copies the source, a directory whose status was checked against the request. Sets s->size,
 * s->entries and s->tree. */
int loc_tree_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;

#endif
