/* Rows of tokens, read for clients that log in with them. A row serves for a moment, so that the
 * connections of one job cost one look; after that the store is asked anew, since another Router
 * may have cancelled the token. Hostile: clients, which name any number, before they prove
 * anything. */
#ifndef SELVEDGE_ROUTER_TOKEN_LOOKUPS_H
#define SELVEDGE_ROUTER_TOKEN_LOOKUPS_H

#include <netinet/in.h>
#include <systemd/sd-event.h>

#include "federation/store/store.h"
#include "wire/token/token.h"

#define RTR_LOOKUPS_MAX 1024     /* rows that are kept */
#define RTR_LOOKUPS_OPEN 64      /* calls of the store at once */
#define RTR_LOOKUPS_OF_ONE 16    /* of them for one client address */
#define RTR_LOOKUP_FRESH_MS 1000 /* a row serves that long */

struct rtr_token_lookups;

struct rtr_token_row {
    int error;         /* as of a store's answer: -ENOENT, -EHOSTDOWN …; 0: the rest is set */
    const uint8_t *id; /* the stored identifier */
    size_t id_len;
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    size_t password_len;
    int64_t renew_ms;
};

/* `known`: the row of that token has come, for which there was -EAGAIN. */
typedef void (*rtr_token_known)(int32_t sequence, void *userdata);

/* NULL: no memory. */
struct rtr_token_lookups *rtr_token_lookups_new(sd_event *event, struct fed_store *store,
                                                rtr_token_known known, void *userdata);
/* The store must be gone. Accepts NULL, returns NULL. */
struct rtr_token_lookups *rtr_token_lookups_free(struct rtr_token_lookups *l);
/* For a client of that address (sv_address_client()). 0: the row, valid until the loop runs.
 * -EAGAIN: it is being read. -EBUSY: too many are, or too many of this address. -ENOMEM. */
int rtr_token_lookups_get(struct rtr_token_lookups *l, int32_t sequence,
                          const struct in6_addr *from, const struct rtr_token_row **ret) _must_use_;
/* Forgets the row, which has changed. */
void rtr_token_lookups_drop(struct rtr_token_lookups *l, int32_t sequence);

#endif
