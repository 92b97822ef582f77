/* Shared by register and allocate: the caller of a method, and containers with their tokens as wire
 * messages. */
#ifndef SELVEDGE_RM_LITE_AM_AM_SESSION_H
#define SELVEDGE_RM_LITE_AM_AM_SESSION_H

#include "common/arena.h"
#include "common/error.h"
#include "proto/yarn_service.pb-c.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

/* ipc_token_verifier of the AMRMToken; `userdata` is the struct rm. */
int rm_am_verify_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                       size_t *ret_password_len, char ret_user[256], const char **ret_class,
                       struct sv_error *err, void *userdata);
/* The attempt named by the caller's token, though it may be over; NULL: forgotten. */
struct rm_attempt *rm_am_named(const struct ipc_call *call, struct rm *rm);
/* NULL after the call was answered. */
struct rm_attempt *rm_am_caller(struct ipc_call *call, struct rm *rm);
/* Checks a host or tracking URL that a master gives; NULL passes. False after the call was
 * answered. */
bool rm_am_address_fits(struct ipc_call *call, const struct rm_attempt *att, const char *what,
                        const char *text) _must_use_;
/* NULL without memory. */
Hadoop__Yarn__ContainerProto *rm_am_container(struct sv_arena *a, const struct rm_container *c);
/* NULL if the ApplicationMaster already has an NMToken of this key for the node. */
Hadoop__Yarn__NMTokenProto *rm_am_nm_token(struct sv_arena *a, struct rm_attempt *att,
                                           const struct yarn_node_id *node);
/* Room for n more tokens in the answer. False without memory. */
bool rm_am_more_tokens(struct sv_arena *a, Hadoop__Yarn__AllocateResponseProto *resp, size_t n);

#endif
