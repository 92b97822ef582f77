/* See logs.h. Selects the containers that `selvedge logs` prints, and formats the line above each
 * log and the reason for a missing one. */
#include <errno.h>
#include <string.h>

#include "client/logs/logs.h"
#include "common/str.h"

bool cli_logs_wanted(const struct cli_logs *l, const char *name)
{
    if (l->all || l->name)
        return l->all || strcmp(name, l->name) == 0;
    return strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0 ||
           (l->service && (strcmp(name, "stdout.txt") == 0 || strcmp(name, "stderr.txt") == 0));
}

bool cli_logs_selected(const struct cli_logs *l, const char *container, const struct cli_row *row)
{
    uint64_t instance;

    if (!l->only || strcmp(l->only, container) == 0)
        return true;
    return row && sv_parse_u64(l->only, 0, INT32_MAX, &instance) == 0 &&
           (int)instance == row->instance;
}

void cli_logs_header(const struct cli_logs *l, const struct cli_row *row, const char *container,
                     const char *node, const char *name, char ret[900])
{
    char instance[40] = "", shown[400];

    *ret = 0;
    if (l->only && l->name)
        return;
    if (row && row->instance >= 0 && !l->service) /* a number of the list, no name of theirs */
        (void)snprintf(instance, sizeof(instance), "instance %d, ", row->instance);
    sv_escape(shown, sizeof(shown), name);
    (void)snprintf(ret, 900, "--- %s%.100s on %.260s, %s", instance, container, node, shown);
}

const char *cli_logs_missing_text(int reason)
{
    return reason == -ENOENT ? "has none of them"
           : reason == -EIO  ? "cannot read them now: their disk does not answer, or is bad"
           : reason == -EACCES
               ? "shows them to the job's owner, its VIEW_APP list and administrators alone"
               : "cannot be reached";
}
