/* NMAuditLogger: who asked what of which container and how it went, one tab-separated line an
 * event, in Hadoop's keys and order. Goes to the log at notice level under the name NMAuditLogger.
 */
#ifndef SELVEDGE_NODEMANAGER_CORE_AUDIT_LOGGER_H
#define SELVEDGE_NODEMANAGER_CORE_AUDIT_LOGGER_H

#include "wire/ids.h"

struct nm_container;

/* user may be "" or hostile; ip ("127.0.0.1:4711", the port is cut) may be NULL. */
void nm_audit_success(const char *user, const char *ip, const char *operation, const char *target,
                      const struct nm_container *c);
void nm_audit_failure(const char *user, const char *ip, const char *operation, const char *target,
                      const char *why, const struct nm_container *c);
/* Before there is a container object. */
void nm_audit_failure_id(const char *user, const char *ip, const char *operation,
                         const char *target, const char *why, struct yarn_container_id id);

#endif
