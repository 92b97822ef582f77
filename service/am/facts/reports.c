/* See reports.h. */
#include "service/am/facts/reports.h"

#include <string.h>

struct svc_allocated svc_allocated_of(const struct cli_allocation *c)
{
    return (struct svc_allocated){
        .container = c->id,
        .node = c->node,
        .request = c->request_id == CLI_NO_REQUEST_ID ? SVC_REQUEST_UNKNOWN : c->request_id,
        .priority = c->priority,
    };
}

const char *svc_why_not_started(int status, const struct sv_error *err)
{
    return err && err->code ? err->text : strerror(-status);
}
