/* SASL, as a connection sees it: a mechanism on either side, DIGEST-MD5 for tokens
 * (digest-exchange.h) or GSSAPI for Kerberos (gssapi.h).
 *
 * One object serves one connection once. With a quality above `auth` it yields a layer
 * (sasl-layer.h) for all later bytes of the connection. */
#ifndef SELVEDGE_WIRE_SASL_SASL_H
#define SELVEDGE_WIRE_SASL_SASL_H

#include "common/base.h"
#include "common/error.h"
#include "wire/sasl/qop.h"
#include "wire/sasl/sasl-layer.h"

#define SASL_USER_MAX 256 /* with the NUL */
#define JAVA_SASL_EXCEPTION "javax.security.sasl.SaslException"

struct sasl_server;
struct sasl_client;

/* An answer for the peer; owned by the object that gave it, until its next step. An empty one is
 * sent, too: p is never NULL. DIGEST-MD5's are texts that end with a NUL behind the n bytes. */
struct sasl_bytes {
    const uint8_t *p;
    size_t n;
};

/* Result of step and resume, beside 0: the answer comes later. The mechanism calls `ready`, from
 * the loop and never before the step returns; then ipc_sasl_*_resume() has the step's result, or
 * SASL_WAIT once more. DIGEST-MD5 calls nobody: whoever its verifier waits for resumes it. */
#define SASL_WAIT 1
typedef void (*sasl_ready)(void *userdata);

struct sasl_server_functions {
    int (*step)(struct sasl_server *s, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                const char **ret_class, struct sv_error *err);
    /* NULL: no step waits. */
    int (*resume)(struct sasl_server *s, struct sasl_bytes *ret, const char **ret_class,
                  struct sv_error *err);
    void (*free)(struct sasl_server *s);
};

/* The first member of a mechanism's own server. */
struct sasl_server {
    const struct sasl_server_functions *f;
    struct sasl_bytes challenge; /* sent with the offer; p is NULL where the client begins */
    char user[SASL_USER_MAX];    /* after success */
    uint8_t *token_id;           /* owned; NULL where no token is presented */
    size_t token_id_len;
    struct sasl_layer *layer;
    bool done;
};

/* The client's message. 0: *ret is the answer, the last one if ipc_sasl_server_done(). -EACCES:
 * err->text and *ret_class hold the reason, which may be shown to the peer. SASL_WAIT. */
static inline _must_use_ int ipc_sasl_server_step(struct sasl_server *s, const uint8_t *p, size_t n,
                                                  struct sasl_bytes *ret, const char **ret_class,
                                                  struct sv_error *err)
{
    return s->f->step(s, p, n, ret, ret_class, err);
}

static inline _must_use_ int ipc_sasl_server_resume(struct sasl_server *s, struct sasl_bytes *ret,
                                                    const char **ret_class, struct sv_error *err)
{
    return s->f->resume(s, ret, ret_class, err);
}

static inline bool ipc_sasl_server_done(const struct sasl_server *s)
{
    return s->done;
}

static inline struct sasl_bytes ipc_sasl_server_challenge(const struct sasl_server *s)
{
    return s->challenge;
}

/* After success. */
static inline const char *ipc_sasl_server_user(const struct sasl_server *s)
{
    return s->user;
}

static inline const uint8_t *ipc_sasl_server_token_id(const struct sasl_server *s, size_t *ret_len)
{
    *ret_len = s->token_id_len;
    return s->token_id;
}

/* NULL with qop auth; else owned by the caller from now on. */
static inline struct sasl_layer *ipc_sasl_server_take_layer(struct sasl_server *s)
{
    return SV_TAKE(s->layer);
}

static inline struct sasl_server *ipc_sasl_server_free(struct sasl_server *s)
{
    if (s)
        s->f->free(s);
    return NULL;
}

static inline void sasl_server_freep(struct sasl_server **s)
{
    *s = ipc_sasl_server_free(*s);
}

struct sasl_client_functions {
    int (*step)(struct sasl_client *c, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                struct sv_error *err);
    /* NULL: no step waits. */
    int (*resume)(struct sasl_client *c, struct sasl_bytes *ret, struct sv_error *err);
    void (*free)(struct sasl_client *c);
};

/* The first member of a mechanism's own client. */
struct sasl_client {
    const struct sasl_client_functions *f;
    struct sasl_layer *layer;
    bool begins; /* the first step is without a challenge: p is NULL */
    bool done;   /* the server is proven to be who it must be */
};

/* The server's message. 0: *ret is the answer; the server's SUCCESS may carry a message, too. After
 * the last step the answer is empty and not sent. With err->text: -EACCES; -EAGAIN: no ticket of
 * our own can be had now. SASL_WAIT. */
static inline _must_use_ int ipc_sasl_client_step(struct sasl_client *c, const uint8_t *p, size_t n,
                                                  struct sasl_bytes *ret, struct sv_error *err)
{
    return c->f->step(c, p, n, ret, err);
}

static inline _must_use_ int ipc_sasl_client_resume(struct sasl_client *c, struct sasl_bytes *ret,
                                                    struct sv_error *err)
{
    return c->f->resume(c, ret, err);
}

static inline bool ipc_sasl_client_done(const struct sasl_client *c)
{
    return c->done;
}

static inline struct sasl_layer *ipc_sasl_client_take_layer(struct sasl_client *c)
{
    return SV_TAKE(c->layer);
}

static inline struct sasl_client *ipc_sasl_client_free(struct sasl_client *c)
{
    if (c)
        c->f->free(c);
    return NULL;
}

static inline void sasl_client_freep(struct sasl_client **c)
{
    *c = ipc_sasl_client_free(*c);
}

#endif
