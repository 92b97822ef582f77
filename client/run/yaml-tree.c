/* See yaml-tree.h. */
#include "client/run/yaml-tree.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "common/str.h"

struct builder {
    struct sv_arena *a;
    struct sv_error *err;
    struct cli_yaml *root;
    struct cli_yaml *open[CLI_YAML_DEPTH_MAX]; /* maps and lists that are not closed */
    struct cli_yaml **tail[CLI_YAML_DEPTH_MAX];
    const char *key[CLI_YAML_DEPTH_MAX]; /* of a map, whose value comes next; NULL: a key does */
    size_t depth, nodes;
    bool ended;
};

static int wrong(struct builder *b, const yaml_mark_t *at, const char *what)
{
    return sv_error_set(b->err, -EBADMSG, "line %zu: %s", at->line + 1, what);
}

/* ---- Nodes ---- */

/* Appends a node to what is open. */
static int add(struct builder *b, const yaml_mark_t *at, struct cli_yaml node,
               struct cli_yaml **ret)
{
    struct cli_yaml *y = sv_new(b->a, struct cli_yaml);
    size_t top = b->depth - 1;

    if (!y)
        return sv_error_errno(b->err, -ENOMEM, "YAML");
    if (++b->nodes > CLI_YAML_NODES_MAX)
        return sv_error_set(b->err, -E2BIG, "line %zu: more than %d values", at->line + 1,
                            CLI_YAML_NODES_MAX);
    *y = node;
    y->line = (int)SV_MIN(at->line + 1, (size_t)INT32_MAX);
    if (b->depth == 0) {
        b->root = y;
    } else {
        if (b->open[top]->kind == CLI_YAML_MAP) {
            y->key = b->key[top];
            b->key[top] = NULL;
        }
        *b->tail[top] = y;
        b->tail[top] = &y->next;
    }
    *ret = y;
    return 0;
}

static int open_node(struct builder *b, const yaml_mark_t *at, enum cli_yaml_kind kind)
{
    struct cli_yaml *y;
    int r;

    if (b->depth > 0 && b->open[b->depth - 1]->kind == CLI_YAML_MAP && !b->key[b->depth - 1])
        return wrong(b, at, "a key must be a text");
    if (b->depth == CLI_YAML_DEPTH_MAX)
        return wrong(b, at, "maps and lists in each other, more than 8 deep");
    r = add(b, at, (struct cli_yaml){ .kind = kind }, &y);
    if (r < 0)
        return r;
    b->open[b->depth] = y;
    b->tail[b->depth] = &y->first;
    b->key[b->depth++] = NULL;
    return 0;
}

static int take_scalar(struct builder *b, const yaml_event_t *e)
{
    const yaml_mark_t *at = &e->start_mark;
    const char *value = (const char *)e->data.scalar.value;
    bool quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    size_t top = b->depth - 1;
    char *text;
    struct cli_yaml *y;

    if (memchr(value, '\0', e->data.scalar.length))
        return wrong(b, at, "a text with a NUL byte");
    text = sv_arena_memdup(b->a, value, e->data.scalar.length + 1);
    if (!text)
        return sv_error_errno(b->err, -ENOMEM, "YAML");
    if (b->depth > 0 && b->open[top]->kind == CLI_YAML_MAP && !b->key[top]) {
        if (*text == '\0' || strlen(text) > 255)
            return wrong(b, at, "a key that is empty or longer than 255 bytes");
        if (cli_yaml_count(b->open[top]) == CLI_YAML_KEYS_MAX)
            return wrong(b, at, "more than 1000 keys in a map");
        if (cli_yaml_get(b->open[top], text))
            return sv_error_set(b->err, -EBADMSG, "line %zu: %s: given twice", at->line + 1, text);
        b->key[top] = text;
        return 0;
    }
    return add(b, at, (struct cli_yaml){ .kind = CLI_YAML_SCALAR, .text = text, .quoted = quoted },
               &y);
}

/* ---- Events ---- */

static bool is_marked(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return true;
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor || e->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor || e->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor || e->data.mapping_start.tag;
    default:
        return false;
    }
}

static int take_event(struct builder *b, const yaml_event_t *e)
{
    const yaml_mark_t *at = &e->start_mark;

    if (is_marked(e))
        return wrong(b, at, "anchors (&), aliases (*) and tags (!) are not taken");
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        return b->root ? wrong(b, at, "a second document") : 0;
    case YAML_SCALAR_EVENT:
        return take_scalar(b, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, at, CLI_YAML_LIST);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, at, CLI_YAML_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return 0;
    case YAML_STREAM_END_EVENT:
        b->ended = true;
        return 0;
    default:
        return 0;
    }
}

static int parse_all(struct builder *b, yaml_parser_t *parser)
{
    while (!b->ended) {
        yaml_event_t event;
        int r;

        if (!yaml_parser_parse(parser, &event))
            return sv_error_set(b->err, parser->error == YAML_MEMORY_ERROR ? -ENOMEM : -EBADMSG,
                                "line %zu: %s", parser->problem_mark.line + 1,
                                parser->problem ? parser->problem : "not YAML");
        r = take_event(b, &event);
        yaml_event_delete(&event);
        if (r < 0)
            return r;
    }
    return 0;
}

int cli_yaml_parse(const char *text, size_t len, struct sv_arena *a, struct cli_yaml **ret,
                   struct sv_error *err)
{
    struct builder b = { .a = a, .err = err };
    yaml_parser_t parser;
    int r;

    if (len > CLI_YAML_BYTES_MAX)
        return sv_error_set(err, -E2BIG, "larger than 1 MiB");
    if (!yaml_parser_initialize(&parser))
        return sv_error_errno(err, -ENOMEM, "YAML");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    r = parse_all(&b, &parser);
    yaml_parser_delete(&parser);
    if (r < 0)
        return r;
    if (!b.root) {
        b.root = sv_new(a, struct cli_yaml);
        if (!b.root)
            return sv_error_errno(err, -ENOMEM, "YAML");
        *b.root = (struct cli_yaml){ .kind = CLI_YAML_MAP, .line = 1 };
    }
    *ret = b.root;
    return 0;
}

const struct cli_yaml *cli_yaml_get(const struct cli_yaml *map, const char *key)
{
    for (const struct cli_yaml *y = map->first; y; y = y->next)
        if (y->key && strcmp(y->key, key) == 0)
            return y;
    return NULL;
}

size_t cli_yaml_count(const struct cli_yaml *y)
{
    size_t n = 0;

    for (const struct cli_yaml *i = y->first; i; i = i->next)
        n++;
    return n;
}
