/* See web-stored.h. */
#include "rm-lite/web/rest/web-stored.h"

#include <errno.h>
#include <stdlib.h>

#include "common/loop-guard.h"
#include "common/web/json-xml.h"
#include "rm-lite/web/rest/web-reply.h"

/* Behind the store's commit, and before more requests of HTTP. */
#define STORED_PRIORITY (SV_HTTP_PRIORITY - 5)

struct waiting {
    struct sv_http_caller *caller;
    sd_event_source *source;
    json_t *answer; /* NULL: none, only a status */
    bool stored;
};

static void waiting_free(void *data)
{
    struct waiting *w = data;

    sd_event_source_disable_unref(w->source);
    json_decref(w->answer);
    free(w);
}

static int on_stored(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct waiting *w = userdata;

    (void)source;
    w->stored = true;
    sv_http_wake(w->caller);
    return 0;
}

int rm_web_answer_later(struct rm *rm, const struct sv_http_request *req, json_t *answer)
{
    struct waiting *w = calloc(1, sizeof(*w));
    int r;

    if (!w) {
        json_decref(answer);
        return -ENOMEM;
    }
    w->caller = req->caller;
    w->answer = answer;
    r = sd_event_add_defer(rm->event, &w->source, on_stored, w);
    if (r >= 0)
        r = sd_event_source_set_priority(w->source, STORED_PRIORITY);
    if (r < 0) {
        waiting_free(w);
        return r;
    }
    *req->kept = (struct sv_http_kept){ w, waiting_free };
    return -EAGAIN;
}

int rm_web_answer_now(const struct sv_http_request *req, const char *element,
                      struct sv_http_response *ret)
{
    struct waiting *w = req->kept->data;

    if (!w->stored)
        return -EAGAIN;
    ret->status = 200;
    ret->content_type = ret->xml ? SV_XML_TYPE : SV_JSON_TYPE; /* of no body, too, as Hadoop's */
    return w->answer ? rm_web_tree(ret, 200, element, SV_TAKE(w->answer)) : 0;
}
