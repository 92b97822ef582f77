/* See user-exits.h. */
#include "service/launcher/user-exits.h"

#include "service/framework/status.h"

json_t *svc_lr_user_exits(const struct svc_fw_exits *user)
{
    json_t *list = json_array();
    struct svc_fw_exit_row row;
    size_t cursor = 0;
    int bad = !list;

    while (svc_fw_exit_walk(user, &cursor, &row))
        if (row.exit.code > 0)
            bad |= json_array_append_new(
                list, json_pack("{s:i, s:s, s:s}", "code", row.exit.code, "type",
                                svc_fw_type_text(row.exit.type), "description",
                                row.exit.description ? row.exit.description : ""));
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}
