/* Ports of a framework's tasks: picked from the configured range, and free on their host among the
 * framework's own tasks; others' are found taken when the task starts. And their text,
 * "label:p,p;label:p;", which tasks and clients read. Pure. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_PORTS_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_PORTS_H

#include "service/framework/descriptor.h"
#include "service/framework/status.h"

struct svc_ports;

int svc_ports_new(uint16_t first, uint16_t last, struct svc_ports **ret) _must_use_;
struct svc_ports *svc_ports_free(struct svc_ports *p); /* accepts NULL, returns NULL */

/* Takes the ports of a task on the host: those that its definition names, in the order of labels,
 * then free ones, from a place in the range by `random` on. *ret: malloc'd, "" without ports.
 * -EADDRINUSE: a named one is a task's already; -ENOSPC: too few are free; -EFBIG: their text is
 * too long. */
int svc_ports_take(struct svc_ports *p, const char *host, const struct svc_fw_resource *r,
                   uint32_t random, char **ret) _must_use_;
/* A container of the attempt before has these. -EINVAL: not such a text. */
int svc_ports_adopt(struct svc_ports *p, const char *host, const char *text) _must_use_;
/* The container has ended. */
void svc_ports_give(struct svc_ports *p, const char *host, const char *text);

/* Calls `fn` for each port; the ';' at the end may be missing. -EINVAL. */
int svc_ports_each(const char *text, void (*fn)(uint16_t port, void *userdata), void *userdata)
    _must_use_;

#endif
