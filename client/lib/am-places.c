/* Hosts and racks of a request for containers: what a program names, and which of them the
 * ResourceManager has to forget. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/am-internal.h"
#include "common/str.h"

#define DEFAULT_RACK "/default-rack"
#define PLACES_MAX 10000

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_unique(const char **list, size_t *n)
{
    size_t kept = 0;

    qsort(list, *n, sizeof(*list), by_text);
    for (size_t i = 0; i < *n; i++)
        if (kept == 0 || !sv_streq(list[i], list[kept - 1]))
            list[kept++] = list[i];
    *n = kept;
}

bool cli_am_has_name(const char **list, size_t n, const char *name)
{
    return n > 0 && bsearch(&name, list, n, sizeof(*list), by_text);
}

bool cli_am_is_name(const char *s)
{
    return s && *s && strlen(s) <= CLI_CONSTRAINT_TEXT_MAX && !sv_streq(s, "*");
}

int cli_am_ask_places(struct am_ask *w, const struct cli_ask *q, struct sv_error *err)
{
    const char ***lists[] = { &w->hosts, &w->racks, &w->wanted_racks };

    if (q->n_places > PLACES_MAX)
        return sv_error_set(err, -EINVAL, "request: %zu places, at most %d may be named",
                            q->n_places, PLACES_MAX);
    for (size_t i = 0; i < SV_ARRAY_LEN(lists); i++)
        if (!(*lists[i] = sv_newn(w->arena, const char *, q->n_places + 1)))
            return -ENOMEM;
    for (size_t i = 0; i < q->n_places; i++) {
        const struct cli_locality *p = &q->places[i];
        const char *rack = p->rack ? p->rack : p->host ? DEFAULT_RACK : NULL;

        if ((p->host && !cli_am_is_name(p->host)) || !cli_am_is_name(rack))
            return sv_error_set(err, -EINVAL,
                                "request: place %zu: a place is a host or a rack of 1 to %d bytes, "
                                "not *",
                                i, CLI_CONSTRAINT_TEXT_MAX);
        rack = sv_arena_strdup(w->arena, rack);
        w->racks[w->n_racks++] = rack;
        if (!p->host)
            w->wanted_racks[w->n_wanted_racks++] = rack;
        else
            w->hosts[w->n_hosts++] = sv_arena_strdup(w->arena, p->host);
        if (!rack || (p->host && !w->hosts[w->n_hosts - 1]))
            return -ENOMEM;
    }
    sort_unique(w->hosts, &w->n_hosts);
    sort_unique(w->racks, &w->n_racks);
    sort_unique(w->wanted_racks, &w->n_wanted_racks);
    return 0;
}

static int add_gone(struct am_ask *w, const char **list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (cli_am_has_name(w->hosts, w->n_hosts, list[i]) ||
            cli_am_has_name(w->racks, w->n_racks, list[i]))
            continue;
        w->gone[w->n_gone] = sv_arena_strdup(w->arena, list[i]);
        if (!w->gone[w->n_gone++])
            return -ENOMEM;
    }
    return 0;
}

/* The ResourceManager keeps a name's count until it is told another one. */
int cli_am_ask_gone(struct am_ask *w, const struct am_ask *old)
{
    int r;

    w->gone = sv_newn(w->arena, const char *, old->n_hosts + old->n_racks + old->n_gone + 1);
    if (!w->gone)
        return -ENOMEM;
    r = add_gone(w, old->hosts, old->n_hosts);
    if (r >= 0)
        r = add_gone(w, old->racks, old->n_racks);
    if (r >= 0 && old->dirty) /* not told yet */
        r = add_gone(w, old->gone, old->n_gone);
    return r;
}
