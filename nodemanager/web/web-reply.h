/* Answers of the web server's REST: JSON or XML, and Hadoop's refusals. */
#ifndef SELVEDGE_NODEMANAGER_WEB_WEB_REPLY_H
#define SELVEDGE_NODEMANAGER_WEB_WEB_REPLY_H

#include "common/web/rest-reply.h"

#define nm_web_json(ret, status, tree) sv_rest_tree(ret, status, NULL, tree)
#define nm_web_exception sv_rest_error

#endif
