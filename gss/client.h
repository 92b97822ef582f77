/* The daemon's side of selvedge-gss: handshakes for SASL GSSAPI and tickets, asynchronous on the
 * event loop. Nothing here waits for a KDC, a file or a name service.
 *
 * A helper that has ended, that breaks the protocol or that is late with an answer is killed and
 * started again, after 1, 2, 4 … 60 s; requests meanwhile fail at once, with the reason. Hostile:
 * the helper, which may have been taken over by a ticket. */
#ifndef SELVEDGE_GSS_CLIENT_H
#define SELVEDGE_GSS_CLIENT_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "common/web/web-acceptor.h"
#include "wire/sasl/gssapi.h"

#define SGSS_ACCEPT_MS 10000
#define SGSS_INIT_MS 30000
#define SGSS_REQUESTS_MAX 4096 /* unanswered ones */
#define SGSS_UNSENT_MAX                                                                            \
    (32u << 20) /* bytes of those that the helper has not read; a client that has                  \
                 * gone leaves its ticket there */

struct sgss_client_config {
    sd_event *event;
    /* The path of selvedge-gss.socket, where systemd starts the helper; NULL: it is started
     * here. */
    const char *socket;
    char *const *argv; /* [0] is the program's absolute path; kept by the caller */
    /* A line for the operator: the helper has ended, and why; it runs again; it has no key or no
     * ticket. May be NULL. */
    void (*told)(const char *text, void *userdata);
    void *userdata;
    int64_t accept_ms, init_ms, rest_ms; /* for tests; 0: SGSS_ACCEPT_MS, SGSS_INIT_MS, 1000 */
};

struct sgss_client;

/* Starts the helper, before the loop runs. -errno: it cannot be started; a helper of systemd that
 * does not answer yet is no error. */
int sgss_client_new(const struct sgss_client_config *cfg, struct sgss_client **ret,
                    struct sv_error *err) _must_use_;
/* Ends the helper. Requests are not answered any more; handshakes that are left fail. */
struct sgss_client *sgss_client_free(struct sgss_client *c);
static inline void sgss_client_freep(struct sgss_client **c)
{
    *c = sgss_client_free(*c);
}

/* `until`: end of the ticket, seconds since 1970; 0: there is none, and `words` say why. */
typedef void (*sgss_login_done)(uint64_t until, const char *words, void *userdata);
/* A ticket for the principal, which the helper renews from then on. `done` is called once, from the
 * loop, never before this returns; it must not free the client. */
int sgss_client_login(struct sgss_client *c, const char *principal, sgss_login_done done,
                      void *userdata, struct sv_error *err) _must_use_;

/* Handshakes for wire/sasl/gssapi.h: of a client that connects to us, and of our own with `target`.
 * Full principals. -EINVAL: a name that no principal of ours has. */
int sgss_client_acceptor(struct sgss_client *c, const char *principal,
                         struct gssapi_handshake **ret) _must_use_;
int sgss_client_initiator(struct sgss_client *c, const char *principal, const char *target,
                          struct gssapi_handshake **ret) _must_use_;

/* Judges tokens of web clients (SPNEGO) with the key of `principal`, "HTTP/…", or of any such key
 * with "*". Its owner frees it, before the client, with the questions that it has been asked.
 * -EINVAL: another name. */
int sgss_client_web_acceptor(struct sgss_client *c, const char *principal,
                             struct sv_web_acceptor **ret) _must_use_;

struct sgss_client_state {
    bool runs;
    uint64_t starts;   /* of the helper */
    uint64_t answers;  /* that came */
    size_t unanswered; /* requests */
};
struct sgss_client_state sgss_client_state(const struct sgss_client *c);

#endif
