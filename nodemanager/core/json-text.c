/* See json-text.h. */
#include "nodemanager/core/json-text.h"

#include "common/str.h"

json_t *nm_json_text(const char *s)
{
    json_t *j = json_string(s ? s : "");
    char shown[1024];

    if (j)
        return j;
    sv_escape(shown, sizeof(shown), s);
    return json_string(shown);
}
