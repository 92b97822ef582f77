/* Renewing and cancelling delegation tokens over HTTP, at WebHDFS and key servers, with the
 * ResourceManager's ticket (SPNEGO). A service of several servers is asked one after the other
 * until one answers. Hostile: the answers. */
#ifndef SELVEDGE_RM_LITE_SECURITY_WEB_TOKENS_H
#define SELVEDGE_RM_LITE_SECURITY_WEB_TOKENS_H

#include "common/error.h"
#include "rm-lite/security/web-issuers.h"
#include "wire/token/token.h"

#define RM_WEB_ANSWER_MAX 16384u  /* bytes */
#define RM_WEB_TOKEN_ID_MAX 4096u /* bytes of an identifier, and of a password */
#define RM_WEB_CALL_MS 20000L     /* at one server, with the login */

struct ipc_kerberos;
struct rm_web_tokens;

struct rm_web_result {
    int status;         /* 0; -EAGAIN: no answer, worth a retry; -EACCES: refused; -ECANCELED */
    int64_t expires_ms; /* of a renewal */
    const char *why;    /* of a failure */
};
typedef void (*rm_web_done)(const struct rm_web_result *r, void *userdata);

/* `login`: handshakes with HTTP servers, by their host; outlives it. NULL: none, for tests. */
int rm_web_tokens_new(sd_event *event, const struct ipc_kerberos *login, struct rm_web_tokens **ret)
    _must_use_;
/* Ends open calls with -ECANCELED. Accepts NULL, returns NULL. */
struct rm_web_tokens *rm_web_tokens_free(struct rm_web_tokens *w);
/* `done` is called once, from the loop, unless this fails; not before this returns. */
int rm_web_tokens_call(struct rm_web_tokens *w, const struct rm_web_issuer *to,
                       const struct yarn_token *token, bool cancel, rm_web_done done,
                       void *userdata, struct sv_error *err) _must_use_;

/* The token's new end in the answer to a renewal. -EBADMSG. */
int rm_web_tokens_parse(const char *text, size_t n, int64_t *ret_expires_ms) _must_use_;

#endif
