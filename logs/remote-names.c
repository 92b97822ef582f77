/* A growing list of file names; see remote-store.h. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "logs/remote-store.h"

#define TMP ".tmp"

int logs_names_add(struct logs_names *names, const char *name)
{
    size_t n = names->n;

    if (n == LOGS_REMOTE_FILES_MAX)
        return -E2BIG;
    if (sv_has_suffix(name, TMP))
        return 0;
    if ((n & (n - 1)) == 0) { /* 0 or a power of two; one more for the NULL */
        char **more = reallocarray(names->v, (n ? 2 * n : 1) + 1, sizeof(*more));

        if (!more)
            return -ENOMEM;
        names->v = more;
    }
    names->v[n] = strdup(name);
    if (!names->v[n])
        return -ENOMEM;
    names->v[++names->n] = NULL;
    return 0;
}
