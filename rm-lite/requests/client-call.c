/* Callers and arguments of ApplicationClientProtocol's methods; see client-call.h. Requests are
 * hostile. */
#include "rm-lite/requests/client-call.h"

#include <errno.h>

#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/security/access.h"
#include "wire/ipc/methods.h"

#define CONFIRM "' doesn't exist in RM. Please check that the job submission was successful."

const char *rm_client_user(struct ipc_call *call)
{
    const char *user = ipc_call_peer(call)->user;

    return user && *user ? user : "nobody";
}

struct rm_app *rm_client_app(struct ipc_call *call, struct rm *rm,
                             const Hadoop__Yarn__ApplicationIdProto *m)
{
    struct yarn_app_id id;
    struct rm_app *app;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_app_id_from(m, &id) < 0) {
        ipc_call_fail(call, JAVA_APP_NOT_FOUND, "Invalid application id: null");
        return NULL;
    }
    app = rm_app_find(rm, id);
    if (!app)
        ipc_call_fail(call, JAVA_APP_NOT_FOUND, "Application with id '%s%s",
                      yarn_app_id_text(id, text), CONFIRM);
    return app;
}

struct rm_attempt *rm_client_attempt(struct ipc_call *call, struct rm *rm,
                                     const Hadoop__Yarn__ApplicationAttemptIdProto *m)
{
    struct yarn_attempt_id id;
    struct rm_attempt *att;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_attempt_id_from(m, &id) < 0) {
        ipc_call_fail(call, JAVA_ATTEMPT_NOT_FOUND, "Invalid application attempt id: null");
        return NULL;
    }
    if (!rm_client_app(call, rm, m->application_id))
        return NULL;
    att = rm_attempt_find(rm, id);
    if (!att)
        ipc_call_fail(call, JAVA_ATTEMPT_NOT_FOUND,
                      "ApplicationAttempt with id '%s' doesn't exist in RM.",
                      yarn_attempt_id_text(id, text));
    return att;
}

bool rm_client_may_modify(struct ipc_call *call, const ProtobufCMessage *request,
                          ipc_handler handler, const struct rm_app *app, const char *operation)
{
    int may = rm_may_modify(app->rm, app, rm_client_user(call));

    if (may == -EAGAIN)
        rm_groups_wait(app->rm, call, request, handler);
    if (may)
        return may > 0;
    rm_audit_fail(&(struct rm_audit){ .user = rm_client_user(call),
                                      .ip = ipc_call_peer(call)->address,
                                      .operation = operation,
                                      .target = "ClientRMService",
                                      .permissions = "User doesn't have permissions to MODIFY_APP",
                                      .description = "Unauthorized user",
                                      .app = app->id_str });
    ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                  "java.security.AccessControlException: User %s cannot perform operation "
                  "MODIFY_APP on %s",
                  rm_client_user(call), app->id_str);
    return false;
}
