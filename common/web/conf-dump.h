/* The daemons' /conf: keys set by a file or the command line, in the format of Hadoop's
 * ConfServlet. Anyone who reaches the port can read it, so values of keys that match
 * hadoop.security.sensitive-config-keys are "<redacted>". */
#ifndef SELVEDGE_COMMON_WEB_CONF_DUMP_H
#define SELVEDGE_COMMON_WEB_CONF_DUMP_H

#include "common/conf.h"

struct sv_http_request;
struct sv_http_response;

/* Returns malloc'd JSON or XML of all keys, or of `name`; -ENOENT: that key is not set. */
int sv_conf_dump(struct sv_conf *c, const char *name, bool json, char **ret) _must_use_;
/* Answers GET /conf. */
int sv_conf_answer(struct sv_conf *c, const struct sv_http_request *req,
                   struct sv_http_response *ret) _must_use_;

#endif
