/* Master keys from the ResourceManager and verification of the tokens that they sign: NMTokens of
 * connecting ApplicationMasters (NMTokenSecretManagerInNM) and ContainerTokens in their requests
 * (NMContainerTokenSecretManager). Hostile: every token. Keys are recorded immediately, so that a
 * restarted daemon accepts the same tokens. */
#ifndef SELVEDGE_NODEMANAGER_CORE_TOKEN_SECRET_MANAGERS_H
#define SELVEDGE_NODEMANAGER_CORE_TOKEN_SECRET_MANAGERS_H

#include "common/base.h"
#include "common/error.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

struct nm_secrets;
struct nm_store;

int nm_secrets_new(struct nm_store *store, enum yarn_hmac hmac, struct nm_secrets **ret) _must_use_;
struct nm_secrets *nm_secrets_free(struct nm_secrets *s);
/* Reads the keys, the attempts' keys and the used tokens back from the store. */
int nm_secrets_recover(struct nm_secrets *s) _must_use_;
/* "host:port" that every token must name. */
void nm_secrets_set_node(struct nm_secrets *s, const struct yarn_node_id *node);

/* Sets a key from a registration or heartbeat; a new id makes the current one the previous. */
int nm_secrets_set_nm_key(struct nm_secrets *s, const Hadoop__Yarn__MasterKeyProto *key) _must_use_;
int nm_secrets_set_container_key(struct nm_secrets *s, const Hadoop__Yarn__MasterKeyProto *key)
    _must_use_;
/* The current keys, for heartbeats; NULL before the first. */
const struct yarn_master_key *nm_secrets_nm_key(const struct nm_secrets *s);
const struct yarn_master_key *nm_secrets_container_key(const struct nm_secrets *s);

/* An ipc_token_verifier; userdata is the struct nm_secrets. The name is the attempt's text. */
int nm_secrets_verify_nm_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                               size_t *ret_password_len, char ret_user[256], const char **ret_class,
                               struct sv_error *err, void *userdata);
/* Verifies signature and node of a ContainerToken. -EACCES: InvalidToken with err's text. */
int nm_secrets_verify_container_token(struct nm_secrets *s, const struct yarn_token *token,
                                      struct yarn_container_token *ret, struct sv_error *err)
    _must_use_;

/* An attempt starts a container with this NMToken: its key remains valid for that attempt. -EACCES:
 * InvalidToken with err's text. */
int nm_secrets_attempt_starts(struct nm_secrets *s, const struct yarn_nm_token *t,
                              struct sv_error *err) _must_use_;
void nm_secrets_app_finished(struct nm_secrets *s, struct yarn_app_id app);

/* Each container token starts one container. It is remembered as used until it expires; wall clock
 * jumps do not shorten the lifetime it had when used (at most a week). */
bool nm_secrets_token_used(struct nm_secrets *s, const char *container, int64_t *ret_expiry_ms);
int nm_secrets_use_token(struct nm_secrets *s, const char *container, int64_t expiry_ms) _must_use_;

#endif
