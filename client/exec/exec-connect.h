/* The WebSocket of a session: to the web server of the container's node, by libcurl, which knows
 * TLS and Kerberos. Waits. Hostile: the node's answers. */
#ifndef SELVEDGE_CLIENT_EXEC_EXEC_CONNECT_H
#define SELVEDGE_CLIENT_EXEC_EXEC_CONNECT_H

#include "common/base.h"
#include "common/buf.h"
#include "common/error.h"

struct cli_exec_link;

struct cli_exec_where {
    const char *http, *container, *user; /* "host:port" of the node */
    bool negotiate;                      /* by the caller's Kerberos ticket */
};

/* Connects, and has the connection upgraded. */
int cli_exec_connect(const struct cli_exec_where *w, struct cli_exec_link **ret,
                     struct sv_error *err) _must_use_;
/* A socket whose other end speaks the same already; takes it, also on failure. */
int cli_exec_link_of(int fd, struct cli_exec_link **ret) _must_use_;
struct cli_exec_link *cli_exec_link_free(struct cli_exec_link *l);
/* For poll(); before it, everything must have been received (-EAGAIN). */
int cli_exec_link_fd(const struct cli_exec_link *l);
/* Bytes, 0 at the end, -EAGAIN: none without waiting; else the connection is lost. */
ssize_t cli_exec_receive(struct cli_exec_link *l, void *to, size_t max) _must_use_;
ssize_t cli_exec_send(struct cli_exec_link *l, const void *data, size_t n) _must_use_;

#endif
