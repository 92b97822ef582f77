/* Rights that a request may show beside who calls, where a daemon has them, as in Hadoop's
 * DelegationTokenAuthenticationFilter: a delegation token of the daemon's in place of a ticket, and
 * ?doAs=, for whom a proxy user acts. For web-gate.h. The daemon decides; nothing here waits.
 * Hostile: tokens and names. */
#ifndef SELVEDGE_COMMON_WEB_WEB_RIGHTS_H
#define SELVEDGE_COMMON_WEB_WEB_RIGHTS_H

#include <sys/socket.h>

#include "common/error.h"
#include "common/web/auth-cookie.h"

/* Operations on delegation tokens, by ?op= on any path, as Hadoop's filter answers them: a GET, and
 * two PUTs. */
enum sv_web_operation {
    SV_WEB_NO_OPERATION,
    SV_WEB_GET_TOKEN,
    SV_WEB_RENEW_TOKEN,
    SV_WEB_CANCEL_TOKEN, /* by whoever has the token: the caller may be nobody */
    SV_WEB_WRONG_METHOD, /* of one of them: answered before anybody is asked who he is */
};

struct sv_web_bearer { /* the holder of a token */
    char user[SV_AUTH_USER_MAX];
    char full[SV_AUTH_USER_MAX]; /* as the token has it */
    char real[SV_AUTH_USER_MAX]; /* the proxy user who got the token, as it has him; "": none */
};

struct sv_web_actor {
    const char *user, *full; /* who calls: the account and the full name */
    const char *for_user, *for_full;
    const struct sockaddr *from; /* NULL: not known */
    bool proven;                 /* by a ticket; else both names are claims */
};

struct sv_web_rights {
    /* Finds the holder of a token, Token.encodeToUrlString(). -EACCES with Hadoop's words, its
     * class first; another negative value is 500. */
    int (*bearer)(const char *text, struct sv_web_bearer *ret, struct sv_error *err,
                  void *userdata);
    /* 0; -EACCES with Hadoop's words; -EAGAIN: called again after sv_http_retry(). */
    int (*may_act)(const struct sv_web_actor *who, struct sv_error *err, void *userdata);
    void *userdata;
    bool operations; /* where callers have tickets, the handler answers sv_web_operation */
};

#endif
