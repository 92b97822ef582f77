/* See log-unframe.h. */
#include "client/http/log-unframe.h"

#include <stdlib.h>
#include <string.h>

#define START "Container: container_"

bool cli_log_unframe(const char *body, size_t len, struct cli_log_frame *ret)
{
    static const char length_mark[] = "\nLogLength:", text_mark[] = "\nLogContents:\n";
    const char *text = memmem(body, len, text_mark, sizeof(text_mark) - 1);
    const char *length = memmem(body, len, length_mark, sizeof(length_mark) - 1);

    if (strncmp(body, START, sizeof(START) - 1) != 0 || !text || !length || length > text)
        return false;
    ret->announced = strtoull(length + sizeof(length_mark) - 1, NULL, 10);
    ret->text = text + sizeof(text_mark) - 1;
    ret->len = (size_t)SV_MIN(ret->announced, (uint64_t)(body + len - ret->text));
    return true;
}
