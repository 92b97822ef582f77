/* The NodeManager's side of an auxiliary service: frames of JSON on descriptor 3
 * (docs/design/aux-services.md). Trusted, and bounded all the same. Main thread only. */
#ifndef SELVEDGE_SHUFFLE_AUX_CHANNEL_H
#define SELVEDGE_SHUFFLE_AUX_CHANNEL_H

#include <jansson.h>

#include "common/base.h"
#include "common/error.h"

#define SHF_CHANNEL_FD 3
#define SHF_LISTEN_FD 4 /* the first of `listenFds` */

struct shf_channel;
struct shf_channel *shf_channel_new(int fd) _must_use_; /* NULL without memory */
/* Receives one message: 1 and *ret, to be freed by json_decref; 0: the NodeManager closed the
 * channel; -EAGAIN: none available (unless `wait`); -EBADMSG: not a frame. */
int shf_channel_receive(struct shf_channel *c, bool wait, json_t **ret) _must_use_;
/* 0 or -errno. */
int shf_channel_ready(struct shf_channel *c, const void *metadata, size_t n) _must_use_;
int shf_channel_failed(struct shf_channel *c, json_int_t seq, const char *failure);
/* `metrics`: an object of numbers, ownership taken; NULL: none. */
int shf_channel_done(struct shf_channel *c, json_int_t seq, json_t *metrics);

#endif
