/* Resource types, label and attributes of the node, for REST and its page. */
#ifndef SELVEDGE_NODEMANAGER_WEB_NODE_FACTS_H
#define SELVEDGE_NODEMANAGER_WEB_NODE_FACTS_H

#include <jansson.h>

#include "common/web/html.h"
#include "nodemanager/web/nm-web.h"

/* Hadoop's text: "memory-mb (unit=Mi), vcores, disk (unit=Gi)". */
json_t *nm_web_type_names(void);
/* A list: name, unit, the node's total, the part given to containers. */
json_t *nm_web_types(const struct nm_context *ctx);
/* Null where the node tells none. */
json_t *nm_web_described(const struct nm_describer *d);
/* Rows of a table of facts, for what there is. */
void nm_page_node_facts(struct sv_html *h, const struct nm_web *w);

#endif
