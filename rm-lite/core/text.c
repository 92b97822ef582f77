/* Owned strings; see text.h. Diagnostics and tracking URLs come from peers, so their length is
 * bounded. */
#include "rm-lite/core/text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/oom.h"

char *rm_strdup(const char *s)
{
    char *copy = s ? strdup(s) : NULL;

    if (s && !copy)
        sv_out_of_memory();
    return copy;
}

static bool continues(char c) /* a character of UTF-8 that began before */
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t rm_text_start(const char *s, size_t max)
{
    size_t n = strnlen(s, max);

    while (n > 0 && continues(s[n]))
        n--;
    return n;
}

char *rm_strdup_cut(const char *s, size_t max)
{
    char *copy = strndup(s, rm_text_start(s, max));

    if (!copy)
        sv_out_of_memory();
    return copy;
}

char *rm_strdup_ends(const char *s, size_t start, size_t max)
{
    static const char gap[] = "\n…\n";
    size_t n = strlen(s), from = n > max ? n - (max - start) : 0;
    char *copy;

    if (n <= max)
        return rm_strdup(s);
    start = rm_text_start(s, start);
    while (continues(s[from]))
        from++;
    copy = malloc(start + sizeof(gap) + n - from);
    if (!copy)
        sv_out_of_memory();
    memcpy(copy, s, start);
    memcpy(copy + start, gap, sizeof(gap) - 1);
    memcpy(copy + start + sizeof(gap) - 1, s + from, n - from + 1);
    return copy;
}

void rm_set_text(char **dst, const char *s)
{
    char *copy = s ? rm_strdup_cut(s, RM_DIAGNOSTICS_MAX) : NULL;

    free(*dst);
    *dst = copy;
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
    cut = old + add > RM_DIAGNOSTICS_MAX ? old + add - RM_DIAGNOSTICS_MAX : 0;
    while (cut && continues(all[cut]))
        cut++;
    if (cut)
        memmove(all, all + cut, old + add - cut + 1);
    free(*dst);
    *dst = all;
}
