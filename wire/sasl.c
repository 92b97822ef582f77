/* SASL DIGEST-MD5 for tokens on top of GNU SASL; see sasl.h. Called by ipc_server and ipc_client.
 *
 * Hostile: the peer's directives. The library checks neither digest-uri, nc, realm nor duplicates on
 * the server's side, so directives_parse and server_directives_ok do, before it sees them. */
#include "wire/sasl.h"

#include <errno.h>
#include <gsasl.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"

#define DIGEST_URI "/" SASL_SERVER_ID
#define DIRECTIVES_MAX 16

static Gsasl *library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static int property_callback(Gsasl *ctx, Gsasl_session *session, Gsasl_property prop);

static void library_init(void)
{
    if (gsasl_init(&library) != GSASL_OK)
        library = NULL;
    else
        gsasl_callback_set(library, property_callback);
}

/* ---- Directives: name=token or name="quoted", separated by commas ---- */

struct directive {
    char *name;
    char *value;
};

struct directives {
    char text[IPC_SASL_RESPONSE_MAX + 1]; /* names and values are cut out of it */
    struct directive d[DIRECTIVES_MAX];
    size_t n;
};

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool token_char(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("()<>@,;:\\\"/[]?={}", c);
}

static char *blanks_skip(char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* One directive at p. NULL on a violation, else the place behind it. Backslashes are refused:
 * nothing that Hadoop puts into a directive needs one. */
static char *directive_parse(char *p, struct directive *ret)
{
    ret->name = p;
    while (name_char(*p))
        p++;
    if (p == ret->name || *p != '=')
        return NULL;
    *p++ = 0;
    char *end;
    if (*p == '"') {
        ret->value = ++p;
        while (*p && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
            p++;
        if (*p != '"')
            return NULL;
        end = p++;
    } else {
        ret->value = p;
        while (token_char(*p))
            p++;
        if (p == ret->value)
            return NULL;
        end = p;
    }
    p = blanks_skip(p);
    if (*p == ',')
        p = blanks_skip(p + 1);
    else if (*p)
        return NULL;
    *end = 0;
    return p;
}

/* Realm may come more than once in a challenge, nothing else may. */
static int directives_parse(struct directives *ds, const uint8_t *p, size_t n, size_t max)
{
    if (n == 0 || n > max || n >= sizeof ds->text || memchr(p, 0, n))
        return -EBADMSG;
    memcpy(ds->text, p, n);
    ds->text[n] = 0;
    ds->n = 0;
    for (char *at = blanks_skip(ds->text); *at;) {
        if (ds->n == DIRECTIVES_MAX)
            return -EBADMSG;
        at = directive_parse(at, &ds->d[ds->n]);
        if (!at)
            return -EBADMSG;
        for (size_t i = 0; i < ds->n; i++)
            if (sv_streq(ds->d[i].name, ds->d[ds->n].name))
                return -EBADMSG;
        ds->n++;
    }
    return 0;
}

static const char *directive(const struct directives *ds, const char *name)
{
    for (size_t i = 0; i < ds->n; i++)
        if (sv_streq(ds->d[i].name, name))
            return ds->d[i].value;
    return NULL;
}

/* True if every directive has a name from the list, which ends with NULL. */
static bool directives_known(const struct directives *ds, const char *const *names)
{
    for (size_t i = 0; i < ds->n; i++) {
        const char *const *k = names;
        while (*k && !sv_streq(*k, ds->d[i].name))
            k++;
        if (!*k)
            return false;
    }
    return true;
}

static bool absent_or(const char *value, const char *wanted)
{
    return !value || sv_streq(value, wanted);
}

/* ---- Server ---- */

struct sasl_server {
    Gsasl_session *session;
    ipc_token_verifier verify;
    void *userdata;
    char *challenge;
    char *answer;
    uint8_t *id;
    size_t id_len;
    char user[256];
    bool done, verified;
    const char *why_class; /* of a refusal by the verifier */
    struct sv_error why;
};

static void secret_set(Gsasl_session *session, const uint8_t *password, size_t len)
{
    char *text = NULL;
    if (sv_base64_encode(password, len, &text) < 0)
        return;
    gsasl_property_set(session, GSASL_PASSWORD, text);
    OPENSSL_cleanse(text, strlen(text));
    free(text);
}

/* The library asks for the password when it has the username: time to ask the verifier. */
static int server_password(struct sasl_server *s)
{
    uint8_t password[64];
    size_t len = 0;
    int r = s->verify(s->id, s->id_len, password, &len, s->user, &s->why_class, &s->why,
                      s->userdata);
    if (r >= 0 && len <= sizeof password) {
        s->verified = true;
        secret_set(s->session, password, len);
    }
    OPENSSL_cleanse(password, sizeof password);
    return s->verified ? GSASL_OK : GSASL_AUTHENTICATION_ERROR;
}

int sasl_server_new(ipc_token_verifier verify, void *userdata, struct sasl_server **ret)
{
    pthread_once(&library_once, library_init);
    if (!library)
        return -ENOMEM;
    _cleanup_(sasl_server_freep) struct sasl_server *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->verify = verify;
    s->userdata = userdata;
    if (gsasl_server_start(library, SASL_MECHANISM, &s->session) != GSASL_OK)
        return -ENOMEM;
    gsasl_session_hook_set(s->session, s);
    gsasl_property_set(s->session, GSASL_REALM, SASL_SERVER_ID);
    gsasl_property_set(s->session, GSASL_QOPS, "qop-auth");
    char *out = NULL;
    size_t len = 0;
    if (gsasl_step(s->session, NULL, 0, &out, &len) != GSASL_NEEDS_MORE) {
        gsasl_free(out);
        return -EIO;
    }
    s->challenge = strndup(out, len);
    gsasl_free(out);
    if (!s->challenge)
        return -ENOMEM;
    *ret = SV_TAKE(s);
    return 0;
}

struct sasl_server *sasl_server_free(struct sasl_server *s)
{
    if (!s)
        return NULL;
    if (s->session)
        gsasl_finish(s->session);
    free(s->challenge);
    free(s->answer);
    free(s->id);
    free(s);
    return NULL;
}

const char *sasl_server_challenge(const struct sasl_server *s)
{
    return s->challenge;
}

/* What RFC 2831 lets a client send and Hadoop's clients do send; refuses the rest. Fills s->id. */
static int server_directives_ok(struct sasl_server *s, const struct directives *ds)
{
    static const char *const names[] = { "username", "realm",    "nonce",  "cnonce",
                                         "nc",       "qop",      "digest-uri", "response",
                                         "maxbuf",   "charset",  "authzid", NULL };
    const char *user = directive(ds, "username"), *maxbuf = directive(ds, "maxbuf");
    const char *cnonce = directive(ds, "cnonce"), *authzid = directive(ds, "authzid");
    uint64_t number;
    if (!directives_known(ds, names) || !user || !*user || !directive(ds, "nonce") || !cnonce || !*cnonce ||
        !directive(ds, "response"))
        return -EBADMSG;
    if (!sv_streq(directive(ds, "nc"), "00000001") ||
        !sv_streq(directive(ds, "digest-uri"), DIGEST_URI) ||
        !absent_or(directive(ds, "realm"), SASL_SERVER_ID) ||
        !absent_or(directive(ds, "qop"), "auth") || !absent_or(directive(ds, "charset"), "utf-8") ||
        (authzid && *authzid && !sv_streq(authzid, user)))
        return -EBADMSG;
    if (maxbuf && sv_parse_u64(maxbuf, 17, 16777215, &number) < 0)
        return -EBADMSG;
    return sv_base64_decode(user, strlen(user), YARN_TOKEN_ID_MAX, &s->id, &s->id_len);
}

static int server_refuse(struct sasl_server *s, const char **ret_class, struct sv_error *err)
{
    if (s->id && !s->verified && s->why.code < 0) {
        *ret_class = s->why_class ? s->why_class : JAVA_INVALID_TOKEN;
        return sv_error_set(err, -EACCES, "%s", s->why.text);
    }
    *ret_class = JAVA_INVALID_TOKEN;
    return sv_error_set(err, -EACCES, "the token's password does not fit its identifier");
}

int sasl_server_step(struct sasl_server *s, const uint8_t *p, size_t n, const char **ret,
                     const char **ret_class, struct sv_error *err)
{
    struct directives ds;
    *ret_class = JAVA_SASL_EXCEPTION;
    if (s->done || s->id)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": the exchange is over");
    if (directives_parse(&ds, p, n, IPC_SASL_RESPONSE_MAX) < 0 || server_directives_ok(s, &ds) < 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": digest response format violation");
    char *out = NULL;
    size_t len = 0;
    int r = gsasl_step(s->session, (const char *)p, n, &out, &len);
    if (r != GSASL_OK || !s->verified) {
        gsasl_free(out);
        return server_refuse(s, ret_class, err);
    }
    s->answer = strndup(out ? out : "", len);
    gsasl_free(out);
    if (!s->answer)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": out of memory");
    s->done = true;
    *ret = s->answer;
    return 0;
}

const char *sasl_server_user(const struct sasl_server *s)
{
    return s->user;
}

const uint8_t *sasl_server_token_id(const struct sasl_server *s, size_t *ret_len)
{
    *ret_len = s->id_len;
    return s->id;
}

/* ---- Client ---- */

struct sasl_client {
    Gsasl_session *session;
    char *out;
    int step; /* 0 waits for the challenge, 1 for rspauth, 2 is done, 3 has failed */
};

int sasl_client_new(const struct yarn_token *token, struct sasl_client **ret)
{
    pthread_once(&library_once, library_init);
    if (!library)
        return -ENOMEM;
    _cleanup_(sasl_client_freep) struct sasl_client *c = calloc(1, sizeof *c);
    _cleanup_free_ char *user = NULL;
    if (!c)
        return -ENOMEM;
    int r = sv_base64_encode(token->id, token->id_len, &user);
    if (r < 0)
        return r;
    if (gsasl_client_start(library, SASL_MECHANISM, &c->session) != GSASL_OK)
        return -ENOMEM;
    gsasl_session_hook_set(c->session, NULL);
    gsasl_property_set(c->session, GSASL_AUTHID, user);
    secret_set(c->session, token->password, token->password_len);
    gsasl_property_set(c->session, GSASL_SERVICE, "");
    gsasl_property_set(c->session, GSASL_HOSTNAME, SASL_SERVER_ID);
    gsasl_property_set(c->session, GSASL_REALM, SASL_SERVER_ID);
    gsasl_property_set(c->session, GSASL_QOP, "qop-auth");
    *ret = SV_TAKE(c);
    return 0;
}

struct sasl_client *sasl_client_free(struct sasl_client *c)
{
    if (!c)
        return NULL;
    if (c->session)
        gsasl_finish(c->session);
    free(c->out);
    free(c);
    return NULL;
}

/* "auth" in a list such as "auth,auth-int"; no list means auth. */
static bool offers_auth(const char *qop)
{
    _cleanup_strv_ char **list = NULL;
    if (!qop)
        return true;
    if (sv_strv_split(qop, ',', &list) < 0)
        return false;
    for (char **q = list; *q; q++)
        if (sv_streq(*q, "auth"))
            return true;
    return false;
}

static bool client_challenge_ok(const uint8_t *p, size_t n)
{
    struct directives ds;
    const char *nonce;
    return directives_parse(&ds, p, n, IPC_SASL_CHALLENGE_MAX) >= 0 &&
           (nonce = directive(&ds, "nonce")) && *nonce &&
           sv_streq(directive(&ds, "algorithm"), "md5-sess") &&
           offers_auth(directive(&ds, "qop")) && absent_or(directive(&ds, "charset"), "utf-8") &&
           absent_or(directive(&ds, "realm"), SASL_SERVER_ID);
}

static int client_step(struct sasl_client *c, const uint8_t *p, size_t n, const char **ret,
                       struct sv_error *err)
{
    if (c->step >= 2)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": the exchange is over");
    if (c->step == 0 && !client_challenge_ok(p, n))
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": malformed challenge");
    if (c->step == 1 && (n == 0 || n > IPC_SASL_CHALLENGE_MAX || memchr(p, 0, n)))
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": malformed rspauth");
    char *out = NULL;
    size_t len = 0;
    int r = gsasl_step(c->session, (const char *)p, n, &out, &len);
    bool ok = c->step == 0 ? r == GSASL_NEEDS_MORE : r == GSASL_OK;
    free(c->out);
    c->out = ok ? strndup(out ? out : "", len) : NULL;
    gsasl_free(out);
    if (!ok)
        return sv_error_set(err, -EACCES, "%s",
                            c->step ? SASL_MECHANISM ": the server does not know the password"
                                    : SASL_MECHANISM ": the challenge offers nothing we accept");
    if (!c->out)
        return sv_error_set(err, -ENOMEM, SASL_MECHANISM ": out of memory");
    *ret = c->out;
    return 0;
}

int sasl_client_step(struct sasl_client *c, const uint8_t *p, size_t n, const char **ret,
                     struct sv_error *err)
{
    int r = client_step(c, p, n, ret, err);
    c->step = r < 0 ? 3 : c->step + 1;
    return r;
}

bool sasl_client_done(const struct sasl_client *c)
{
    return c->step == 2;
}

/* ---- What the library asks for and has not been told ---- */

static int property_callback(Gsasl *ctx, Gsasl_session *session, Gsasl_property prop)
{
    (void)ctx;
    struct sasl_server *s = gsasl_session_hook_get(session);
    if (s && prop == GSASL_PASSWORD)
        return server_password(s);
    return GSASL_NO_CALLBACK;
}
