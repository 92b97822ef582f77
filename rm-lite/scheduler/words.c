/* One copy of each allocation tag, application tag, rack and attribute in use by
 * SchedulingRequests. Names come from ApplicationMasters and nodes; the limits of a request bound
 * them. Pure. */
#include <stdlib.h>
#include <string.h>

#include "rm-lite/scheduler/scheduler-impl.h"

struct rm_word *rm_word_find(const struct rm_sched *s, const char *name)
{
    struct rm_word *w;

    HASH_FIND_STR(s->words, name, w);
    return w;
}

struct rm_word *rm_word_get(struct rm_sched *s, const char *name)
{
    struct rm_word *w = rm_word_find(s, name);

    if (!w) {
        w = calloc(1, sizeof(*w));
        if (!w || !(w->name = strdup(name)))
            sv_out_of_memory();
        HASH_ADD_KEYPTR(hh, s->words, w->name, strlen(w->name), w);
    }
    w->refs++;
    return w;
}

void rm_word_put(struct rm_sched *s, struct rm_word *w)
{
    if (!w || --w->refs > 0)
        return;
    HASH_DEL(s->words, w);
    free(w->name);
    free(w);
}
