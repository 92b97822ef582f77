/* See json-text.h. */
#include "common/web/json-text.h"

#include "common/str.h"

json_t *sv_json_text(const char *s)
{
    json_t *j = json_string(s ? s : "");
    char shown[4096];

    if (j)
        return j;
    sv_escape(shown, sizeof(shown), s);
    return json_string(shown);
}
