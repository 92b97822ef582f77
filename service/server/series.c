/* See series.h. */
#include "service/server/series.h"

#include <stdio.h>

#include "common/loop-guard.h"
#include "common/web/series.h"
#include "service/server/frameworks.h"

int svc_series(const struct svc_flights *all, const struct svc_frameworks *frameworks,
               struct sv_buf *out)
{
    static const char times[] = "selvedge_services_request_seconds";
    static const char answers[] = "selvedge_services_answers_total";
    const struct svc_flight_stats *n = &all->stats;
    struct sv_series s = { .out = out };
    char labels[SV_SERIES_LABELS], status[8];

    sv_series_head(&s, times, "histogram", "From the start of a request's process to its answer.");
    for (int m = 0; m < SVC_METHODS; m++)
        sv_series_histogram(
            &s, times,
            sv_series_labels(labels, "method", svc_method_name((enum svc_method)m), NULL),
            &n->times[m]);
    sv_series_head(&s, answers, "counter", "Answers of requests, by the kind of their status.");
    for (size_t i = 2; i < SV_ARRAY_LEN(n->answers); i++) {
        (void)snprintf(status, sizeof(status), "%zuxx", i);
        sv_series_value(&s, answers, sv_series_labels(labels, "status", status, NULL),
                        (double)n->answers[i]);
    }
    sv_series_one(&s, "selvedge_services_requests_open", "gauge",
                  "Requests that have a process and no answer yet.", (double)svc_flights_open(all));
    sv_series_one(&s, "selvedge_services_requests_refused_total", "counter",
                  "Requests for which there was no process, answered 503.", (double)n->refused);
    sv_series_one(&s, "selvedge_loop_slow_handlers_total", "counter",
                  "Handlers of the event loop that took longer than 100 ms.",
                  (double)sv_loop_stats().slow);
    if (frameworks)
        svc_frameworks_series(frameworks, &s);
    sv_series_process(&s, "selvedge-services");
    return s.error;
}
