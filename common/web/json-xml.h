/* Converts a JSON tree to XML in the format of Hadoop's web services: a member becomes an element
 * of its name, a list repeats the element, null is omitted. A member "@NAME" with a text is an
 * attribute of its element, before the others. Requires jansson. Hostile: texts, and names within
 * the tree. */
#ifndef SELVEDGE_COMMON_WEB_JSON_XML_H
#define SELVEDGE_COMMON_WEB_JSON_XML_H

#include <jansson.h>

#include "common/buf.h"

#define SV_XML_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>"
#define SV_XML_TYPE "application/xml;charset=utf-8"

/* The document element is `root`; NULL: the tree's only member if that is an object, else
 * "response". Characters that XML forbids become '?' in texts and '_' in names. */
int sv_json_to_xml(json_t *tree, const char *root, struct sv_buf *out) _must_use_;
/* Writes the element without the XML declaration. */
int sv_json_xml_element(json_t *tree, const char *name, struct sv_buf *out) _must_use_;
/* True if an Accept header prefers application/xml to JSON; false for NULL. */
bool sv_xml_accepted(const char *accept);

#endif
