/* Usage of a running container, which a node of ours tells a ResourceManager of ours in its
 * heartbeats: an attribute of the container's status, "BYTES PEAK_BYTES MILLICORES". Hostile: the
 * text, for a ResourceManager. */
#ifndef SELVEDGE_WIRE_CONTAINER_USE_H
#define SELVEDGE_WIRE_CONTAINER_USE_H

#include "common/base.h"

#define YARN_USE_KEY "SELVEDGE_USE"
#define YARN_USE_TEXT_MAX 64

struct yarn_use {
    int64_t bytes, peak_bytes; /* memory */
    int64_t millicores;        /* processors in use, between the last two readings */
};
const char *yarn_use_text(const struct yarn_use *use, char ret[static YARN_USE_TEXT_MAX]);
/* -EBADMSG: not three numbers from 0 to 2^53. */
int yarn_use_parse(const char *text, struct yarn_use *ret) _must_use_;

#endif
