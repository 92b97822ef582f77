/* The look-up of an application's upload; see log-internal.h. */
#include <string.h>
#include <utlist.h>

#include "nodemanager/logs/log-internal.h"

struct nm_upload *nm_upload_find(struct nm_log_aggregation *g, const char *app)
{
    struct nm_upload *u;

    DL_FOREACH (g->list, u)
        if (strcmp(u->text, app) == 0)
            return u;
    return NULL;
}
