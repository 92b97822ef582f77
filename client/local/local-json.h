/* Converts values of D-Bus messages to JSON. Hostile: strings in them, which come from jobs. */
#ifndef SELVEDGE_CLIENT_LOCAL_LOCAL_JSON_H
#define SELVEDGE_CLIENT_LOCAL_LOCAL_JSON_H

#include <jansson.h>
#include <systemd/sd-bus.h>

#include "common/base.h"

/* Converts the next complete value: numbers, booleans, strings, paths; arrays and structs to
 * arrays, dictionaries with text keys to objects, variants to their content. A number above
 * INT64_MAX is clamped to it. -EBADMSG: any other type, or the end of the message. */
int cli_json_of_message(sd_bus_message *m, json_t **ret) _must_use_;

/* Members of an object; 0, false, "" if absent. */
int64_t cli_json_number(const json_t *o, const char *name);
bool cli_json_bool(const json_t *o, const char *name);
const char *cli_json_text(const json_t *o, const char *name);
/* The i-th number of a member that is an array. */
double cli_json_item(const json_t *o, const char *name, size_t i);

#endif
