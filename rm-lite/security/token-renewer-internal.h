/* The renewer (token-renewer.c) and its calls (token-calls.c). */
#ifndef SELVEDGE_RM_LITE_SECURITY_TOKEN_RENEWER_INTERNAL_H
#define SELVEDGE_RM_LITE_SECURITY_TOKEN_RENEWER_INTERNAL_H

#include "rm-lite/security/token-renewer.h"

struct rm_namenodes;
struct rm_system_credentials;
struct rm_web_issuers;
struct rm_web_tokens;
struct starting;

struct rm_token_renewer {
    struct rm *rm;
    struct rm_renewals *renewals;
    struct rm_namenodes *namenodes;
    struct rm_web_issuers *issuers;
    struct rm_web_tokens *web;
    struct rm_system_credentials *system; /* NULL: no tokens are got for users */
    struct starting *starting;
    int64_t first_token_ms; /* for which an application waits, at most */
    int64_t ticked_ms;
    bool closing; /* no call begins any more */
};

/* Functions of struct rm_renewals_ops. */
void rm_token_call_renew(void *userdata, struct rm_renewal *t);
void rm_token_call_cancel(void *userdata, struct rm_renewal *t);

#endif
