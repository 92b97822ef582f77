/* See target-index.h. Hostile: ids, which members write into the store. */
#include "federation/amrm/target-index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
    const struct fed_target *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

int fed_target_index_make(const struct fed_asking *in, struct sv_arena *a,
                          struct fed_target_index *ret)
{
    const struct fed_target **v = sv_newn(a, const struct fed_target *, in->n_targets + 1);

    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < in->n_targets; i++)
        v[i] = &in->targets[i];
    if (in->n_targets)
        qsort(v, in->n_targets, sizeof(v[0]), by_id);
    *ret = (struct fed_target_index){ v, in->targets, in->n_targets };
    return 0;
}

size_t fed_target_find(const struct fed_target_index *index, const char *id)
{
    const struct fed_target key = { .id = id }, *at = &key, **found;

    found = index->n ? bsearch(&at, index->v, index->n, sizeof(index->v[0]), by_id) : NULL;
    return found ? (size_t)(*found - index->first) : SIZE_MAX;
}
