/* What REST says of localization. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOCALIZATION_JSON_H
#define SELVEDGE_NODEMANAGER_WEB_LOCALIZATION_JSON_H

#include <jansson.h>

struct nm_localization;

/* The cache, by visibility. */
json_t *nm_web_localization(const struct nm_localization *l);

#endif
