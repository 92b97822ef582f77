/* The ResourceManager's reports as JSON objects, for lists, `status` and `inspect`. */
#ifndef SELVEDGE_CLIENT_VIEWS_OBJECTS_H
#define SELVEDGE_CLIENT_VIEWS_OBJECTS_H

#include <jansson.h>

#include "client/lib/client.h"

json_t *cli_app_object(const struct cli_report *r);
json_t *cli_node_object(const struct cli_node_report *r);
json_t *cli_queue_object(const struct cli_queue_report *q);
json_t *cli_attempt_object(const struct cli_attempt_report *a);

#endif
