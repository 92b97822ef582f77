/* A list of hosts in Hadoop's XML form: <hosts><host><name>H1
 * H2</name><timeout>60</timeout></host>… with a timeout in seconds for graceful decommissioning.
 * The file is the operator's. */
#ifndef SELVEDGE_RM_LITE_NODES_HOSTS_XML_H
#define SELVEDGE_RM_LITE_NODES_HOSTS_XML_H

#include "common/error.h"
#include "rm-lite/core/name-set.h"

#define RM_NO_TIMEOUT INT64_MIN

/* Each host's number is its timeout in milliseconds, -1 for none, or RM_NO_TIMEOUT if the file has
 * none. `path` is for the error. */
int rm_hosts_xml(const char *text, size_t len, const char *path, struct rm_name_set **ret,
                 struct sv_error *err) _must_use_;

#endif
