/* Writes names and values as files that programs read: Hadoop's XML, Java's properties, JSON, YAML.
 * Hostile: both; what a format cannot hold is an error. */
#ifndef SELVEDGE_SERVICE_DEFINITION_FORMATS_H
#define SELVEDGE_SERVICE_DEFINITION_FORMATS_H

#include "common/buf.h"
#include "service/definition/definition.h"

/* All append to the buffer. -EINVAL: a byte that the format cannot hold. */
int svc_write_xml(const struct svc_map *m, struct sv_buf *out) _must_use_;
int svc_write_properties(const struct svc_map *m, struct sv_buf *out) _must_use_;
int svc_write_json(const struct svc_map *m, struct sv_buf *out) _must_use_;
int svc_write_yaml(const struct svc_map *m, struct sv_buf *out) _must_use_;

#endif
