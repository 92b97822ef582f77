/* Placement constraints of scheduling requests, as trees of plain structs: Hadoop's
 * PlacementConstraints. A leaf counts the containers with some allocation tags in the scope of a
 * candidate node, and looks at the node's attributes and partition; AND and OR combine. */
#ifndef SELVEDGE_CLIENT_LIB_PLACEMENT_H
#define SELVEDGE_CLIENT_LIB_PLACEMENT_H

#include "common/base.h"
#include "common/error.h"

#define CLI_CONSTRAINT_DEPTH_MAX 8   /* of nested AND and OR, the outermost included */
#define CLI_CONSTRAINTS_MAX 256      /* nodes of one tree */
#define CLI_CONSTRAINT_TEXTS_MAX 256 /* tags, values or partitions of one list */
#define CLI_CONSTRAINT_TEXT_MAX 1024 /* bytes of a tag, a name or a value */

enum cli_constraint_type {
    CLI_AFFINITY,      /* at least one such container in the scope; attributes have the value */
    CLI_ANTI_AFFINITY, /* no such container in the scope; attributes do not have the value */
    CLI_CARDINALITY,   /* min … max such containers in the scope, the new one not counted */
    CLI_AND,
    CLI_OR,
};
enum cli_scope { CLI_SCOPE_NODE, CLI_SCOPE_RACK };

struct cli_node_attribute {
    const char *name;          /* "prefix/name", or "name" with Hadoop's prefix */
    const char *const *values; /* Hadoop's schedulers compare the first one alone */
    size_t n_values;
};

struct cli_constraint {
    enum cli_constraint_type type;
    /* AND, OR: at least one. */
    const struct cli_constraint *children;
    size_t n_children;
    /* The others: at least one tag, attribute or partition. */
    enum cli_scope scope;
    const char *const *tags;
    size_t n_tags;
    /* Applications that have the tags: NULL or "self" = this application's, "not-self", "all",
     * "app-id/application_…", "app-tag/TAG". */
    const char *tag_namespace;
    const struct cli_node_attribute *attributes;
    size_t n_attributes;
    const char *const *partitions; /* node labels, of which Hadoop's schedulers know the first */
    size_t n_partitions;
    int32_t min, max; /* CARDINALITY: 0 <= min <= max; max -1 = without limit */
};

/* -EINVAL: err says which part breaks which rule, as "constraint.children[1].tags: …". */
int cli_constraint_check(const struct cli_constraint *c, struct sv_error *err) _must_use_;

#endif
