/* YAML text as a tree whose values know their lines. Hostile: the text, bounded in bytes, nodes and
 * depth. Of YAML what a configuration needs: one document of maps, lists and scalars; anchors,
 * aliases and tags are refused, and so is a key that a map has twice. */
#ifndef SELVEDGE_CLIENT_RUN_YAML_TREE_H
#define SELVEDGE_CLIENT_RUN_YAML_TREE_H

#include "common/arena.h"
#include "common/error.h"

#define CLI_YAML_BYTES_MAX ((size_t)1 << 20)
#define CLI_YAML_NODES_MAX 50000
#define CLI_YAML_KEYS_MAX 1000 /* of one map */
#define CLI_YAML_DEPTH_MAX 8

enum cli_yaml_kind { CLI_YAML_SCALAR, CLI_YAML_LIST, CLI_YAML_MAP };

struct cli_yaml {
    enum cli_yaml_kind kind;
    int line;               /* from 1 */
    const char *text;       /* of a scalar, without NUL bytes */
    bool quoted;            /* a scalar that was written as a text, not as a number or a word */
    const char *key;        /* in a map; NULL: an item of a list, or the root */
    struct cli_yaml *first; /* of a map or list */
    struct cli_yaml *next;
};

/* -EBADMSG with `err` "line N: …"; -E2BIG, -ENOMEM. The tree is in the arena. An empty document is
 * an empty map. */
int cli_yaml_parse(const char *text, size_t len, struct sv_arena *a, struct cli_yaml **ret,
                   struct sv_error *err) _must_use_;
/* The value of a map's key; NULL: it has none. */
const struct cli_yaml *cli_yaml_get(const struct cli_yaml *map, const char *key);
size_t cli_yaml_count(const struct cli_yaml *y);

#endif
