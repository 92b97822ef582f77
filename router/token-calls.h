/* The methods of ApplicationClientProtocol about delegation tokens, and logins with them. */
#ifndef SELVEDGE_ROUTER_TOKEN_CALLS_H
#define SELVEDGE_ROUTER_TOKEN_CALLS_H

#include "router/router.h"
#include "wire/ipc/ipc-server.h"

int rtr_token_calls_start(struct router *r, struct sv_error *err) _must_use_;
/* The store must be gone. */
void rtr_token_calls_stop(struct router *r);
/* An ipc_token_verifier; userdata: struct router. */
int rtr_token_verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                     size_t *ret_password_len, char ret_user[256], const char **ret_class,
                     struct sv_error *err, void *userdata);

void rtr_on_getDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                               void *userdata);
void rtr_on_renewDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata);
void rtr_on_cancelDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                  void *userdata);

#endif
