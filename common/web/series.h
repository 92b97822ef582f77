/* Series of Prometheus' text format: names in base units, each with its type and help. Errors are
 * kept and returned by the last call. Hostile: values of labels, which are escaped. */
#ifndef SELVEDGE_COMMON_WEB_SERIES_H
#define SELVEDGE_COMMON_WEB_SERIES_H

#include "common/buf.h"
#include "common/histogram.h"
#include "common/rpc-counters.h"

#define SV_PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct sv_series {
    struct sv_buf *out;
    int error;
};

/* `type`: "gauge", "counter", "histogram". Its values follow. */
void sv_series_head(struct sv_series *s, const char *name, const char *type, const char *help);
/* A value; `labels` "" or from sv_series_labels(). */
void sv_series_value(struct sv_series *s, const char *name, const char *labels, double value);
void sv_series_histogram(struct sv_series *s, const char *name, const char *labels,
                         const struct sv_histogram *h);
/* A series without labels. */
void sv_series_one(struct sv_series *s, const char *name, const char *type, const char *help,
                   double value);
void sv_series_one_histogram(struct sv_series *s, const char *name, const char *help,
                             const struct sv_histogram *h);

#define SV_SERIES_LABELS 2048
/* `a="b",c="d"` of names and values; ends with NULL. A value is cut where it does not fit. */
const char *sv_series_labels(char ret[static SV_SERIES_LABELS], const char *name, ...)
    __attribute__((sentinel));

/* Puts the series of each daemon: selvedge_build_info, and process_… of this process. */
void sv_series_process(struct sv_series *s, const char *component);

struct sv_series_rpc { /* a server of RPC */
    const char *service;
    size_t connections, open_calls;
    const struct sv_rpc_counters *counters;
    const struct sv_rpc_method *methods;
    size_t n_methods;
};
/* All of them together: connections, open calls, errors, and times by method. */
void sv_series_rpc(struct sv_series *s, const struct sv_series_rpc *servers, size_t n);

#endif
