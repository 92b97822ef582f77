/* Server side of TLS: keys, versions and cipher suites, for all connections. Keys are read before
 * the sandbox is entered, and reloaded from inside it when their files change. */
#ifndef SELVEDGE_SHUFFLE_TLS_H
#define SELVEDGE_SHUFFLE_TLS_H

#include "common/base.h"
#include "common/error.h"
#include "shuffle/tls-conf.h"

#define SHF_TLS_DIRS_MAX 2

struct shf_tls;
struct ssl_st; /* OpenSSL's SSL */
/* Takes ownership of the settings, also on failure. The result lives as long as the process. */
int shf_tls_new(struct shf_tls_conf *conf, struct shf_tls **ret, struct sv_error *err) _must_use_;
/* Returns O_PATH descriptors of the files' directories, for the sandbox, and their number. */
size_t shf_tls_dirs(const struct shf_tls *t, int ret[SHF_TLS_DIRS_MAX]);
/* Creates the TLS state of a connection on the socket; NULL when out of memory. Any thread. */
struct ssl_st *shf_tls_session(struct shf_tls *t, int fd) _must_use_;
/* Reloads changed files; call about once a second from one thread. A bad file is logged, and the
 * previous keys are kept. */
void shf_tls_tick(struct shf_tls *t);

#endif
