/* The sockets that the shuffle listens on: systemd's, or its own. */
#ifndef SELVEDGE_SHUFFLE_LISTEN_H
#define SELVEDGE_SHUFFLE_LISTEN_H

#include "common/error.h"
#include "shuffle/conf.h"
#include "shuffle/limits.h"

/* Takes over `fds`, which listen already, or listens on conf->port of all addresses, 0 being any.
 * -EINVAL: `fds` listen on another port. */
int shf_listen(const struct shf_conf *conf, const int *fds, size_t n_fds,
               int ret_sockets[SHF_LISTEN_MAX], size_t *ret_n, uint16_t *ret_port,
               struct sv_error *err) _must_use_;

#endif
