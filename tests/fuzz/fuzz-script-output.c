/* Fuzzes the output of a health script: any bytes, read whole and in two pieces, give one report,
 * which is UTF-8 and there if a line begins with ERROR. */
#include <stdlib.h>
#include <string.h>

#include "nodemanager/health/script-output.h"
#include "wire/depth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static bool has_error(const char *p, size_t n)
{
    for (size_t i = 0; i + 5 <= n; i++)
        if ((i == 0 || p[i - 1] == '\n') && memcmp(p + i, "ERROR", 5) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char whole[NM_SCRIPT_REPORT_MAX], pieces[NM_SCRIPT_REPORT_MAX];
    size_t cut = size ? data[0] % (size + 1) : 0;
    struct nm_script_output o;

    nm_script_output_begin(&o);
    nm_script_output_add(&o, text, size);
    nm_script_output_report(&o, whole);
    MUST(o.failed == has_error(text, size) && (*whole != 0) == o.failed);
    MUST(ipc_text_ok((const uint8_t *)whole, strlen(whole)));
    nm_script_output_begin(&o);
    nm_script_output_add(&o, text, cut);
    nm_script_output_add(&o, text + cut, size - cut);
    nm_script_output_report(&o, pieces);
    MUST(strcmp(whole, pieces) == 0);
    return 0;
}
