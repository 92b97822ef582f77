/* JSON answers of the web server. */
#ifndef SELVEDGE_NODEMANAGER_WEB_WEB_REPLY_H
#define SELVEDGE_NODEMANAGER_WEB_WEB_REPLY_H

#include <jansson.h>

#include "common/web/http.h"

/* Takes ownership of the JSON. */
int nm_web_json(struct sv_http_response *ret, unsigned status, json_t *j);
/* Hadoop's error body: {"RemoteException":{…}}. */
int nm_web_exception(struct sv_http_response *ret, unsigned status, const char *exception,
                     const char *fmt, ...) _printf_(4, 5);

#endif
