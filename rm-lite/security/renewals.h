/* Which delegation tokens are kept alive for applications, and when each is renewed next: the pure
 * half of Hadoop's DelegationTokenRenewer (token-renewer.h makes the calls).
 *
 * A new application waits until each of its tokens was renewed once (`admitted`). From then on a
 * token is renewed at 90 % of its life, and while it lives also after failures. Applications that
 * have the same token share it; it is cancelled when the last of them has ended, unless one of them
 * asked for it to be kept. Calls are bounded in all and for each service, and services take turns:
 * one that does not answer delays its own tokens alone.
 *
 * Times are milliseconds of the wall clock, as the ends of tokens. Hostile: the tokens. */
#ifndef SELVEDGE_RM_LITE_SECURITY_RENEWALS_H
#define SELVEDGE_RM_LITE_SECURITY_RENEWALS_H

#include "common/error.h"
#include "wire/ids.h"
#include "wire/token/token.h"

#define RM_RENEWALS_MAX 100000
#define RM_RENEWALS_OF_APP_MAX 256
#define RM_RENEWALS_OPEN_MAX 50 /* calls: Hadoop's number of threads */
#define RM_RENEWALS_OPEN_OF_SERVICE_MAX 8
#define RM_RENEWAL_RETRY_MIN_MS 1000
#define RM_RENEWAL_RETRY_MAX_MS 60000

struct rm_renewals;
struct rm_renewal; /* one token */

struct rm_renewals_ops {
    /* Begins a call, whose end is told once, by rm_renewal_renewed() or rm_renewal_cancelled(),
     * also from inside. */
    void (*renew)(void *userdata, struct rm_renewal *t);
    void (*cancel)(void *userdata, struct rm_renewal *t);
    /* A new application may start (why NULL), or not: then it has no tokens here any more. Not to
     * call a function of this header. */
    void (*admitted)(void *userdata, struct yarn_app_id app, const char *why);
    /* An application that goes on has lost a token, which is not renewed any more. Not to call a
     * function of this header. NULL: nobody asks. */
    void (*lost)(void *userdata, struct yarn_app_id app, const struct yarn_token *token);
    /* An application lets go of its tokens. Likewise. NULL: nobody asks. */
    void (*gone)(void *userdata, struct yarn_app_id app);
    /* A token with which rm_renewal_keep() left something has gone. */
    void (*released)(void *userdata, void *kept);
    void *userdata;
};

struct rm_renewals_settings {
    int tries; /* of a first renewal that fails for want of an answer; > 0 */
    /* yarn.resourcemanager.delegation-token.always-cancel: at the end of the last application,
     * whatever they asked for. */
    bool always_cancel;
};

/* Out of memory: NULL. Accepts NULL; no call is open any more. */
struct rm_renewals *rm_renewals_new(const struct rm_renewals_settings *s,
                                    const struct rm_renewals_ops *ops);
struct rm_renewals *rm_renewals_free(struct rm_renewals *r);

struct rm_renewals_app {
    struct yarn_app_id id;
    const struct yarn_token *tokens; /* copied */
    size_t n_tokens;
    bool cancel_at_end; /* cancel_tokens_when_complete */
    bool recovered;     /* is not waited for: failures are logged */
};
/* 1: the application may start at once, `admitted` will not be called. 0: it will be. -E2BIG with
 * the reason, -EEXIST, -ENOMEM: nothing has changed. */
int rm_renewals_add(struct rm_renewals *r, const struct rm_renewals_app *app, int64_t now_ms,
                    struct sv_error *err) _must_use_;
/* A live token, the only one of `app->tokens`, in the place of those of its kind that the
 * application has: they are left to their end, and not cancelled. An application that had none is
 * added. -EEXIST: the token is there already; -ENOMEM: nothing has changed. */
int rm_renewals_replace(struct rm_renewals *r, const struct rm_renewals_app *app,
                        int64_t expires_ms, int64_t now_ms) _must_use_;
bool rm_renewals_has(const struct rm_renewals *r, struct yarn_app_id app);
/* The application has ended: it lets go of its tokens at `at_ms`. Of one that still waits, at
 * once and without `admitted`. Unknown ones are ignored. */
void rm_renewals_end(struct rm_renewals *r, struct yarn_app_id app, int64_t at_ms);
/* A node still needs the tokens of an application that has ended: not before `until_ms`. */
void rm_renewals_keep_alive(struct rm_renewals *r, struct yarn_app_id app, int64_t until_ms);

/* A renewal has ended. `status` 0: expires_ms is the token's new end. -EAGAIN: the service did not
 * answer, worth a retry. Another: refused, for the reason `why`. */
void rm_renewal_renewed(struct rm_renewal *t, int status, int64_t expires_ms, const char *why,
                        int64_t now_ms);
void rm_renewal_cancelled(struct rm_renewal *t);
/* Begins what is due. Call it each second, and after an add. */
void rm_renewals_tick(struct rm_renewals *r, int64_t now_ms);

/* The token of an open call. */
const struct yarn_token *rm_renewal_token(const struct rm_renewal *t);
void *rm_renewal_userdata(const struct rm_renewal *t); /* of the ops */
/* An application that has it, the one that brought it if that is still there; its configuration is
 * used. False: there is none, it is being cancelled. */
bool rm_renewal_app(const struct rm_renewal *t, struct yarn_app_id *ret);
/* All of them, by number from 0; false: there are no more. */
bool rm_renewal_next_app(const struct rm_renewal *t, size_t at, struct yarn_app_id *ret);
/* The end of a token as its last renewal has told; 0: there was none yet. */
int64_t rm_renewal_expires(const struct rm_renewal *t);
/* Something of the user's that stays with the token, NULL at first; `released` has it back. */
void *rm_renewal_kept(const struct rm_renewal *t);
void rm_renewal_keep(struct rm_renewal *t, void *kept);

struct rm_renewals_counts {
    size_t applications, tokens, waiting, open, failing;
    uint64_t renewed, failed, cancelled;
};
void rm_renewals_counts(const struct rm_renewals *r, struct rm_renewals_counts *ret);

#endif
