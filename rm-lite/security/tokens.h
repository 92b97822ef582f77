/* Tokens for containers, nodes and ApplicationMasters. */
#ifndef SELVEDGE_RM_LITE_SECURITY_TOKENS_H
#define SELVEDGE_RM_LITE_SECURITY_TOKENS_H

#include "common/arena.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

/* All in the arena; NULL without memory or for a node whose address cannot be written. */
Hadoop__Common__TokenProto *rm_token_container(struct sv_arena *a, const struct rm_container *c);
Hadoop__Common__TokenProto *rm_token_nm(struct sv_arena *a, const struct rm_attempt *att,
                                        const struct yarn_node_id *node);
/* As rm_token_nm(), as a struct, for am-launcher.c. */
int rm_token_nm_struct(struct sv_arena *a, const struct rm_attempt *att,
                       const struct yarn_node_id *node, struct yarn_token *ret) _must_use_;
int rm_token_amrm(struct sv_arena *a, const struct rm_attempt *att, struct yarn_token *ret)
    _must_use_;
/* With Kerberos clients authenticate to a master by tokens of the ResourceManager. The key with
 * which the attempt verifies them, given to its master alone; -EOPNOTSUPP without Kerberos. */
int rm_client_am_key(const struct rm_attempt *att, struct yarn_master_key *ret) _must_use_;
/* A token for the client; NULL without Kerberos or memory. */
Hadoop__Common__TokenProto *rm_token_client_am(struct sv_arena *a, const struct rm_attempt *att,
                                               const char *client);

#endif
