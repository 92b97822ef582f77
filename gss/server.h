/* The helper's loop: takes the daemon's requests from the socket and hands them to two pools of
 * workers, which answer by themselves. */
#ifndef SELVEDGE_GSS_SERVER_H
#define SELVEDGE_GSS_SERVER_H

#include "common/base.h"
#include "common/error.h"
#include "gss/keytab-check.h"

/* Starts all threads. The object lives as long as the program. */
struct sgss_server;
int sgss_server_new(int fd, const struct sgss_keytabs *k, struct sgss_server **ret) _must_use_;
/* 0: the daemon has closed the connection. -EBADMSG: it sent what is no request. The caller ends
 * the program without waiting for the threads, which a dark KDC may hold for half a minute. */
int sgss_server_run(struct sgss_server *s, struct sv_error *err) _must_use_;

#endif
