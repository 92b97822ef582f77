/* The XML parser of the configuration, separate from conf.c so that it can be fuzzed and read
 * alone: text in, one callback per <property> out. */
#ifndef SELVEDGE_COMMON_CONF_XML_H
#define SELVEDGE_COMMON_CONF_XML_H

#include "common/base.h"
#include "common/error.h"
#include "common/xml.h"

#define SV_CONF_XML_MAX_BYTES SV_XML_MAX_BYTES
#define SV_CONF_XML_MAX_DEPTH 8 /* <configuration><property><name> is 3 */
#define SV_CONF_XML_MAX_NAME 1024u
#define SV_CONF_XML_MAX_VALUE ((size_t)1 << 20)

/* `value` is NULL when the property has no <value>; `line` is that of <property>. Strings are valid
 * during the call only. A negative result stops the parser and becomes its result. */
typedef int (*sv_conf_xml_fn)(const char *name, const char *value, bool final, int line,
                              void *userdata);

/* `source` is the file's name for messages. */
int sv_conf_xml_parse(const char *xml, size_t len, const char *source, sv_conf_xml_fn fn,
                      void *userdata, struct sv_error *err) _must_use_;

#endif
