/* What the NodeManager tells the shuffle server: its beginning, then applications that start and
 * end and the list of local directories. Main thread only. */
#ifndef SELVEDGE_SHUFFLE_EVENTS_H
#define SELVEDGE_SHUFFLE_EVENTS_H

#include <jansson.h>

#include "common/conf.h"
#include "shuffle/service.h"

/* Of the message `init`. */
int shf_init_properties(const json_t *init, struct sv_conf *conf, struct sv_error *err) _must_use_;
/* With mapreduce.shuffle.ssl.enabled, before the sandbox. */
int shf_init_tls(const json_t *init, struct sv_conf *conf, struct shf_tls **ret,
                 struct sv_error *err) _must_use_;
int shf_init_dirs(const json_t *init, struct shf_local_dirs *ret, struct sv_error *err) _must_use_;
size_t shf_init_sockets(const json_t *init, int ret[SHF_LISTEN_MAX]);

/* One event after `ready`. 0; -errno with its text: told to the NodeManager; -ESTALE: a local
 * directory was added that the sandbox does not allow, so that the process must be started anew. */
int shf_event(struct shf_service *s, const json_t *event, struct sv_error *err) _must_use_;

#endif
