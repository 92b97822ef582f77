/* View access to applications: with yarn.acl.enable only its owner, the users and groups of its
 * VIEW_APP list and administrators see all of an application; others see only that it exists, as
 * with Hadoop's ResourceManager. Hostile: the user's name and the list. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_VIEWER_H
#define SELVEDGE_RM_LITE_REQUESTS_VIEWER_H

#include "common/web/http.h"
#include "common/web/web-auth.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

struct rm_past_app;

struct rm_viewer {
    struct rm *rm;
    bool sees_all;               /* ACLs are off, or an administrator */
    char user[SV_AUTH_USER_MAX]; /* empty: not authenticated */
};

/* Both also reset the record of missing groups (rm_viewer_waits). */
void rm_viewer_of_request(struct rm *rm, const struct sv_http_request *req, struct rm_viewer *ret);
void rm_viewer_of_call(struct rm *rm, struct ipc_call *call, struct rm_viewer *ret);
bool rm_viewer_sees(const struct rm_viewer *v, const struct rm_app *app);
/* Likewise, of an application whose row is in the store alone. */
bool rm_viewer_sees_past(const struct rm_viewer *v, const struct rm_past_app *past);
/* -EAGAIN: the groups of a viewer to whom lists may give access are being looked up. */
int rm_viewer_groups(const struct rm_viewer *v) _must_use_;
/* Call it after all access checks: true if some were answered without the user's groups, which are
 * being looked up. A web handler then answers -EAGAIN; a call is kept and handled again. */
bool rm_viewer_waits(const struct rm_viewer *v);
void rm_groups_wait(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *request,
                    ipc_handler handler);
int rm_viewers_start(struct rm *rm, struct sv_error *err) _must_use_;
void rm_viewers_stop(struct rm *rm);

/* The report of an application, reduced to what the viewer may see. */
Hadoop__Yarn__ApplicationReportProto *rm_viewer_report(const struct rm_viewer *v,
                                                       struct sv_arena *a, struct rm_app *app);

#endif
