/* See member-epoch.h. */
#include "federation/store/member-epoch.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int64_t fed_member_epoch(const char *capability)
{
    json_t *all, *epoch;
    int64_t found = -1;

    if (!capability || !strstr(capability, FED_EPOCH_FIELD))
        return -1;
    all = json_loads(capability, JSON_REJECT_DUPLICATES, NULL);
    epoch = json_object_get(json_object_get(all, "clusterMetrics"), FED_EPOCH_FIELD);
    if (json_is_integer(epoch) && json_integer_value(epoch) >= 0)
        found = json_integer_value(epoch);
    json_decref(all);
    return found;
}

int fed_members_with_one_epoch(const struct fed_member *v, size_t n,
                               void (*found)(const struct fed_member *a, const struct fed_member *b,
                                             int64_t epoch, void *userdata),
                               void *userdata)
{
    _cleanup_free_ int64_t *epochs = calloc(n + 1, sizeof(*epochs));

    if (!epochs)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        epochs[i] = fed_state_active(v[i].state) ? fed_member_epoch(v[i].capability) : -1;
    for (size_t b = 1; b < n; b++)
        for (size_t a = 0; epochs[b] >= 0 && a < b; a++)
            if (epochs[a] == epochs[b]) {
                found(&v[a], &v[b], epochs[b], userdata);
                break;
            }
    return 0;
}
