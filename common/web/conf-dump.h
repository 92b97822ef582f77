/* The configuration as the daemons' /conf shows it: the keys that a file or the command line set,
 * in the form of Hadoop's ConfServlet. Whoever reaches the port reads it: values of keys that match
 * hadoop.security.sensitive-config-keys are "<redacted>". */
#ifndef SELVEDGE_COMMON_WEB_CONF_DUMP_H
#define SELVEDGE_COMMON_WEB_CONF_DUMP_H

#include "common/conf.h"

struct sv_http_request;
struct sv_http_response;

/* malloc'd JSON or XML of all keys, or of `name`; -ENOENT: that one is not set. */
int sv_conf_dump(struct sv_conf *c, const char *name, bool json, char **ret) _must_use_;
/* The answer to GET /conf. */
int sv_conf_answer(struct sv_conf *c, const struct sv_http_request *req,
                   struct sv_http_response *ret) _must_use_;

#endif
