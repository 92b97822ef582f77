/* Components that wait for others (check.h). */
#include <stdio.h>
#include <string.h>

#include "service/definition/check.h"

struct walk {
    const struct svc_definition *d;
    const struct svc_names *names;
    struct sv_error *err;
    enum { NEW, OPEN, DONE } state[SVC_COMPONENTS_MAX];
    size_t stack[SVC_COMPONENTS_MAX], depth; /* the components that led here */
};

/* Says "a -> b -> a"; a long cycle is cut. */
static int refuse_cycle(const struct walk *w, size_t first)
{
    struct svc_path path;
    char text[512];
    size_t at = 0, n = 0;

    while (w->stack[at] != first)
        at++;
    path = svc_path("components[%zu].dependencies", w->stack[w->depth - 1]);
    for (; at < w->depth && n < sizeof text; at++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s -> ",
                              w->d->components[w->stack[at]].name);
    if (n < sizeof text)
        (void)snprintf(text + n, sizeof text - n, "%s", w->d->components[first].name);
    return svc_refuse(w->err, path.text, NULL, "a cycle: %s; each would wait for the others", text);
}

/* Depth-first; no deeper than there are components. */
static int visit(struct walk *w, size_t i)
{
    const struct svc_component *c = &w->d->components[i];
    struct svc_path path;

    w->state[i] = OPEN;
    w->stack[w->depth++] = i;
    for (size_t k = 0; k < c->n_dependencies; k++) {
        size_t j = svc_names_find(w->names, c->dependencies[k]);
        int r = 0;

        if (j == SIZE_MAX && !w->names->open) {
            path = svc_path("components[%zu].dependencies[%zu]", i, k);
            return svc_refuse(w->err, path.text, c->dependencies[k],
                              "no component of this service has this name");
        }
        if (j != SIZE_MAX && w->state[j] == OPEN)
            return refuse_cycle(w, j);
        if (j != SIZE_MAX && w->state[j] == NEW)
            r = visit(w, j);
        if (r < 0)
            return r;
    }
    w->depth--;
    w->state[i] = DONE;
    return 0;
}

int svc_check_dependencies(const struct svc_definition *d, const struct svc_names *names,
                           struct sv_error *err)
{
    struct walk w = { .d = d, .names = names, .err = err };

    for (size_t i = 0; i < d->n_components; i++)
        if (w.state[i] == NEW) {
            int r = visit(&w, i);

            if (r < 0)
                return r;
        }
    return 0;
}
