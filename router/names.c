/* See names.h. */
#include "router/names.h"

#include <errno.h>

int rtr_names_number(struct rtr_names *n, const char *text, bool *ret_new)
{
    struct rtr_name *name;

    HASH_FIND_STR(n->by_text, text, name);
    *ret_new = !name;
    if (name)
        return (int)name->number;
    name = sv_new(n->arena, struct rtr_name);
    if (!name)
        return -ENOMEM;
    name->text = text;
    name->number = HASH_COUNT(n->by_text);
    HASH_ADD_KEYPTR(hh, n->by_text, name->text, strlen(name->text), name);
    return (int)name->number;
}

void rtr_names_clear(struct rtr_names *n)
{
    HASH_CLEAR(hh, n->by_text);
}
