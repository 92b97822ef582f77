/* The ResourceManager's composition root: creates its parts in order, registers the state machines
 * with the dispatcher, stops and frees. */
#ifndef SELVEDGE_RM_LITE_RM_H
#define SELVEDGE_RM_LITE_RM_H

#include "common/error.h"
#include "rm-lite/core/context.h"

/* Whether the files are accepted, for --check-config: opens nothing. */
int rm_check(struct sv_conf *conf, struct sv_error *err) _must_use_;
int rm_new(sd_event *event, struct sv_conf *conf, struct rm **ret, struct sv_error *err) _must_use_;
struct rm *rm_free(struct rm *rm);

#endif
