/* Messages of the NodeManager to the shuffle server: `init`, then applications that start and end
 * and the list of local directories. Main thread only. */
#ifndef SELVEDGE_SHUFFLE_EVENTS_H
#define SELVEDGE_SHUFFLE_EVENTS_H

#include <jansson.h>

#include "common/conf.h"
#include "shuffle/service.h"

/* Properties of the message `init`. */
int shf_init_properties(const json_t *init, struct sv_conf *conf, struct sv_error *err) _must_use_;
/* Used with mapreduce.shuffle.ssl.enabled, before the sandbox is entered. `kernel`: the kernel may
 * encrypt what is sent; then it says whether it does. */
int shf_init_tls(const json_t *init, struct sv_conf *conf, bool *kernel, struct sv_tls **ret,
                 struct sv_error *err) _must_use_;
int shf_init_dirs(const json_t *init, struct shf_local_dirs *ret, struct sv_error *err) _must_use_;
size_t shf_init_sockets(const json_t *init, int ret[SHF_LISTEN_MAX]);

/* Handles one event after `ready`. 0; -errno with a text, which is reported to the NodeManager;
 * -ESTALE: a local directory was added that the sandbox does not allow, so that the process must
 * restart. */
int shf_event(struct shf_service *s, const json_t *event, struct sv_error *err) _must_use_;

#endif
