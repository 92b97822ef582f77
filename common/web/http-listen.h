/* Listening sockets of web servers. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_LISTEN_H
#define SELVEDGE_COMMON_WEB_HTTP_LISTEN_H

#include "common/base.h"
#include "common/error.h"

/* A non-blocking socket that listens on host:port (port 0: any). May ask a name service. */
int http_listen(const char *host, uint16_t port, struct sv_error *err) _must_use_;
/* The port that the socket is bound to. */
int http_listen_port(int fd, uint16_t *ret, struct sv_error *err) _must_use_;

#endif
