/* RM delegation tokens (RMDelegationTokenSecretManager): a client gets one in its user's name; its
 * holder calls ApplicationClientProtocol as that user, until it expires or is cancelled. As in
 * every Hadoop cluster without Kerberos, a client's user name is its claim. With Kerberos a token
 * has its owner's full name and the renewer's account, and is got, renewed and cancelled with
 * tickets alone.
 *
 * A password is the HMAC of the identifier under a master key, which rolls. Only tokens in the
 * table are valid: tokens and keys are in memory and in the state store. Times are of the wall
 * clock, as the dates in identifiers. Hostile: identifiers, passwords and names. */
#ifndef SELVEDGE_RM_LITE_SECURITY_DELEGATION_H
#define SELVEDGE_RM_LITE_SECURITY_DELEGATION_H

#include "common/arena.h"
#include "common/error.h"
#include "rm-lite/core/context.h"
#include "wire/token/delegation-rules.h"

#define RM_DELEGATION_TOKENS_MAX 100000 /* for all users together */

/* Loads the stored tokens and rolls a key that is too old. */
int rm_delegation_new(struct rm *rm, struct sv_error *err) _must_use_;
void rm_delegation_free(struct rm *rm);
/* Rolls the key and drops some of the expired tokens, a few at a time. */
void rm_delegation_tick(struct rm *rm);
size_t rm_delegation_count(const struct rm *rm);

/* On failure err->text, and in *ret_class the Java class of Hadoop's exception. Nothing is valid
 * before it is on disk: rm_store_reply(). */
/* `real_user`: the proxy user acting for the owner, or NULL; full names, as the owner's. `renewer`:
 * any name, of which the token has the account. */
int rm_delegation_issue(struct rm *rm, struct sv_arena *a, const char *owner, const char *renewer,
                        const char *real_user, struct yarn_token *ret, const char **ret_class,
                        struct sv_error *err) _must_use_;
/* When a token ends unless it is renewed; 0: it is none of ours. */
int64_t rm_delegation_expires(const struct rm *rm, const struct yarn_token *t);
/* Allowed for the renewer named in the token, and for the ResourceManager's own account, or
 * principal. */
int rm_delegation_renew(struct rm *rm, const struct yarn_token *t,
                        const struct yarn_token_caller *who, int64_t *ret_expires_ms,
                        const char **ret_class, struct sv_error *err) _must_use_;
/* Allowed for its owner or its renewer. Hadoop does not ask for the password: a name that a client
 * only claims, and a token's number, would end the token of somebody else's job. */
int rm_delegation_cancel(struct rm *rm, const struct yarn_token *t,
                         const struct yarn_token_caller *who, const char **ret_class,
                         struct sv_error *err) _must_use_;
/* An ipc_token_verifier: the name is the account of the token's owner. */
int rm_delegation_verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                         size_t *ret_password_len, char ret_user[256], const char **ret_class,
                         struct sv_error *err, void *userdata) _must_use_;

#endif
