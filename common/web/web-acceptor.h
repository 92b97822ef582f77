/* Judges the tokens of SPNEGO that web clients send, for web-gate.h. Whoever has the keys
 * implements it, such as gss/client.h; nothing here waits. */
#ifndef SELVEDGE_COMMON_WEB_WEB_ACCEPTOR_H
#define SELVEDGE_COMMON_WEB_WEB_ACCEPTOR_H

#include "common/base.h"
#include "common/error.h"

#define SV_WEB_TOKEN_MAX ((size_t)48 << 10) /* bytes; Windows' largest ticket is 48000 */

struct sv_web_verdict {
    /* 0; -EACCES: the client's ticket is refused, and `text` may be shown to the client; other
     * values: no fault of the client's, `text` is for the operator. */
    int status;
    const char *text;
    const char *principal; /* of the client; NULL with status 0: it shall send another token */
    const uint8_t *token;  /* for the client */
    size_t token_len;      /* 0: none */
};
typedef void (*sv_web_judged)(const struct sv_web_verdict *v, void *userdata);

struct sv_web_acceptor;
struct sv_web_question;

struct sv_web_acceptor_functions {
    /* `judged` is called once, from the loop, never before this returns; not after `drop`, nor if
     * this fails. The question is the caller's. */
    int (*ask)(struct sv_web_acceptor *a, const uint8_t *token, size_t n, sv_web_judged judged,
               void *userdata, struct sv_web_question **ret, struct sv_error *err);
    void (*drop)(struct sv_web_question *q);
    void (*free)(struct sv_web_acceptor *a);
};
/* The first member of an implementation's own struct. */
struct sv_web_acceptor {
    const struct sv_web_acceptor_functions *f;
};
static inline struct sv_web_acceptor *sv_web_acceptor_free(struct sv_web_acceptor *a)
{
    if (a)
        a->f->free(a);
    return NULL;
}
/* As above, for a question. */
struct sv_web_question {
    const struct sv_web_acceptor *acceptor;
};
static inline struct sv_web_question *sv_web_question_drop(struct sv_web_question *q)
{
    if (q)
        q->acceptor->f->drop(q);
    return NULL;
}

#endif
