/* libFuzzer target: an answer of selvedge-services to a framework's master, or the text of a task's
 * ports behind a '#'. */
#include <stdlib.h>
#include <string.h>

#include "service/am/framework/answer.h"
#include "service/am/framework/ports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ports(const uint8_t *data, size_t size)
{
    char text[256];
    struct svc_ports *p;

    if (size >= sizeof(text) || svc_ports_new(1, 65535, &p) < 0)
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    if (svc_ports_adopt(p, "h", text) == 0)
        svc_ports_give(p, "h", text);
    svc_ports_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct svc_answer answer;

    if (!a)
        return 0;
    if (size > 0 && data[0] == '#') {
        check_ports(data + 1, size - 1);
        return 0;
    }
    if (svc_answer_parse((const char *)data, size, a, &answer, &err) == 0)
        svc_answer_clear(&answer);
    else if (!*err.text)
        abort();
    return 0;
}
