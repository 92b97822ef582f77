/* Sessions in containers over the web port: a WebSocket at /container/{id}[/{shell}], as Hadoop's
 * NodeManager has it for `yarn container -shell`, and with a subprotocol of ours for
 * `selvedge exec`. Decides who may have one. Hostile: the request. */
#ifndef SELVEDGE_NODEMANAGER_WEB_EXEC_PAGE_H
#define SELVEDGE_NODEMANAGER_WEB_EXEC_PAGE_H

#include "common/web/http.h"

struct nm_web;

#define NM_EXEC_PATH "/container/"

/* `rest`: the path behind NM_EXEC_PATH. -EAGAIN while groups of the caller are looked up. */
int nm_web_exec(const struct nm_web *w, const char *rest, const struct sv_http_request *req,
                struct sv_http_response *ret) _must_use_;

#endif
