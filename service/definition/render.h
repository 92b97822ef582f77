/* Writes the configuration files of an instance: the properties of a definition, with tokens
 * replaced, as XML, properties, JSON, YAML or by a template. Hostile: all of it, and the bytes of a
 * source file. */
#ifndef SELVEDGE_SERVICE_DEFINITION_RENDER_H
#define SELVEDGE_SERVICE_DEFINITION_RENDER_H

#include "common/buf.h"
#include "service/definition/definition.h"
#include "service/definition/tokens.h"

#define SVC_RENDERED_MAX ((size_t)4 << 20) /* bytes of one file */

/* False for STATIC and ARCHIVE, whose source is localized as it is. */
bool svc_file_is_rendered(const struct svc_file *f);
/* True where svc_file_render() needs the bytes of `src`. */
bool svc_file_needs_source(const struct svc_file *f);
/* Appends the file. `source`: the bytes of `src`, NULL without one; HADOOP_XML and XML overlay them
 * with the properties, TEMPLATE replaces its tokens in them. -EINVAL: err says file and reason;
 * -EMSGSIZE: more than the buffer's maximum, or than SVC_RENDERED_MAX. */
int svc_file_render(const struct svc_file *f, const char *source, size_t n_source,
                    const struct svc_tokens *t, struct sv_buf *out, struct sv_error *err)
    _must_use_;

#endif
