/* Shared by the methods of ApplicationClientProtocol: the caller, and the look-up of objects named
 * in a request. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_CLIENT_CALL_H
#define SELVEDGE_RM_LITE_REQUESTS_CLIENT_CALL_H

#include "proto/yarn.pb-c.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

const char *rm_client_user(struct ipc_call *call);
/* The application or attempt of a request, or NULL after the call was answered. */
struct rm_app *rm_client_app(struct ipc_call *call, struct rm *rm,
                             const Hadoop__Yarn__ApplicationIdProto *m);
struct rm_attempt *rm_client_attempt(struct ipc_call *call, struct rm *rm,
                                     const Hadoop__Yarn__ApplicationAttemptIdProto *m);
/* See access.h. False after the call was answered, or if `handler` will get it again later. */
bool rm_client_may_modify(struct ipc_call *call, const ProtobufCMessage *request,
                          ipc_handler handler, const struct rm_app *app, const char *operation);

#endif
