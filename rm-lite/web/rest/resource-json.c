/* See resource-json.h. */
#include "rm-lite/web/rest/resource-json.h"

#include <errno.h>

#include "common/str.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/web/rest/web-body.h"

/* Pointer to the amount of a type, with its unit and bounds; NULL: unknown. */
static int64_t *amount_of(const char *name, struct rm_res *r, const char **ret_unit, int64_t *min,
                          int64_t *ret_max)
{
    int k;

    *ret_unit = "";
    *ret_max = INT32_MAX;
    if (sv_streq(name, "memory-mb")) {
        *ret_unit = "Mi";
        *ret_max = INT64_MAX;
        return &r->mem;
    }
    if (sv_streq(name, "vcores"))
        return &r->vcores;
    *min = 0;
    k = rm_types_index(rm_types(), name);
    return k < 0 ? NULL : &r->extra[k];
}

static int row(const json_t *e, int64_t min, struct rm_res *r, struct sv_error *err)
{
    const char *name = NULL, *units = NULL, *unit;
    char shown[128];
    int64_t *amount, value, max;
    int found;

    if (!json_is_object(e))
        return sv_error_set(err, -EINVAL, "resourceInformation: a row is not an object");
    if (rm_body_text(e, "name", &name, err) < 0 || rm_body_text(e, "units", &units, err) < 0)
        return -EINVAL;
    if (!name)
        return sv_error_set(err, -EINVAL, "resourceInformation: a row has no name");
    sv_escape(shown, sizeof(shown), name);
    amount = amount_of(name, r, &unit, &min, &max);
    if (!amount)
        return sv_error_set(err, -EINVAL,
                            "resource: the cluster has no resource type %s (yarn.resource-types)",
                            shown);
    if (units && *units && !sv_streq(units, unit))
        return sv_error_set(err, -EINVAL, "resource: %s is counted in \"%s\", not in another unit",
                            shown, unit);
    found = rm_body_int(e, "value", min, max, &value, err);
    if (found < 0)
        return sv_error_set(err, -EINVAL, "resource: the value of %s is not a number from %lld on",
                            shown, (long long)min);
    if (found)
        *amount = value;
    return 0;
}

int rm_resource_from_json(const json_t *o, int64_t min, struct rm_res *ret, struct sv_error *err)
{
    struct rm_res r = *ret;
    json_t *box = NULL, *list = NULL;
    int found = rm_body_object(o, "resourceInformations", &box, err);
    size_t n;

    if (found < 0)
        return found;
    list = json_object_get(box, "resourceInformation");
    n = json_is_array(list) ? json_array_size(list) : list && !json_is_null(list) ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        int e = row(json_is_array(list) ? json_array_get(list, i) : list, min, &r, err);

        if (e < 0)
            return e;
    }
    if (rm_body_int(o, "memory", min, INT64_MAX, &r.mem, err) < 0 ||
        rm_body_int(o, "vCores", min, INT32_MAX, &r.vcores, err) < 0)
        return -EINVAL;
    *ret = r;
    return 0;
}
