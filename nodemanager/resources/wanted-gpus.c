/* See wanted-gpus.h. */
#include "nodemanager/resources/wanted-gpus.h"

#include <errno.h>

#include "common/str.h"
#include "nodemanager/core/container.h"
#include "wire/container-variables.h"

static const char *value_of(const struct nm_container *c)
{
    for (size_t i = c->clc ? c->clc->n_environment : 0; i-- > 0;)
        if (sv_streq(c->clc->environment[i]->key, YARN_VARIABLE_GPUS))
            return c->clc->environment[i]->value;
    return NULL;
}

/* Digits up to ',' or the end, which *s then is at; -1: no place, or too large. */
static int place(const char **s)
{
    const char *from = *s;
    int n = 0;

    for (; **s >= '0' && **s <= '9' && n < NM_GPUS_MAX; (*s)++)
        n = 10 * n + (**s - '0');
    return *s == from || n >= NM_GPUS_MAX || (**s && **s != ',') ? -1 : n;
}

int nm_wanted_gpus(const struct nm_container *c, struct nm_wanted_gpus *ret, struct sv_error *err)
{
    struct nm_wanted_gpus w = { .n = 0 };
    const char *s = value_of(c);
    int at;

    *ret = w;
    if (!s || c->resource.gpus <= 0)
        return 0;
    for (;; s++) {
        at = place(&s);
        if (at < 0 || w.place[at])
            return sv_error_set(err, -EINVAL,
                                "%s: " YARN_VARIABLE_GPUS ": different places of the node's GPUs "
                                "are expected, such as 0,2",
                                c->text);
        w.place[at] = true;
        w.n++;
        if (!*s)
            break;
    }
    if ((int64_t)w.n != c->resource.gpus)
        return sv_error_set(err, -EINVAL,
                            "%s: " YARN_VARIABLE_GPUS " names %zu GPUs, the container has %lld",
                            c->text, w.n, (long long)c->resource.gpus);
    *ret = w;
    return 0;
}
