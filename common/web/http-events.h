/* Server-sent events (text/event-stream) of changing figures: a browser keeps a request open and
 * gets one line of figures per period. Streams of one object share one sample per period.
 *
 * Hostile: every client. The number of streams is bounded, in all and of one address; each lasts
 * SV_HTTP_EVENTS_MS (browsers then reconnect); one that does not read misses events and costs
 * nothing. Without streams no timer runs. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_EVENTS_H
#define SELVEDGE_COMMON_WEB_HTTP_EVENTS_H

#include "common/web/http.h"

#define SV_HTTP_EVENTS_MS 600000
#define SV_HTTP_EVENT_MAX 16384
#define SV_HTTP_EVENTS_OBJECT 512 /* bytes of an object's name with its NUL */

struct sv_http_events;
struct sv_http_reading { /* per object, for the sampler; initially 0 */
    uint64_t value, at_us;
};
/* Writes the data of one event: a line without newline. A negative result means that the object is
 * gone, which ends its streams. */
typedef int (*sv_http_sampler)(const char *object, struct sv_http_reading *before,
                               char ret[static SV_HTTP_EVENT_MAX], void *userdata);

struct sv_http_events_config {
    uint64_t period_ms;
    unsigned max, max_per_address; /* streams */
    sv_http_sampler sampler;
    void *userdata; /* of the sampler */
};
int sv_http_events_new(sd_event *event, const struct sv_http_events_config *config,
                       struct sv_http_events **ret) _must_use_;
/* Ends all streams. Call before or after sv_http_free of the server. Accepts NULL. */
struct sv_http_events *sv_http_events_free(struct sv_http_events *e);
/* Answers the request from within its handler, which returns this result: SV_HTTP_LATER, or 0 with
 * a 404 (no such object) or a 503 (too many streams) in *ret. The caller must already have checked
 * access to `object`. */
int sv_http_events_open(struct sv_http_events *e, const struct sv_http_request *req,
                        const char *object, struct sv_http_response *ret) _must_use_;
unsigned sv_http_events_count(const struct sv_http_events *e); /* streams that are open */

#endif
