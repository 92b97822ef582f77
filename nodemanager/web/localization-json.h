/* Localization in REST. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOCALIZATION_JSON_H
#define SELVEDGE_NODEMANAGER_WEB_LOCALIZATION_JSON_H

#include <jansson.h>

struct nm_container;
struct nm_localization;

/* The cache, by visibility. */
json_t *nm_web_localization(const struct nm_localization *l);
/* The files of one container: their sum, and those being fetched. */
json_t *nm_web_progress(const struct nm_localization *l, const struct nm_container *c);

#endif
