/* A growing list of pointers in an arena, for the repeated fields of a message. */
#ifndef SELVEDGE_FEDERATION_AMRM_LIST_H
#define SELVEDGE_FEDERATION_AMRM_LIST_H

#include <errno.h>
#include <string.h>

#include "common/arena.h"

struct fed_list {
    void **v;
    size_t n, room;
};

static inline int fed_list_add(struct sv_arena *a, struct fed_list *l, const void *p)
{
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 8;
        void **grown = sv_newn(a, void *, room);

        if (!grown)
            return -ENOMEM;
        if (l->n)
            memcpy(grown, l->v, l->n * sizeof(*grown));
        l->v = grown;
        l->room = room;
    }
    l->v[l->n++] = (void *)(uintptr_t)p;
    return 0;
}

#endif
