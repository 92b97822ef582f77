/* Sets of names; see name-set.h. */
#include "rm-lite/core/name-set.h"

#include <string.h>

#include "common/oom.h"
#include "rm-lite/core/text.h"

struct rm_name_set *rm_set_get(struct rm_name_set *set, const char *name)
{
    struct rm_name_set *it;

    HASH_FIND_STR(set, name, it);
    return it;
}

bool rm_set_has(struct rm_name_set *set, const char *name)
{
    return rm_set_get(set, name) != NULL;
}

struct rm_name_set *rm_set_add(struct rm_name_set **set, const char *name)
{
    struct rm_name_set *it = rm_set_get(*set, name);

    if (it)
        return it;
    it = calloc(1, sizeof(*it));
    if (!it)
        sv_out_of_memory();
    it->name = rm_strdup(name);
    HASH_ADD_KEYPTR(hh, *set, it->name, strlen(it->name), it);
    return it;
}

static void drop(struct rm_name_set **set, struct rm_name_set *it)
{
    HASH_DEL(*set, it);
    free(it->name);
    free(it);
}

void rm_set_remove(struct rm_name_set **set, const char *name)
{
    struct rm_name_set *it = rm_set_get(*set, name);

    if (it)
        drop(set, it);
}

void rm_set_clear(struct rm_name_set **set)
{
    struct rm_name_set *it, *tmp;

    HASH_ITER (hh, *set, it, tmp)
        drop(set, it);
}
