/* See web-gate.h. An answer to a request that is refused takes a cookie away that does not hold, as
 * Hadoop's does; nothing of a refusal is more than the client may know. */
#include "common/web/web-gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "common/web/auth-cookie.h"
#include "common/web/spnego.h"
#include "common/web/web-acting.h"
#include "common/web/web-user.h"

#define REQUIRED "Authentication required" /* Hadoop's text */
#define LATER "this server cannot take tickets now: try again later"
#define WORDS_MAX 300

/* A ticket that is being judged, or has been; kept with its request. */
struct ticket {
    struct sv_web_gate *gate;
    struct sv_http_caller *caller;
    struct sv_web_question *question;
    bool judged;
    int status;
    char *principal; /* NULL: none */
    char *challenge; /* with a token for the client; NULL: none */
    char words[WORDS_MAX];
};

/* ---- Answers ---- */

static int set_cookie(const struct sv_web_gate *g, struct sv_http_caller *c, const char *value,
                      int64_t expires_ms)
{
    const struct sv_auth_cookie_header h = { .value = value,
                                             .domain = g->cfg.login->domain,
                                             .expires_ms =
                                                 g->cfg.login->persistent ? expires_ms : -1,
                                             .secure = g->cfg.https };

    return sv_auth_cookie_header(&h, &c->cookie);
}

static int refuse(const struct sv_web_gate *g, struct sv_http_caller *c,
                  struct sv_http_response *ret, unsigned status, const char *words)
{
    bool keeps = c->operation && status == 401; /* as Hadoop's: it is not the cookie's end */
    int r = keeps ? 0 : set_cookie(g, c, NULL, 0);

    if (r >= 0)
        r = sv_asprintf(&ret->body, "%s\n", words);
    if (r < 0)
        return r;
    ret->body_len = strlen(ret->body);
    ret->status = status;
    return SV_HTTP_REFUSED;
}

/* 401 with what the client shall answer. */
static int challenge(const struct sv_web_gate *g, struct sv_http_caller *c,
                     struct sv_http_response *ret, const char *how)
{
    c->challenge = strdup(how);
    return c->challenge ? refuse(g, c, ret, 401, REQUIRED) : -ENOMEM;
}

/* A refusal that is not the client's fault leaves its cookie. */
static int unavailable(struct sv_http_response *ret)
{
    int r = sv_asprintf(&ret->body, LATER "\n");

    if (r < 0)
        return r;
    ret->body_len = strlen(ret->body);
    ret->status = 503;
    return SV_HTTP_REFUSED;
}

static int set_names(struct sv_http_caller *c, const char *user, const char *full)
{
    c->user = strdup(user);
    c->full = strdup(full);
    return c->user && c->full ? 0 : -ENOMEM;
}

static bool by_tickets(const struct sv_web_gate *g)
{
    return sv_streq(g->cfg.auth->auth_type, "kerberos");
}

/* The caller is known, and gets a cookie, where one can hold the names. */
static int admit(const struct sv_web_gate *g, struct sv_http_caller *c, const char *user,
                 const char *principal)
{
    const struct sv_web_auth *auth = g->cfg.auth;
    const struct sv_auth_cookie cookie = { .user = user,
                                           .principal = principal,
                                           .type = auth->auth_type,
                                           .expires_ms = sv_wall_ms() + g->cfg.login->validity_ms };
    _cleanup_free_ char *value = NULL;
    int r = c->operation ? -EINVAL /* Hadoop's filter gives none with a token */
                         : sv_auth_cookie_sign(&cookie, auth->secret, auth->secret_len, &value);

    if (r >= 0)
        r = set_cookie(g, c, value, cookie.expires_ms);
    if (r < 0 && r != -EINVAL)
        return r;
    return set_names(c, user, principal);
}

/* ---- Cookie and name ---- */

static bool knows_cookie(const struct sv_web_gate *g, const struct sv_http_request *req,
                         struct sv_auth_names *ret)
{
    const char *cookies = sv_http_header(req, "Cookie");
    const struct sv_web_auth *auth = g->cfg.auth;

    return cookies &&
           sv_auth_cookie_names(cookies, auth->secret, auth->secret_len, auth->auth_type,
                                sv_wall_ms(), ret) >= 0 &&
           sv_web_is_user_name(ret->user);
}

static int by_cookie(const struct sv_web_gate *g, struct sv_http_caller *c,
                     const struct sv_auth_names *names)
{
    c->proof = by_tickets(g) ? SV_HTTP_TICKET : SV_HTTP_CLAIM;
    return set_names(c, names->user, *names->principal ? names->principal : names->user);
}

static int by_name(const struct sv_web_gate *g, const struct sv_http_request *req,
                   struct sv_http_response *ret)
{
    const char *name = sv_http_query(req, "user.name");

    if (name && sv_web_is_user_name(name))
        return admit(g, req->caller, name, name);
    return g->cfg.login->anonymous ? 0 : challenge(g, req->caller, ret, "PseudoAuth");
}

/* ---- Tickets ---- */

static void drop_ticket(void *data)
{
    struct ticket *t = data;

    if (!t->judged)
        t->gate->waiting--;
    sv_web_question_drop(t->question);
    free(t->principal);
    free(t->challenge);
    free(t);
}

static void on_judged(const struct sv_web_verdict *v, void *userdata)
{
    struct ticket *t = userdata;

    t->judged = true;
    t->gate->waiting--;
    t->status = v->status;
    snprintf(t->words, sizeof(t->words), "%s", v->text ? v->text : "");
    if (v->status == 0 && v->token_len > 0 &&
        sv_spnego_challenge(v->token, v->token_len, &t->challenge) < 0)
        t->status = -ENOMEM;
    if (v->status == 0 && v->principal) {
        t->principal = strdup(v->principal);
        if (!t->principal)
            t->status = -ENOMEM;
    }
    sv_http_wake(t->caller);
}

/* Whether the request's ticket is taken, when the acceptor has said whose it is. */
static int conclude(const struct ticket *t, struct sv_http_response *ret)
{
    const struct sv_web_gate *g = t->gate;
    char user[SV_LOCAL_NAME_MAX + 1], words[WORDS_MAX + 64];
    struct sv_error err = { 0 };

    if (t->status == -EACCES) {
        snprintf(words, sizeof(words), "the ticket is refused: %s", t->words);
        return refuse(g, t->caller, ret, 403, words);
    }
    if (t->status < 0) {
        sv_log_debug("http: a ticket: %s", t->words);
        return unavailable(ret);
    }
    if (!t->principal)
        return challenge(g, t->caller, ret, t->challenge ? t->challenge : SV_SPNEGO_SCHEME);
    if (sv_auth_to_local(g->cfg.rules, t->principal, strlen(t->principal), user, &err) < 0)
        return refuse(g, t->caller, ret, 403, err.text);
    if (!sv_web_is_user_name(user))
        return refuse(g, t->caller, ret, 403,
                      "hadoop.security.auth_to_local gives the ticket's principal a name that no "
                      "account has");
    if (t->challenge) {
        t->caller->challenge = strdup(t->challenge);
        if (!t->caller->challenge)
            return -ENOMEM;
    }
    t->caller->proof = SV_HTTP_TICKET;
    return admit(g, t->caller, user, t->principal);
}

static int ask(struct sv_web_gate *g, struct sv_http_caller *c, const uint8_t *token, size_t n,
               struct sv_http_response *ret)
{
    struct ticket *t;
    struct sv_error err = { 0 };

    if (g->waiting >= SV_WEB_GATE_WAITING_MAX)
        return unavailable(ret);
    t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    t->gate = g;
    t->caller = c;
    if (g->cfg.acceptor->f->ask(g->cfg.acceptor, token, n, on_judged, t, &t->question, &err) < 0) {
        free(t);
        sv_log_debug("http: a ticket: %s", err.text);
        return unavailable(ret);
    }
    g->waiting++;
    c->kept = (struct sv_http_kept){ t, drop_ticket };
    return -EAGAIN;
}

static int refuse_header(const struct sv_web_gate *g, struct sv_http_caller *c,
                         struct sv_http_response *ret, int why)
{
    if (why == -EPROTONOSUPPORT)
        return refuse(
            g, c, ret, 403,
            "the client sent NTLM: it has no Kerberos ticket for this server, or does not "
            "use it for this host name");
    if (why == -EMSGSIZE)
        return refuse(g, c, ret, 431,
                      "the ticket in the header Authorization is larger than 48 KiB");
    if (why == -EBADMSG)
        return refuse(g, c, ret, 400,
                      "the header Authorization has no base64 text behind " SV_SPNEGO_SCHEME);
    return why;
}

static bool is_open(const struct sv_web_gate *g, const char *path)
{
    for (char **p = g->cfg.login->open_paths; p && *p; p++)
        if (strcmp(*p, path) == 0)
            return true;
    return false;
}

static int by_ticket(struct sv_web_gate *g, const struct sv_http_request *req,
                     struct sv_http_response *ret)
{
    const char *header = sv_http_header(req, "Authorization");
    _cleanup_free_ uint8_t *token = NULL;
    size_t n;
    int r;

    if (is_open(g, req->path))
        return 0;
    if (!g->cfg.acceptor)
        return refuse(g, req->caller, ret, 403,
                      "this server takes no tickets: the request needs a valid cookie hadoop.auth "
                      "of another daemon");
    r = header ? sv_spnego_token(header, &token, &n) : -ENODATA;
    if (r == -ENODATA)
        return challenge(g, req->caller, ret, SV_SPNEGO_SCHEME);
    return r < 0 ? refuse_header(g, req->caller, ret, r) : ask(g, req->caller, token, n, ret);
}

/* ---- Requests ---- */

/* Finds out who calls, before anybody is acted for. */
static int identify(struct sv_web_gate *g, const struct sv_http_request *req,
                    struct sv_http_response *ret)
{
    struct sv_http_caller *c = req->caller;
    struct ticket *t = c->kept.data;
    const char *bearer = NULL;
    struct sv_auth_names names;
    int r;

    if (t && !t->judged)
        return -EAGAIN; /* woken for another reason */
    if (t) {
        c->kept.data = NULL;
        r = conclude(t, ret);
        drop_ticket(t);
        return r;
    }
    if (knows_cookie(g, req, &names))
        return by_cookie(g, c, &names);
    if (c->operation == SV_WEB_WRONG_METHOD || c->operation == SV_WEB_CANCEL_TOKEN)
        return 0;                       /* as nobody */
    if (g->cfg.rights && !c->operation) /* a token is no way to a token */
        bearer = sv_web_bearer_text(req);
    if (bearer)
        return sv_web_take_bearer(g->cfg.rights, bearer, c, ret);
    return by_tickets(g) ? by_ticket(g, req, ret) : by_name(g, req, ret);
}

static int check(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    struct sv_web_gate *g = userdata;
    int r;

    if (g->cfg.auth->proven_only && !by_tickets(g))
        return 0; /* nobody proves who he is, and all may read */
    if (g->cfg.rights && g->cfg.rights->operations && by_tickets(g))
        req->caller->operation = (int)sv_web_operation(req);
    r = req->caller->user ? 0 : identify(g, req, ret);
    return r == 0 && g->cfg.rights ? sv_web_act(g->cfg.rights, g->cfg.rules, req, ret) : r;
}

void sv_web_gate_init(struct sv_web_gate *g, const struct sv_web_gate_config *cfg)
{
    *g = (struct sv_web_gate){ .http = { .check = check, .userdata = g }, .cfg = *cfg };
    if (cfg->acceptor)
        g->http.head_max = HTTP_HEAD_TICKET_MAX;
}
