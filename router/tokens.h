/* The Router's own delegation tokens (RouterDelegationTokenSecretManager): a client gets one in its
 * user's name, and its holder calls ApplicationClientProtocol as that user. Keys and tokens are in
 * the federation's state store, so that every Router of it takes the tokens of all, Apache's too,
 * and a cancelled one is refused everywhere. One loop, one thread.
 *
 * Hostile: identifiers, passwords and names; what the store answers. Times are of the wall clock,
 * as the dates in identifiers. */
#ifndef SELVEDGE_ROUTER_TOKENS_H
#define SELVEDGE_ROUTER_TOKENS_H

#include <netinet/in.h>
#include <systemd/sd-event.h>

#include "common/identity/auth-to-local.h"
#include "federation/store/store.h"
#include "router/conf-tokens.h"
#include "wire/sasl/sasl.h"
#include "wire/token/delegation-rules.h"

struct rtr_tokens;

struct rtr_tokens_config {
    sd_event *event;
    struct fed_store *store;
    const struct rtr_conf_tokens *conf;
    struct sv_auth_to_local *rules; /* NULL: without Kerberos, where names are accounts */
    const char *self;               /* own principal, or account, which may renew every token */
    /* The verdict of that token is known, for which rtr_tokens_verify() has said -EAGAIN. */
    void (*known)(int32_t sequence, void *userdata);
    void *userdata;
};
/* Everything outlives it, but for the store, which must be gone before it is freed: that ends calls
 * and lookups. NULL: no memory. */
struct rtr_tokens *rtr_tokens_new(const struct rtr_tokens_config *cfg);
struct rtr_tokens *rtr_tokens_free(struct rtr_tokens *t); /* accepts NULL, returns NULL */

/* How a call has ended. */
struct rtr_token_answer {
    int status;                     /* 0; -EACCES: refused; -EAGAIN: worth a try later */
    const char *java_class, *text;  /* of a failure, in Hadoop's words where it has some */
    const struct yarn_token *token; /* of a new one */
    int64_t expires_ms;             /* of a renewed one */
};
/* Runs once, with texts and token that are valid during it; it may not free the tokens. */
typedef void (*rtr_token_done)(const struct rtr_token_answer *a, void *userdata);

/* `done` runs at once or later. `real_user`: who acts for the owner, or NULL; full names, as the
 * owner's. `renewer`: any name, of which the token has the account. */
void rtr_tokens_issue(struct rtr_tokens *t, const char *owner, const char *renewer,
                      const char *real_user, rtr_token_done done, void *userdata);
/* Texts and token are copied. */
void rtr_tokens_renew(struct rtr_tokens *t, const struct yarn_token *token,
                      const struct yarn_token_caller *who, rtr_token_done done, void *userdata);
void rtr_tokens_cancel(struct rtr_tokens *t, const struct yarn_token *token,
                       const struct yarn_token_caller *who, rtr_token_done done, void *userdata);

/* As an ipc_token_verifier: the name is the account of the token's owner. -EAGAIN: until `known`
 * runs. `from`: the client, as sv_address_client(). */
int rtr_tokens_verify(struct rtr_tokens *t, const struct in6_addr *from, const uint8_t *id,
                      size_t id_len, uint8_t ret_password[64], size_t *ret_password_len,
                      char ret_user[SASL_USER_MAX], const char **ret_class, struct sv_error *err)
    _must_use_;

#endif
