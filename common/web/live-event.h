/* Events of figures that change, as JSON that live.js of this folder shows: {"rows": [[NAME, share
 * from 0 to 1, TEXT], …], "facts": [[ID, TEXT, CLASS], …]} and other members. When out of memory, a
 * figure is missing and comes with the next event. Requires jansson. */
#ifndef SELVEDGE_COMMON_WEB_LIVE_EVENT_H
#define SELVEDGE_COMMON_WEB_LIVE_EVENT_H

#include <jansson.h>

#include "common/web/http-events.h"

struct sv_live { /* private */
    json_t *rows, *facts, *all;
};

void sv_live_begin(struct sv_live *l);
/* A point of a plot of the last minutes. */
void sv_live_row(struct sv_live *l, const char *name, double share, const char *text);
/* The text, and unless it is "" the class, of elements with data-live="ID". */
void sv_live_fact(struct sv_live *l, const char *id, const char *text, const char *class);
/* Another member; takes `value`. */
void sv_live_set(struct sv_live *l, const char *key, json_t *value);
/* Writes the event and frees it. One that is too long has no figures. */
void sv_live_end(struct sv_live *l, char ret[static SV_HTTP_EVENT_MAX]);

#endif
