/* The servers: four RPC services and the web, as rm.c starts them. */
#ifndef SELVEDGE_RM_LITE_SERVICES_H
#define SELVEDGE_RM_LITE_SERVICES_H

#include "rm-lite/rm.h"

int rm_services_start(struct rm *rm, struct sv_error *err) _must_use_;
void rm_services_stop(struct rm *rm);
void rm_tick(struct rm *rm); /* one look at the clock; by timer, and by tests */

extern const struct ipc_protocol *const rm_client_protocols[];  /* client-rm-service.c */
extern const struct ipc_protocol *const rm_tracker_protocols[]; /* resource-tracker-service.c */
extern const struct ipc_protocol *const rm_admin_protocols[];   /* admin-service.c */

/* cluster-reports.c: the part of ApplicationClientProtocol that tells of nodes and queues */
void rm_on_getClusterMetrics(struct ipc_call *call, const ProtobufCMessage *request,
                             void *userdata);
void rm_on_getClusterNodes(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void rm_on_getQueueInfo(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void rm_on_getQueueUserAcls(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);

/* client-rm-service.c: "Application … was killed by user … at …" in the arena */
char *rm_kill_text(struct sv_arena *a, const struct rm_app *app, const char *user,
                   const char *address, const char *message);

/* web.c */
int rm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata);

#endif
