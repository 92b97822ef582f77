/* A set of names (hosts, nodes, applications), each with an optional number. An empty set is NULL.
 * Without memory the process ends (common/oom.h). */
#ifndef SELVEDGE_RM_LITE_CORE_NAME_SET_H
#define SELVEDGE_RM_LITE_CORE_NAME_SET_H

#include "common/base.h"
#include "rm-lite/scheduler/hash.h"

struct rm_name_set {
    char *name;
    int64_t number; /* the owner's use; for NMTokens the id of the signing key */
    UT_hash_handle hh;
};
bool rm_set_has(struct rm_name_set *set, const char *name);
struct rm_name_set *rm_set_get(struct rm_name_set *set, const char *name); /* NULL: absent */
struct rm_name_set *rm_set_add(struct rm_name_set **set,
                               const char *name); /* the present one if any */
void rm_set_remove(struct rm_name_set **set, const char *name);
void rm_set_clear(struct rm_name_set **set);

#endif
