/* Metrics of a daemon under Hadoop's names: beans for /jmx, and the same as Prometheus text with
 * the names of Hadoop's Prometheus sink (cluster_metrics_num_active_n_ms). Requires jansson.
 * Hostile: the query, and tags with names of queues. */
#ifndef SELVEDGE_COMMON_WEB_JMX_H
#define SELVEDGE_COMMON_WEB_JMX_H

#include <jansson.h>

#include "common/buf.h"
#include "common/web/http.h"

#define SV_JMX_TYPE "application/json; charset=utf8"

/* Creates "Hadoop:service=SERVICE,name=NAME" for a record such as ClusterMetrics, with the tags
 * Context and Hostname. When out of memory, an attribute or the bean is missing. */
json_t *sv_jmx_bean(const char *service, const char *name, const char *record, const char *context);
void sv_jmx_tag(json_t *bean, const char *tag, const char *value);
void sv_jmx_num(json_t *bean, const char *attribute, int64_t value);
void sv_jmx_real(json_t *bean, const char *attribute, double value);

/* ?qry=PATTERN with * and ?, or ?get=BEAN::ATTRIBUTE. "": all of them. */
struct sv_jmx_query {
    char bean[1152], attribute[128];
};
/* -EINVAL: of another form, or longer than any name. */
int sv_jmx_query(const struct sv_http_request *req, struct sv_jmx_query *ret) _must_use_;
/* Returns the bean, or a new one with the wanted attribute alone, or NULL. */
json_t *sv_jmx_select(json_t *bean, const struct sv_jmx_query *q);
/* As above, for a list of beans, which is taken. */
json_t *sv_jmx_selected(json_t *beans, const struct sv_jmx_query *q);
/* Answers a request that sv_jmx_query() refused. */
int sv_jmx_refuse(struct sv_http_response *ret) _must_use_;

/* Both answer from a list of beans; beans of one record must have the same attributes. */
int sv_jmx_answer(const struct sv_http_request *req, json_t *beans, struct sv_http_response *ret)
    _must_use_;
/* Adds `more`, lines of the same form (taken); or NULL. */
int sv_prometheus_answer(json_t *beans, struct sv_buf *more, struct sv_http_response *ret)
    _must_use_;

/* For tests. */
void sv_prometheus_name(const char *record, const char *attribute, char ret[static 256]);
bool sv_jmx_matches(const char *pattern, const char *name);

#endif
