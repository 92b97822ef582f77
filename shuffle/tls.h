/* The server's side of TLS: keys, versions and cipher suites, for all connections. Keys are read
 * before the sandbox closes, and again from inside it when their files change. */
#ifndef SELVEDGE_SHUFFLE_TLS_H
#define SELVEDGE_SHUFFLE_TLS_H

#include "common/base.h"
#include "common/error.h"
#include "shuffle/tls-conf.h"

#define SHF_TLS_DIRS_MAX 2

struct shf_tls;
struct ssl_st; /* OpenSSL's SSL */
/* Takes the settings over, also when it fails. */
int shf_tls_new(struct shf_tls_conf *conf, struct shf_tls **ret, struct sv_error *err) _must_use_;
struct shf_tls *shf_tls_free(struct shf_tls *t);
/* The directories that the files are in, for the sandbox: O_PATH. Their number. */
size_t shf_tls_dirs(const struct shf_tls *t, int ret[SHF_TLS_DIRS_MAX]);
/* One connection's, over the socket; NULL without memory. Any thread. */
struct ssl_st *shf_tls_session(struct shf_tls *t, int fd) _must_use_;
/* About once a second, one thread: reads files that have changed. A bad one is logged, and the last
 * good one stays. */
void shf_tls_tick(struct shf_tls *t);

#endif
