/* Sessions of users in running containers: each relays between one WebSocket and one program
 * (executor/exe-session.h). Who may have one, the caller has decided.
 *
 * Hostile: the client's frames; the program's output, which is passed on as bytes. The number of
 * sessions is bounded, of the node and of a user, as are the bytes that wait in each; one that
 * nobody uses ends. */
#ifndef SELVEDGE_NODEMANAGER_EXEC_SESSIONS_H
#define SELVEDGE_NODEMANAGER_EXEC_SESSIONS_H

#include <systemd/sd-event.h>

#include "common/base.h"

#define NM_SESSIONS_MAX 32
#define NM_SESSIONS_OF_USER 8

struct nm_container;
struct nm_context;
struct nm_session;
struct nm_sessions;

int nm_sessions_new(sd_event *event, const struct nm_context *ctx, struct nm_sessions **ret)
    _must_use_;
/* Ends all, and their programs. Before the web server. Accepts NULL. */
struct nm_sessions *nm_sessions_free(struct nm_sessions *all);
unsigned nm_sessions_count(const struct nm_sessions *all);

struct nm_session_ask {
    const struct nm_container *c;
    const char *user, *ip; /* of the caller, for the log; ip may be NULL */
    /* The program of Hadoop's client, which has text messages and a terminal; NULL: the client says
     * what to run, by common/web/exec-words.h. */
    const char *shell;
};
/* A session without a connection yet. -EBUSY: too many. */
int nm_session_new(struct nm_sessions *all, const struct nm_session_ask *q, struct nm_session **ret)
    _must_use_;
/* For struct sv_http_websocket, with the session as its userdata. */
struct sv_http_upgraded;
void nm_session_begin(struct sv_http_upgraded *u, int fd, const void *early, size_t n,
                      void *session);
void nm_session_left(void *session);
/* As nm_session_begin(), on a socket whose other end is the client's; takes it, also on failure,
 * which frees the session. */
int nm_session_serve(struct nm_session *s, int fd) _must_use_;

/* True once in a second: refusals beyond are not logged one by one. */
bool nm_sessions_log_refusal(struct nm_sessions *all);

#endif
