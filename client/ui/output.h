/* Output of list commands: a table, JSON, YAML, CSV, names, or chosen fields (-o FORMAT). A command
 * builds one JSON object per row; its columns define the table. The keys are an interface: they are
 * added to, never renamed. */
#ifndef SELVEDGE_CLIENT_UI_OUTPUT_H
#define SELVEDGE_CLIENT_UI_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "common/base.h"

enum cli_format { CLI_TABLE, CLI_WIDE, CLI_JSON, CLI_YAML, CLI_CSV, CLI_NAME, CLI_FIELDS };

struct cli_output { /* parsed from the command line */
    enum cli_format format;
    const char *fields; /* CLI_FIELDS: "id,state" */
    bool no_headers, quiet, utc;
    size_t columns; /* that a table may take; 0: those of the terminal that it goes to */
};

/* Formats of a value in a table; null is "-". */
enum cli_kind {
    CLI_TEXT,
    CLI_NUMBER,
    CLI_MIB,
    CLI_BYTES,
    CLI_MILLIS, /* a duration */
    CLI_HOURS,  /* with two decimals */
    CLI_SHARE,  /* 1.0 = 100% */
    CLI_TIME,   /* ms since 1970: "12m ago", with --utc "2026-01-31T12:00:00Z" */
};
enum cli_shown { CLI_ALWAYS, CLI_IF_WIDE, CLI_AS_FIELD }; /* the last: only by its name */

struct cli_column {
    const char *head, *key;
    enum cli_kind kind;
    enum cli_shown shown;
};

struct cli_list {
    const struct cli_column *columns;
    size_t n;
    const char *name; /* the key that identifies a row: -o name, --quiet */
};
#define CLI_LIST(columns, name)                                                                    \
    {                                                                                              \
        (columns), SV_ARRAY_LEN(columns), (name)                                                   \
    }

/* Parses a FORMAT; -EINVAL. Keeps a pointer to `text`. */
int cli_output_parse(const char *text, struct cli_output *ret) _must_use_;
/* Returns the first field that the list lacks, in `buf`; NULL if it has all. */
const char *cli_output_unknown(const struct cli_output *o, const struct cli_list *list, char *buf,
                               size_t size);
/* Prints an array of objects. */
void cli_output_list(const struct cli_output *o, const struct cli_list *list, const json_t *rows,
                     FILE *out);
/* Prints one object, a line a column that it has: head and value, without the marks of a table. */
void cli_output_object(const struct cli_output *o, const struct cli_list *list,
                       const json_t *object, FILE *out);
/* Prints any value as JSON, on one line, or YAML; drops the reference. */
void cli_output_json(const struct cli_output *o, json_t *value, FILE *out);

/* Prints a peer's text with its own line ends, each further line behind `indent` blanks, and
 * without empty ones. Ends with a newline. */
void cli_output_lines(const char *text, int indent, FILE *out);

/* Creates a string from a peer's text: bytes that are not UTF-8 are escaped. */
json_t *cli_json_string(const char *text);
/* Creates a number, or null for negative (unknown) values. */
json_t *cli_json_known(int64_t v);

#endif
