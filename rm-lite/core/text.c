/* Owned strings; see text.h. Diagnostics and tracking URLs come from peers, so their length is
 * bounded. */
#include "rm-lite/core/text.h"

#include <stdlib.h>
#include <string.h>

#include "common/oom.h"

#define TEXT_MAX (64 * 1024)

char *rm_strdup(const char *s)
{
    char *copy = s ? strdup(s) : NULL;

    if (s && !copy)
        sv_out_of_memory();
    return copy;
}

void rm_set_text(char **dst, const char *s)
{
    char *copy = rm_strdup(s);

    free(*dst);
    *dst = copy;
    if (copy && strlen(copy) > TEXT_MAX)
        copy[TEXT_MAX] = 0;
}

void rm_append_text(char **dst, const char *s)
{
    size_t old = *dst ? strlen(*dst) : 0, add = strlen(s), cut;
    char *all = malloc(old + add + 1);

    if (!all)
        sv_out_of_memory();
    if (old)
        memcpy(all, *dst, old);
    memcpy(all + old, s, add + 1);
    cut = old + add > TEXT_MAX ? old + add - TEXT_MAX : 0;
    if (cut)
        memmove(all, all + cut, old + add - cut + 1);
    free(*dst);
    *dst = all;
}
