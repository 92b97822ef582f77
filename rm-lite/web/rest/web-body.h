/* Requests that change something: the caller, and their bodies, JSON or XML. Hostile. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_BODY_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_BODY_H

#include <jansson.h>

#include "common/web/auth-cookie.h"
#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* The object of a body, whose document element as XML is `root`; or NULL with *ret answered: 415
 * for another content type, else 400. */
json_t *rm_web_body(const struct sv_http_request *req, const char *root,
                    struct sv_http_response *ret);
/* The caller's user. With yarn.acl.enable, and where tickets are taken, empty if not authenticated;
 * else the static user. */
void rm_web_caller(struct rm *rm, const struct sv_http_request *req,
                   char ret_user[SV_AUTH_USER_MAX]);

/* Members of an object. Numbers and booleans may be texts, as old clients write them. 1; 0 without
 * the member (or with null); -EINVAL with the member's name for another type. */
int rm_body_text(const json_t *o, const char *key, const char **ret, struct sv_error *err)
    _must_use_;
int rm_body_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *ret,
                struct sv_error *err) _must_use_;
int rm_body_bool(const json_t *o, const char *key, bool *ret, struct sv_error *err) _must_use_;
int rm_body_object(const json_t *o, const char *key, json_t **ret, struct sv_error *err) _must_use_;

#endif
