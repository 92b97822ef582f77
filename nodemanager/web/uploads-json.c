/* See uploads-json.h. */
#include "nodemanager/web/uploads-json.h"

#include "common/web/json-text.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/context.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/logs/log-failures.h"
#include "nodemanager/web/web-access.h"

#define SHOWN_MAX 100

json_t *nm_web_uploads(const struct nm_web *w, const struct sv_http_request *req)
{
    const struct nm_log_failures *failures = nm_aggregation_failures(w->aggregation);
    const struct nm_conf *conf = w->ctx->conf;
    struct nm_web_caller who;
    json_t *list = json_array();

    if (nm_web_identify(&conf->web, w->groups, req, &who) == 0)
        for (const struct nm_log_failure *f = failures->all; f && json_array_size(list) < SHOWN_MAX;
             f = f->hh.next)
            if (nm_web_may_view(&who, nm_app_find(w->ctx, f->app)))
                (void)json_array_append_new(
                    list, json_pack("{s:s,s:o,s:I}", "id", f->app, "reason", sv_json_text(f->why),
                                    "keptUntil", (json_int_t)f->until_ms)); /* ignoring */
    return json_pack("{s:I,s:o,s:o}", "failed", (json_int_t)HASH_COUNT(failures->all), "directory",
                     sv_json_text(conf->logs.remote), "applications", list);
}
