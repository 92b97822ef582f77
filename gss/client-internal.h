/* Private to the daemon's side of selvedge-gss, one object in three files: client.c (the helper's
 * life, answers), client-requests.c (requests and handshakes) and client-web.c (those of web
 * clients); each calls those before it. */
#ifndef SELVEDGE_GSS_CLIENT_INTERNAL_H
#define SELVEDGE_GSS_CLIENT_INTERNAL_H

#include <uthash.h>

#include "common/buf.h"
#include "gss/client-process.h"
#include "gss/client.h"
#include "gss/protocol.h"

enum sgss_client_run {
    SGSS_RUNS,
    SGSS_DYING, /* killed, not yet reaped */
    SGSS_RESTS, /* until the timer starts it again */
};

struct sgss_client_handshake {
    struct gssapi_handshake base;
    struct sgss_client *client; /* NULL: it has been freed */
    enum sgss_kind kind;
    char *principal, *target;
    uint64_t number;
    uint64_t life;                       /* of the helper that knows it; 0: none does */
    struct sgss_client_request *waiting; /* for an answer */
    struct sgss_client_handshake *prev, *next;
};

struct sgss_client_request {
    uint64_t id;
    enum sgss_kind kind;
    int64_t deadline_ms;
    struct sgss_client_handshake *handshake; /* NULL: given up, or LOGIN */
    gssapi_told told;
    sgss_login_done done;
    void *userdata;
    UT_hash_handle hh;
};

struct sgss_client_packet {
    struct sv_buf b;
    struct sgss_client_packet *prev, *next;
};

struct sgss_client {
    struct sgss_client_config cfg;
    struct sgss_process process;
    sd_event_source *io, *ended, *timer;
    enum sgss_client_run state;
    char why[SV_ERROR_TEXT_MAX]; /* it does not run */
    char said[SGSS_WORDS_MAX + 1];
    struct sgss_client_request *requests;
    struct sgss_client_handshake *handshakes;
    struct sgss_client_packet *unsent;
    size_t n_unsent, unsent_bytes; /* of their buffers */
    uint64_t last_id, starts, answers;
    int64_t started_ms, rest_ms, timer_ms;
};

/* A handshake; `target` NULL: none. -EINVAL: a name that no principal of ours has. */
int sgss_client_handshake_new(struct sgss_client *c, enum sgss_kind kind, const char *principal,
                              const char *target, struct gssapi_handshake **ret) _must_use_;
/* Sends what the socket takes. */
void sgss_client_flush(struct sgss_client *c);
/* Sets the one timer: the next deadline, or the helper's next start. */
void sgss_client_arm(struct sgss_client *c, int64_t at_ms);

#endif
