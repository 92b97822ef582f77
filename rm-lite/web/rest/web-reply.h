/* Answers of the web server: JSON, Hadoop's RemoteException, redirects. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_REPLY_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_REPLY_H

#include "common/web/rest-reply.h"

struct rm;

#define rm_web_tree sv_rest_tree
#define rm_web_json(ret, status, tree) sv_rest_tree(ret, status, NULL, tree)
#define rm_web_error sv_rest_error
/* 403: diagnostics, addresses and containers are only for users who may view the application. */
int rm_web_hidden(const char *user, const char *app, struct sv_http_response *ret) _must_use_;
/* A text with JSON's content type, as some refusals of Hadoop's. `text` may be empty. */
int rm_web_text(struct sv_http_response *ret, unsigned status, const char *text) _must_use_;
/* Location of an answer 202: /ws/v1/cluster/apps/APP and `rest`, at the host that was asked. */
int rm_web_location(const struct rm *rm, struct sv_http_response *ret,
                    const struct sv_http_request *req, const char *app, const char *rest)
    _must_use_;
int rm_web_redirect(struct sv_http_response *ret, const char *to) _must_use_;

#define rm_web_not_found(ret, ...) rm_web_error(ret, 404, "NotFoundException", __VA_ARGS__)
/* A failed valueOf() of a Java enum, as Hadoop's GenericExceptionHandler answers it. */
#define rm_web_illegal_argument(ret, ...)                                                          \
    rm_web_error(ret, 400, "java.lang.IllegalArgumentException", __VA_ARGS__)
#define rm_web_bad_request(ret, ...) rm_web_error(ret, 400, "BadRequestException", __VA_ARGS__)

#endif
