/* Listening sockets of the shuffle: passed by systemd, or its own. */
#ifndef SELVEDGE_SHUFFLE_LISTEN_H
#define SELVEDGE_SHUFFLE_LISTEN_H

#include "common/error.h"
#include "shuffle/conf.h"
#include "shuffle/limits.h"

/* Takes ownership of the listening `fds`, or listens on conf->port (0: any) of all addresses.
 * -EINVAL: `fds` listen on another port. */
int shf_listen(const struct shf_conf *conf, const int *fds, size_t n_fds,
               int ret_sockets[SHF_LISTEN_MAX], size_t *ret_n, uint16_t *ret_port,
               struct sv_error *err) _must_use_;

#endif
