/* Shared by the methods of ApplicationClientProtocol: the caller, and the objects that a request
 * names. */
#ifndef SELVEDGE_RM_LITE_CLIENT_CALL_H
#define SELVEDGE_RM_LITE_CLIENT_CALL_H

#include "proto/yarn.pb-c.h"
#include "rm-lite/context.h"
#include "wire/ipc-server.h"

const char *rm_client_user(struct ipc_call *call);
/* The application or attempt of a request, or NULL after the call was answered. */
struct rm_app *rm_client_app(struct ipc_call *call, struct rm *rm,
                             const Hadoop__Yarn__ApplicationIdProto *m);
struct rm_attempt *rm_client_attempt(struct ipc_call *call, struct rm *rm,
                                     const Hadoop__Yarn__ApplicationAttemptIdProto *m);
/* With ACLs on, an application belongs to its owner and to whom its queue names as administrator;
 * without, to everybody. False after the call was answered. */
bool rm_client_may_modify(struct ipc_call *call, struct rm *rm, const struct rm_app *app,
                          const char *operation);

#endif
