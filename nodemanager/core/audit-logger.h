/* NMAuditLogger: user, operation, container and result of each request, one tab-separated line
 * each, with Hadoop's keys and order. Logged at notice level under the name NMAuditLogger. */
#ifndef SELVEDGE_NODEMANAGER_CORE_AUDIT_LOGGER_H
#define SELVEDGE_NODEMANAGER_CORE_AUDIT_LOGGER_H

#include "wire/ids.h"

struct nm_container;

/* user may be "" or hostile; ip ("127.0.0.1:4711", the port is cut) may be NULL. */
void nm_audit_success(const char *user, const char *ip, const char *operation, const char *target,
                      const struct nm_container *c);
void nm_audit_failure(const char *user, const char *ip, const char *operation, const char *target,
                      const char *why, const struct nm_container *c);
/* For requests without a container object. */
void nm_audit_failure_id(const char *user, const char *ip, const char *operation,
                         const char *target, const char *why, struct yarn_container_id id);

#endif
