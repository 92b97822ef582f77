/* Localization progress of a container, from selvedge.localization of its node's
 * /ws/v1/node/containers/{id}: for `selvedge ps -o wide` and `selvedge run`. Hostile: the node. */
#ifndef SELVEDGE_CLIENT_VIEWS_LOCALIZING_H
#define SELVEDGE_CLIENT_VIEWS_LOCALIZING_H

#include <jansson.h>
#include <stdio.h>

#include "common/base.h"

#define CLI_LOCALIZING_FILES 16 /* further concurrent downloads are not shown */

struct cli_localizing_part {
    int64_t bytes, total, rate; /* rate: per second; total, rate: -1 = unknown */
};
struct cli_localizing {
    int resources, ready;
    struct cli_localizing_part all;
    size_t n;
    struct {
        char name[256];
        struct cli_localizing_part part;
    } files[CLI_LOCALIZING_FILES]; /* downloads in progress */
};

/* Parses a container's object. NULL: nothing is being fetched, or out of memory. malloc'd. */
struct cli_localizing *cli_localizing_read(const json_t *container);
/* Remaining time; -1 = unknown. */
int64_t cli_localizing_left_ms(const struct cli_localizing_part *p);
/* Adds the sum and the files to a row of `selvedge ps`; `l` NULL: nulls. */
void cli_localizing_put(json_t *row, const struct cli_localizing *l);
/* "12.3 MiB of 1.0 GiB, 3.4 MiB/s, 5 min left" */
#define CLI_LOCALIZING_TEXT_MAX 160
const char *cli_localizing_text(const struct cli_localizing_part *p,
                                char buf[CLI_LOCALIZING_TEXT_MAX]);
/* Prints one line per file. */
void cli_localizing_print(const struct cli_localizing *l, const char *container, FILE *out);
/* Adds the state of another waiting container. */
void cli_localizing_add(struct cli_localizing *sum, const struct cli_localizing *l);

#endif
