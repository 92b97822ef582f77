/* Answers of REST in the forms of Hadoop's web services: a tree as JSON or XML, by what the client
 * accepts, and the RemoteException of a refusal. Requires jansson. */
#ifndef SELVEDGE_COMMON_WEB_REST_REPLY_H
#define SELVEDGE_COMMON_WEB_REST_REPLY_H

#include <jansson.h>

#include "common/web/http.h"

#define SV_JSON_TYPE "application/json;charset=utf-8"

/* JSON or, with ret->xml, XML. Takes ownership of the tree; NULL: no memory. `element`: the
 * document element of XML for a tree that is not one named object. */
int sv_rest_tree(struct sv_http_response *ret, unsigned status, const char *element, json_t *tree)
    _must_use_;
/* {"RemoteException":{…}} with a class of org.apache.hadoop.yarn.webapp, as REST clients parse it;
 * an `exception` with a dot is the full name of a class. */
int sv_rest_error(struct sv_http_response *ret, unsigned status, const char *exception,
                  const char *fmt, ...) _printf_(4, 5) _must_use_;

#endif
