/* Text of users, jobs or the system as JSON strings. Requires jansson. */
#ifndef SELVEDGE_COMMON_WEB_JSON_TEXT_H
#define SELVEDGE_COMMON_WEB_JSON_TEXT_H

#include <jansson.h>

/* NULL becomes "". Bytes that are not UTF-8, for which jansson would reject the whole answer,
 * become \xNN, and the text is then cut at 4095 bytes. Returns NULL when out of memory. */
json_t *sv_json_text(const char *s);

#endif
