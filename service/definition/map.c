/* See map.h. */
#include "service/definition/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct svc_pair *)a)->name, ((const struct svc_pair *)b)->name);
}

bool svc_map_sort(struct svc_map *m)
{
    if (m->n)
        qsort(m->pairs, m->n, sizeof *m->pairs, by_name);
    for (size_t i = 1; i < m->n; i++)
        if (!strcmp(m->pairs[i - 1].name, m->pairs[i].name))
            return false;
    return true;
}

const char *svc_map_get(const struct svc_map *m, const char *name)
{
    struct svc_pair key = { .name = name };
    const struct svc_pair *p =
        m->n ? bsearch(&key, m->pairs, m->n, sizeof *m->pairs, by_name) : NULL;

    return p ? p->value : NULL;
}

int svc_map_merge(struct svc_map *m, const struct svc_map *more, struct sv_arena *a)
{
    struct svc_pair *pairs;
    size_t n = 0, i = 0, j = 0;

    if (!more->n)
        return 0;
    if (!m->n) {
        *m = *more;
        return 0;
    }
    pairs = sv_newn(a, struct svc_pair, m->n + more->n);
    if (!pairs)
        return -ENOMEM;
    while (i < m->n || j < more->n) {
        int c = i == m->n ? 1 : j == more->n ? -1 : strcmp(m->pairs[i].name, more->pairs[j].name);

        if (c == 0)
            j++; /* its own value wins */
        pairs[n++] = c <= 0 ? m->pairs[i++] : more->pairs[j++];
    }
    *m = (struct svc_map){ pairs, n };
    return 0;
}
