/* libFuzzer target: what `selvedge-gss --check` prints, as `selvedge doctor` reads it. An accepted
 * line is one finding. */
#include <stdlib.h>
#include <string.h>

#include "client/doctor/doctor-gss.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = strndup((const char *)data, size);
    struct doctor d = { 0 };
    unsigned accepted = 0, counted = 0;

    if (!text)
        return 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        accepted += cli_doctor_gss_line(&d, line);
    for (size_t i = 0; i < SV_ARRAY_LEN(d.counts); i++)
        counted += d.counts[i];
    if (accepted != counted)
        abort();
    cli_doctor_findings_free(&d);
    return 0;
}
