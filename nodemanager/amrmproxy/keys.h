/* The local AMRMTokens (AMRMProxyTokenSecretManager): what a master behind the AMRMProxy has in the
 * place of its real one. Their master key is this node's own and rolls as the ResourceManager's
 * does: a next key signs at once, the last one is good for 1.5 expiry intervals of masters more.
 * Keys are in the store before they sign. Hostile: the tokens that are shown. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_KEYS_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_KEYS_H

#include <systemd/sd-event.h>

#include "common/arena.h"
#include "common/error.h"
#include "nodemanager/conf/conf-amrmproxy.h"
#include "wire/token/token.h"

struct nm_amrm_keys;
struct nm_store;

/* Reads the keys of the store, or makes and commits the first one. */
int nm_amrm_keys_new(sd_event *event, struct nm_store *store, const struct nm_conf_amrmproxy *conf,
                     enum yarn_hmac hmac, struct nm_amrm_keys **ret, struct sv_error *err)
    _must_use_;
struct nm_amrm_keys *nm_amrm_keys_free(struct nm_amrm_keys *k);

/* A new local token, without a service, in the arena. */
int nm_amrm_keys_token(const struct nm_amrm_keys *k, struct yarn_attempt_id id, struct sv_arena *a,
                       struct yarn_token *ret) _must_use_;
/* True where a token of that key id is to be replaced. */
bool nm_amrm_keys_rolled(const struct nm_amrm_keys *k, int32_t key_id);
/* The password that belongs to an identifier. -ENOKEY: its key is none of this node's. */
int nm_amrm_keys_password(const struct nm_amrm_keys *k, int32_t key_id, const uint8_t *id,
                          size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX], size_t *ret_len)
    _must_use_;

#endif
