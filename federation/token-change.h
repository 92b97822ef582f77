/* Renewing and cancelling a token that a Router has issued, in the state store: by the Routers, for
 * their clients, and by a member's ResourceManager, for the jobs that have such tokens. In Hadoop's
 * order and words (wire/token/delegation-rules.h).
 *
 * Hostile: identifier and password, and what the store answers. Times are of the wall clock. */
#ifndef SELVEDGE_FEDERATION_TOKEN_CHANGE_H
#define SELVEDGE_FEDERATION_TOKEN_CHANGE_H

#include "federation/store/store.h"
#include "wire/token/delegation-rules.h"

struct fed_token_change {
    bool cancel; /* else it is renewed */
    const struct yarn_token *token;
    struct yarn_token_caller who;
    bool self;        /* a Router itself, which may renew every token */
    int64_t renew_ms; /* for how long */
};

struct fed_token_changed {
    int status;                    /* 0; -EACCES: refused; -EAGAIN: worth a try later */
    const char *java_class, *text; /* of a failure */
    int32_t sequence;              /* the token's; 0: it has none */
    int64_t expires_ms;            /* of a renewed one */
};
/* Runs once, with texts that are valid during it. May make other calls unless the store is being
 * freed, which is -EAGAIN. */
typedef void (*fed_token_done)(const struct fed_token_changed *r, void *userdata);

/* `done` runs at once or later. Everything is copied. */
void fed_token_change(struct fed_store *s, const struct fed_token_change *c, fed_token_done done,
                      void *userdata);

/* -EAGAIN or -EACCES of a failed call of the store, and the class for a client. */
int fed_token_failure(int error, const char **ret_class);

#endif
