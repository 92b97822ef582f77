/* TLS in front of the HTTP server (http.h). A thread of its own accepts connections, does the
 * handshakes and relays bytes, so that no signature and no cipher takes time of the event loop;
 * the loop serves the other ends of socket pairs. Certificates are loaded again when their files
 * change. Hostile: clients. */
#ifndef SELVEDGE_COMMON_WEB_HTTPS_H
#define SELVEDGE_COMMON_WEB_HTTPS_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

struct sv_http;
struct sv_https;
struct sv_tls;

/* Feeds `http`, of sv_http_new_fed(), with the connections of a listening socket. Takes the socket
 * and the keys in every case; the HTTP server must outlive the result. */
int sv_https_new(sd_event *event, int listening, struct sv_tls *keys, struct sv_http *http,
                 struct sv_https **ret, struct sv_error *err) _must_use_;
/* Waits for the thread. Accepts NULL, returns NULL. */
struct sv_https *sv_https_free(struct sv_https *h);

#endif
