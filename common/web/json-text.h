/* Text of users, jobs or the system in JSON. Whoever links it links jansson. */
#ifndef SELVEDGE_COMMON_WEB_JSON_TEXT_H
#define SELVEDGE_COMMON_WEB_JSON_TEXT_H

#include <jansson.h>

/* NULL is "". Bytes that are not UTF-8, for which jansson would refuse the whole answer, become
 * \xNN, and the text is then cut at 4095 bytes. NULL: out of memory. */
json_t *sv_json_text(const char *s);

#endif
