/* SASL DIGEST-MD5 for tokens, both sides; see digest-exchange.h. Hostile: the peer's directives,
 * which ipc_digest_parse validates first. Why the exchange is computed here:
 * docs/adr/0006-sasl-integrity-and-privacy.md. */
#include "wire/sasl/digest-exchange.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/exceptions.h"
#include "wire/frame.h"
#include "wire/sasl/digest-layer.h"
#include "wire/sasl/digest.h"

#define DIGEST_URI "/" SASL_SERVER_ID
#define NONCE_LEN 24

/* Texts of Java's implementation, which Hadoop's server forwards. */
#define WHY_FORMAT SASL_MECHANISM ": digest response format violation. "
#define WHY_MISMATCH WHY_FORMAT "Mismatched response."

/* Fresh random bytes as base64. */
static int nonce_make(char **ret)
{
    uint8_t bytes[NONCE_LEN];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return -EIO;
    return sv_base64_encode(bytes, sizeof(bytes), ret);
}

static void text_wipe(char **text)
{
    if (*text)
        OPENSSL_cleanse(*text, strlen(*text));
    free(*text);
}

static struct sasl_bytes bytes_of(const char *text)
{
    return (struct sasl_bytes){ .p = (const uint8_t *)text, .n = strlen(text) };
}

static bool absent_or_equal(const char *value, const char *wanted)
{
    return !value || sv_streq(value, wanted);
}

/* ---- Server ---- */

struct digest_server {
    struct sasl_server base;
    ipc_token_verifier verify;
    void *userdata;
    uint32_t qop_mask;
    char *nonce, *challenge;
    char answer[sizeof("rspauth=") + DIGEST_HEX_LEN];
    uint32_t qop; /* chosen by the client */
    size_t maxbuf;
    bool used;
    uint8_t *held; /* the client's response, while the verifier does not know yet */
    size_t held_len;
};

static const struct sasl_server_functions server_functions;

int ipc_digest_server_new(ipc_token_verifier verify, void *userdata, uint32_t qop_mask,
                          struct sasl_server **ret)
{
    struct digest_server *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    _cleanup_(sasl_server_freep) struct sasl_server *base = &s->base;
    base->f = &server_functions;
    s->verify = verify;
    s->userdata = userdata;
    s->qop_mask = qop_mask ? qop_mask : IPC_QOP_AUTH;
    int r = nonce_make(&s->nonce);
    if (r < 0)
        return r;
    if (asprintf(&s->challenge,
                 "realm=\"" SASL_SERVER_ID
                 "\",nonce=\"%s\",qop=\"%s\",charset=utf-8,%salgorithm=md5-sess",
                 s->nonce, ipc_qop_names(s->qop_mask),
                 s->qop_mask & IPC_QOP_PRIVACY ? "cipher=\"" DIGEST_LAYER_CIPHER "\"," : "") < 0) {
        s->challenge = NULL;
        return -ENOMEM;
    }
    base->challenge = bytes_of(s->challenge);
    *ret = SV_TAKE(base);
    return 0;
}

static void server_free(struct sasl_server *base)
{
    struct digest_server *s = (struct digest_server *)base;
    ipc_sasl_layer_free(base->layer);
    free(base->token_id);
    free(s->nonce);
    free(s->challenge);
    free(s->held);
    free(s);
}

/* Reads the quality chosen by the client, its cipher and its maximum message size. */
static int server_qop(struct digest_server *s, const struct digest_directives *ds,
                      struct sv_error *err)
{
    const char *qop = ipc_digest_get(ds, "qop"), *maxbuf = ipc_digest_get(ds, "maxbuf");
    uint64_t size = SASL_LAYER_MAXBUF;
    s->qop = qop ? ipc_qop_from_name(qop) : IPC_QOP_AUTH;
    if (!s->qop || !(s->qop & s->qop_mask))
        return sv_error_set(err, -EACCES,
                            SASL_MECHANISM
                            ": the client chose qop \"%.32s\"; hadoop.rpc.protection "
                            "here allows %s",
                            qop ? qop : "auth", ipc_qop_text(s->qop_mask));
    if (maxbuf && (sv_parse_u64(maxbuf, 17, 16777215, &size) < 0 ||
                   (s->qop != IPC_QOP_AUTH && size < SASL_LAYER_MAXBUF_MIN)))
        return sv_error_set(err, -EACCES, WHY_FORMAT "Invalid maxbuf.");
    if (s->qop == IPC_QOP_PRIVACY ? !sv_streq(ipc_digest_get(ds, "cipher"), DIGEST_LAYER_CIPHER)
                                  : ipc_digest_get(ds, "cipher") != NULL)
        return sv_error_set(err, -EACCES, WHY_FORMAT "Invalid cipher.");
    s->maxbuf = (size_t)size;
    return 0;
}

/* Accepts responses that RFC 2831 allows and Hadoop's clients send; rejects the rest. Fills
 * token_id. */
static int server_directives(struct digest_server *s, const struct digest_directives *ds,
                             struct sv_error *err)
{
    static const char *const names[] = { "username", "realm",   "nonce",      "cnonce",   "nc",
                                         "qop",      "maxbuf",  "digest-uri", "response", "charset",
                                         "cipher",   "authzid", NULL };
    const char *user = ipc_digest_get(ds, "username"), *cnonce = ipc_digest_get(ds, "cnonce");
    const char *authzid = ipc_digest_get(ds, "authzid"), *nonce = ipc_digest_get(ds, "nonce");
    if (!ipc_digest_known(ds, names) || !user || !*user || !cnonce || !*cnonce || !nonce ||
        !ipc_digest_get(ds, "response"))
        return sv_error_set(err, -EACCES, WHY_FORMAT "A directive is missing or unknown.");
    if (!sv_streq(ipc_digest_get(ds, "nc"), "00000001") ||
        !sv_streq(ipc_digest_get(ds, "digest-uri"), DIGEST_URI) ||
        !absent_or_equal(ipc_digest_get(ds, "realm"), SASL_SERVER_ID) ||
        !absent_or_equal(ipc_digest_get(ds, "charset"), "utf-8") ||
        (authzid && *authzid && !sv_streq(authzid, user)))
        return sv_error_set(err, -EACCES, WHY_FORMAT "A directive has a wrong value.");
    if (!sv_streq(nonce, s->nonce))
        return sv_error_set(err, -EACCES, WHY_FORMAT "Nonce is not the one of this connection.");
    int r = server_qop(s, ds, err);
    if (r < 0)
        return r;
    if (sv_base64_decode(user, strlen(user), YARN_TOKEN_ID_MAX, &s->base.token_id,
                         &s->base.token_id_len) < 0)
        return sv_error_set(err, -EACCES, WHY_FORMAT "The username is no token identifier.");
    return 0;
}

/* Returns the token's password in the form that is hashed. */
static int server_password(struct digest_server *s, char **ret, const char **ret_class,
                           struct sv_error *err)
{
    uint8_t password[64];
    size_t len = 0;
    const char *class = NULL;
    int r = s->verify(s->base.token_id, s->base.token_id_len, password, &len, s->base.user, &class,
                      err, s->userdata);
    if (r == -EAGAIN)
        return r;
    if (r < 0 || len > sizeof(password)) {
        *ret_class = class ? class : JAVA_INVALID_TOKEN;
        if (r >= 0 || !err || !err->text[0])
            return sv_error_set(err, -EACCES, "the token is not accepted");
        err->code = -EACCES;
        return -EACCES;
    }
    r = sv_base64_encode(password, len, ret);
    OPENSSL_cleanse(password, sizeof(password));
    return r < 0 ? sv_error_set(err, -EACCES, SASL_MECHANISM ": out of memory") : 0;
}

static int server_check(struct digest_server *s, const struct digest_directives *ds,
                        const char **ret_class, struct sv_error *err)
{
    _cleanup_(text_wipe) char *password = NULL;
    struct digest_output out;
    int r = server_password(s, &password, ret_class, err);
    if (r < 0)
        return r;
    const char *realm = ipc_digest_get(ds, "realm"), *response = ipc_digest_get(ds, "response");
    const struct digest_input in = {
        .user = ipc_digest_get(ds, "username"),
        .realm = realm ? realm : "",
        .password = password,
        .nonce = s->nonce,
        .cnonce = ipc_digest_get(ds, "cnonce"),
        .uri = DIGEST_URI,
        .authzid = ipc_digest_get(ds, "authzid"),
        .qop = ipc_qop_name(s->qop),
    };
    if (ipc_digest_compute(&in, &out) < 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": MD5 is not available");
    if (strlen(response) != DIGEST_HEX_LEN - 1 ||
        CRYPTO_memcmp(response, out.response, DIGEST_HEX_LEN - 1) != 0)
        r = sv_error_set(err, -EACCES, WHY_MISMATCH);
    else if (s->qop != IPC_QOP_AUTH &&
             ipc_digest_layer_new(s->qop, out.ha1, true, s->maxbuf, &s->base.layer) < 0)
        r = sv_error_set(err, -EACCES, SASL_MECHANISM ": the protection is not available");
    else
        snprintf(s->answer, sizeof(s->answer), "rspauth=%s", out.rspauth);
    OPENSSL_cleanse(&out, sizeof(out));
    return r;
}

/* -EAGAIN: the verifier does not know yet. */
static int server_run(struct digest_server *s, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                      const char **ret_class, struct sv_error *err)
{
    struct digest_directives ds;
    *ret_class = JAVA_SASL_EXCEPTION;
    free(s->base.token_id); /* that of a run before */
    s->base.token_id = NULL;
    if (ipc_digest_parse(&ds, p, n, IPC_SASL_RESPONSE_MAX) < 0)
        return sv_error_set(err, -EACCES, WHY_FORMAT "Malformed directives.");
    int r = server_directives(s, &ds, err);
    if (r >= 0)
        r = server_check(s, &ds, ret_class, err);
    if (r < 0)
        return r;
    s->base.done = true;
    *ret = bytes_of(s->answer);
    return 0;
}

static int server_step(struct sasl_server *base, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                       const char **ret_class, struct sv_error *err)
{
    struct digest_server *s = (struct digest_server *)base;
    *ret_class = JAVA_SASL_EXCEPTION;
    if (s->used)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": the exchange is over");
    s->used = true;
    int r = server_run(s, p, n, ret, ret_class, err);
    if (r != -EAGAIN)
        return r;
    s->held = malloc(n);
    if (!s->held)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": out of memory");
    memcpy(s->held, p, n);
    s->held_len = n;
    return SASL_WAIT;
}

static int server_resume(struct sasl_server *base, struct sasl_bytes *ret, const char **ret_class,
                         struct sv_error *err)
{
    struct digest_server *s = (struct digest_server *)base;
    int r = server_run(s, s->held, s->held_len, ret, ret_class, err);
    return r == -EAGAIN ? SASL_WAIT : r;
}

static const struct sasl_server_functions server_functions = {
    .step = server_step,
    .resume = server_resume,
    .free = server_free,
};

/* ---- Client ---- */

struct digest_client {
    struct sasl_client base;
    char *user, *password;
    const char *realm, *uri, *key; /* see struct digest_login */
    uint32_t qop_mask;
    uint32_t qop;
    size_t maxbuf; /* the server's */
    char *out;
    struct digest_output digest;
    int step; /* 0 waits for the challenge, 1 for rspauth, 2 is done, 3 has failed */
};

static const struct sasl_client_functions client_functions;

int ipc_digest_client_login(const struct digest_login *login, uint32_t qop_mask,
                            struct sasl_client **ret)
{
    if (strpbrk(login->user, "\"\\") || strpbrk(login->password, "\"\\"))
        return -EINVAL;
    struct digest_client *c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    _cleanup_(sasl_client_freep) struct sasl_client *base = &c->base;
    base->f = &client_functions;
    c->qop_mask = qop_mask ? qop_mask : IPC_QOP_AUTH;
    c->realm = login->realm;
    c->uri = login->uri;
    c->key = login->key;
    c->user = strdup(login->user);
    c->password = strdup(login->password);
    if (!c->user || !c->password)
        return -ENOMEM;
    *ret = SV_TAKE(base);
    return 0;
}

int ipc_digest_client_new(const struct yarn_token *token, uint32_t qop_mask,
                          struct sasl_client **ret)
{
    _cleanup_free_ char *user = NULL;
    _cleanup_(text_wipe) char *password = NULL;
    int r = sv_base64_encode(token->id, token->id_len, &user);
    if (r >= 0)
        r = sv_base64_encode(token->password, token->password_len, &password);
    if (r < 0)
        return r;
    const struct digest_login login = { .user = user,
                                        .password = password,
                                        .realm = SASL_SERVER_ID,
                                        .uri = DIGEST_URI,
                                        .key = "hadoop.rpc.protection" };
    return ipc_digest_client_login(&login, qop_mask, ret);
}

uint32_t ipc_digest_client_qop(const struct sasl_client *c)
{
    return ((const struct digest_client *)c)->qop;
}

static void client_free(struct sasl_client *base)
{
    struct digest_client *c = (struct digest_client *)base;
    ipc_sasl_layer_free(base->layer);
    free(c->user);
    text_wipe(&c->password);
    free(c->out);
    OPENSSL_cleanse(&c->digest, sizeof(c->digest));
    free(c);
}

/* True if the list, such as "3des,rc4", contains the word. */
static bool list_has(const char *list, const char *word)
{
    _cleanup_strv_ char **words = NULL;
    if (!list || sv_strv_split(list, ',', &words) < 0)
        return false;
    for (char **w = words; *w; w++)
        if (sv_streq(*w, word))
            return true;
    return false;
}

/* Returns the subset of the server's offer that this client supports. */
static uint32_t offered(const struct digest_directives *ds)
{
    static const enum ipc_qop all[] = { IPC_QOP_AUTH, IPC_QOP_INTEGRITY, IPC_QOP_PRIVACY };
    const char *list = ipc_digest_get(ds, "qop");
    uint32_t mask = list ? 0 : IPC_QOP_AUTH;
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        if (list_has(list, ipc_qop_name(all[i])))
            mask |= all[i];
    if (!list_has(ipc_digest_get(ds, "cipher"), DIGEST_LAYER_CIPHER))
        mask &= ~(uint32_t)IPC_QOP_PRIVACY;
    return mask;
}

static int challenge_read(struct digest_client *c, const struct digest_directives *ds,
                          struct sv_error *err)
{
    const char *nonce = ipc_digest_get(ds, "nonce"), *maxbuf = ipc_digest_get(ds, "maxbuf");
    uint64_t size = SASL_LAYER_MAXBUF;
    if (!nonce || !*nonce || !sv_streq(ipc_digest_get(ds, "algorithm"), "md5-sess") ||
        !absent_or_equal(ipc_digest_get(ds, "charset"), "utf-8") ||
        !absent_or_equal(ipc_digest_get(ds, "realm"), c->realm))
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": malformed challenge");
    c->qop = ipc_qop_strongest(offered(ds) & c->qop_mask);
    if (!c->qop)
        return sv_error_set(err, -EACCES,
                            SASL_MECHANISM ": the server offers protection \"%.64s\" (%s); "
                                           "%s here asks for %s",
                            ipc_digest_get(ds, "qop") ? ipc_digest_get(ds, "qop") : "auth",
                            ipc_qop_text(offered(ds)), c->key, ipc_qop_text(c->qop_mask));
    if (maxbuf && (sv_parse_u64(maxbuf, 17, 16777215, &size) < 0 ||
                   (c->qop != IPC_QOP_AUTH && size < SASL_LAYER_MAXBUF_MIN)))
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": the server's maxbuf is not acceptable");
    c->maxbuf = (size_t)size;
    return 0;
}

static int client_answer(struct digest_client *c, const uint8_t *p, size_t n, struct sv_error *err)
{
    struct digest_directives ds;
    _cleanup_free_ char *cnonce = NULL;
    if (ipc_digest_parse(&ds, p, n, IPC_SASL_CHALLENGE_MAX) < 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": malformed challenge");
    int r = challenge_read(c, &ds, err);
    if (r < 0)
        return r;
    const char *realm = ipc_digest_get(&ds, "realm");
    struct digest_input in = { .user = c->user,
                               .realm = realm ? realm : c->realm,
                               .password = c->password,
                               .nonce = ipc_digest_get(&ds, "nonce"),
                               .qop = ipc_qop_name(c->qop),
                               .uri = c->uri };
    if (nonce_make(&cnonce) < 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": no random numbers");
    in.cnonce = cnonce;
    if (ipc_digest_compute(&in, &c->digest) < 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": MD5 is not available");
    if (asprintf(
            &c->out,
            "charset=utf-8,username=\"%s\",realm=\"%s\",nonce=\"%s\",nc=00000001,cnonce=\"%s\","
            "digest-uri=\"%s\",maxbuf=%u,response=%s,qop=%s%s",
            c->user, in.realm, in.nonce, cnonce, c->uri, SASL_LAYER_MAXBUF, c->digest.response,
            in.qop, c->qop == IPC_QOP_PRIVACY ? ",cipher=\"" DIGEST_LAYER_CIPHER "\"" : "") < 0) {
        c->out = NULL;
        return sv_error_set(err, -ENOMEM, SASL_MECHANISM ": out of memory");
    }
    return 0;
}

static int client_proof(struct digest_client *c, const uint8_t *p, size_t n, struct sv_error *err)
{
    struct digest_directives ds;
    if (ipc_digest_parse(&ds, p, n, IPC_SASL_CHALLENGE_MAX) < 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": malformed rspauth");
    const char *found = ipc_digest_get(&ds, "rspauth");
    if (!found || strlen(found) != DIGEST_HEX_LEN - 1 ||
        CRYPTO_memcmp(found, c->digest.rspauth, DIGEST_HEX_LEN - 1) != 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": the server does not know the password");
    if (c->qop != IPC_QOP_AUTH &&
        ipc_digest_layer_new(c->qop, c->digest.ha1, false, c->maxbuf, &c->base.layer) < 0)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": the protection is not available");
    c->out = strdup("");
    return c->out ? 0 : sv_error_set(err, -ENOMEM, SASL_MECHANISM ": out of memory");
}

static int client_step(struct sasl_client *base, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                       struct sv_error *err)
{
    struct digest_client *c = (struct digest_client *)base;
    if (c->step >= 2)
        return sv_error_set(err, -EACCES, SASL_MECHANISM ": the exchange is over");
    free(SV_TAKE(c->out));
    int r = c->step == 0 ? client_answer(c, p, n, err) : client_proof(c, p, n, err);
    c->step = r < 0 ? 3 : c->step + 1;
    base->done = c->step == 2;
    if (r >= 0)
        *ret = bytes_of(c->out);
    return r;
}

static const struct sasl_client_functions client_functions = {
    .step = client_step,
    .free = client_free,
};
