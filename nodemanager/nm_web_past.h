/* What containers were, for a while after the ResourceManager wants to hear of them no more: who
 * runs a job asks for exit, peak memory and times after the end, and a daemon that forgets a
 * container within one heartbeat of its end cannot tell. The last 1024 ones, as rendered JSON. */
#ifndef SELVEDGE_NODEMANAGER_NM_WEB_PAST_H
#define SELVEDGE_NODEMANAGER_NM_WEB_PAST_H

#include <jansson.h>

struct nm_web_past;

/* Makes *past when it is NULL; takes the JSON over (NULL does nothing). */
void nm_web_past_add(struct nm_web_past **past, const char *id, json_t *container);
json_t *nm_web_past_find(const struct nm_web_past *past, const char *id); /* new, or NULL */
struct nm_web_past *nm_web_past_free(struct nm_web_past *past);

#endif
