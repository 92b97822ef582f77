/* The unit's environment file. */
#include "nodemanager/conf/conf-unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/fd.h"

#define MAX_BYTES 65536
#define SPACE " \t\r"

/* Strips blanks and one pair of quotes, in place. */
static char *plain(char *value)
{
    size_t n;

    value += strspn(value, SPACE);
    for (n = strlen(value); n > 0 && strchr(SPACE, value[n - 1]); n--)
        value[n - 1] = '\0';
    if (n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value) {
        value[n - 1] = '\0';
        value++;
    }
    return value;
}

char *nm_conf_unit_value(const char *file, const char *name)
{
    _cleanup_free_ char *text = NULL;
    const size_t n = strlen(name);
    const char *found = NULL;
    char *next;
    size_t len;

    if (sv_read_file_at(AT_FDCWD, file ? file : UNIT_ENVIRONMENT, MAX_BYTES, &text, &len) < 0)
        return NULL;
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line += strspn(line, SPACE);
        if (strncmp(line, name, n) == 0 && line[n] == '=')
            found = plain(line + n + 1);
    }
    return found ? strdup(found) : NULL;
}

char *nm_conf_unit_dir(const char *file)
{
    const char *env = getenv("HADOOP_CONF_DIR");
    char *dir = env && *env ? NULL : nm_conf_unit_value(file, "HADOOP_CONF_DIR");

    if (dir && *dir == '/')
        return dir;
    free(dir);
    return NULL;
}
