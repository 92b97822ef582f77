/* One container as a record of the status. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_STATUS_RECORD_H
#define SELVEDGE_SERVICE_AM_VIEW_STATUS_RECORD_H

#include "common/buf.h"
#include "service/am/facts/containers.h"
#include "service/engine/engine.h"

/* Appends the object of an instance that has a container; `c` NULL: the engine's knowledge alone.
 * 0, -EMSGSIZE or -ENOMEM. */
int svc_record_container(struct sv_buf *b, const struct svc_instance_view *v,
                         const struct svc_container *c) _must_use_;
/* The last container of an instance that has not started another one yet. */
int svc_record_ended(struct sv_buf *b, const struct svc_instance_view *v,
                     const struct svc_container *ended) _must_use_;

#endif
