/* Index of ask rows by the host or rack that they name, so that an allocation pass finds the
 * applications that name a node's host. Names come from ApplicationMasters; their number is bounded
 * by RM_MAX_ASK_ROWS of an application. Pure. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <stdlib.h>
#include <string.h>

struct rm_place *rm_place_find(const struct rm_sched *s, const struct rm_label *name)
{
    struct rm_place *p;

    HASH_FIND_BYHASHVALUE(hh, s->places, name->name, name->len, name->hash, p);
    return p;
}

void rm_place_add(struct rm_sched *s, const struct rm_label *name, struct rm_ask_row *row)
{
    struct rm_place *p = rm_place_find(s, name);

    if (!p) {
        p = calloc(1, sizeof(*p));
        if (!p || !(p->name = strdup(name->name)))
            sv_out_of_memory();
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, s->places, p->name, name->len, name->hash, p);
    }
    DL_APPEND2(p->rows, row, p_prev, p_next);
    p->n++;
    row->place = p;
    row->name = p->name;
}

void rm_place_remove(struct rm_sched *s, struct rm_ask_row *row)
{
    struct rm_place *p = row->place;

    DL_DELETE2(p->rows, row, p_prev, p_next);
    p->n--;
    if (p->rows)
        return;
    HASH_DEL(s->places, p);
    free(p->name);
    free(p);
}
