/* Server side of TLS: keys, versions and cipher suites, for all connections. Keys are read before
 * a sandbox is entered, and reloaded from inside it when their files change. */
#ifndef SELVEDGE_COMMON_TLS_TLS_H
#define SELVEDGE_COMMON_TLS_TLS_H

#include "common/base.h"
#include "common/error.h"
#include "common/tls/tls-conf.h"

#define SV_TLS_DIRS_MAX 2

struct sv_tls;
struct ssl_st; /* OpenSSL's SSL */
/* Takes ownership of the settings, also on failure. */
int sv_tls_new(struct sv_tls_conf *conf, struct sv_tls **ret, struct sv_error *err) _must_use_;
/* Connections keep what they have of it. Accepts NULL, returns NULL. */
struct sv_tls *sv_tls_free(struct sv_tls *t);
/* Returns O_PATH descriptors of the files' directories, for the sandbox, and their number. */
size_t sv_tls_dirs(const struct sv_tls *t, int ret[SV_TLS_DIRS_MAX]);
/* Creates the TLS state of a connection on the socket; NULL when out of memory. Any thread. */
struct ssl_st *sv_tls_session(struct sv_tls *t, int fd) _must_use_;
/* True if the kernel can encrypt TLS (kTLS). It loads the module `tls` for a process with
 * CAP_NET_ADMIN only. */
bool sv_tls_in_kernel(void);
/* True if the kernel encrypts what this connection sends, after its handshake. */
bool sv_tls_sends_in_kernel(const struct ssl_st *s);
/* Reloads changed files; call about once a second from one thread. A bad file is logged, and the
 * previous keys are kept. */
void sv_tls_tick(struct sv_tls *t);

#endif
