/* Hadoop's filters of a web server: answers to pages of other origins (CORS), the header that
 * requests of browsers must have (CSRF), and who may show a page in a frame. Hostile: the headers
 * of every request. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_FILTERS_H
#define SELVEDGE_COMMON_WEB_HTTP_FILTERS_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"

/* Order of a daemon's own rows: cross-origin.enabled, rest-csrf.*, xfs-filter.xframe-options. */
enum sv_http_filter_key {
    SV_FILTER_CORS,   /* bool */
    SV_FILTER_CSRF,   /* bool */
    SV_FILTER_HEADER, /* string, as the others */
    SV_FILTER_METHODS,
    SV_FILTER_AGENTS,
    SV_FILTER_FRAME,
    SV_FILTER_N
};
struct sv_http_filters {
    bool cors, csrf;
    bool any_origin;
    char **origins, **methods, **headers, **ignored, **agents; /* owned */
    char *methods_text, *headers_text;                         /* owned */
    const char *max_age, *csrf_header; /* the configuration's, as the next one */
    const char *frame;                 /* X-Frame-Options; NULL: none */
    char *policy, *script_policy;      /* owned: Content-Security-Policy */
};

/* The rows of core-site.xml and the switch of all daemons, for printing. */
const struct sv_conf_key *sv_http_filters_keys(size_t *ret_n);
/* `rows` has SV_FILTER_N. `also`: classes of hadoop.http.filter.initializers that the daemon does
 * the work of, NULL-terminated, or NULL. Free with sv_http_filters_free(), also after an error. The
 * configuration must outlive the result. */
int sv_http_filters_read(struct sv_conf *conf, const struct sv_conf_key *rows,
                         const char *const *also, struct sv_http_filters *ret, struct sv_error *err)
    _must_use_;
void sv_http_filters_free(struct sv_http_filters *f);

/* Whether the CSRF filter lets a request pass; `agent` and `header` may be NULL. */
bool sv_http_filters_pass(const struct sv_http_filters *f, const char *method, const char *agent,
                          const char *header);
/* Whether a page of `origin` may ask with this method and these headers (NULL: not said). */
bool sv_http_filters_origin(const struct sv_http_filters *f, const char *origin, const char *method,
                            const char *headers);

#endif
