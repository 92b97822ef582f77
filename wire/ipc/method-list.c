/* Prints the support of each method of a protocol, for docs/compat.md. */
#include <string.h>

#include "wire/ipc/ipc-server.h"

static const struct ipc_method_off *find_off(const struct ipc_protocol *p, const char *name)
{
    for (const struct ipc_method_off *o = p->off; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

void ipc_print_methods(FILE *out, const struct ipc_protocol *p)
{
    for (size_t i = 0; i < p->n_methods; i++) {
        const struct ipc_method_off *o = find_off(p, p->methods[i].name);

        fprintf(out, "%s\t%s\t%s\t%s\n", p->name, p->methods[i].name,
                !o           ? "honoured"
                : o->refused ? "refused"
                             : "ignored",
                o ? o->why : "");
    }
}
