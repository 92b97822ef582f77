/* A request's body as XML, in the form that Hadoop's web services read: an element is a member of
 * its parent, repeated ones are a list. Pure. Hostile: everything; the size is bounded by the
 * request's body. A DOCTYPE is refused, so there are no entities but XML's own. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_BODY_XML_H
#define SELVEDGE_RM_LITE_WEB_REST_BODY_XML_H

#include <jansson.h>

#include "common/error.h"

#define RM_XML_DEPTH_MAX 16
#define RM_XML_ELEMENTS_MAX 20000 /* some milliseconds */
#define RM_XML_NAME_MAX 128       /* bytes */

/* The content of the document element, whose name must be `root`, as a JSON object: texts, objects
 * and lists, as rm_body_*() of web-body.h read them. An empty element is an empty text. Attributes
 * and namespaces are ignored. -EINVAL names the error. */
int rm_body_from_xml(const char *xml, size_t len, const char *root, json_t **ret,
                     struct sv_error *err) _must_use_;

#endif
